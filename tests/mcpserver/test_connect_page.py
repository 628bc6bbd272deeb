"""/connect: what to paste into each client, and that it works."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest
from django.test import Client

from mcpserver.rows import ROWS
from mcpserver.snippets import key_snippets, snippets
from tests.factories import People

BASE = "https://memory.example.com"
CLIENTS = [
    "Claude Code",
    "Claude Desktop",
    "claude.ai",
    "ChatGPT",
    "Cursor",
    "VS Code",
    "Codex CLI",
    "Gemini CLI",
    "curl",
]


def test_every_client_has_a_snippet_with_this_server_s_address() -> None:
    made = snippets(BASE)

    assert [snippet.client for snippet in made] == CLIENTS
    for snippet in [*made, *key_snippets(BASE)]:
        assert f"{BASE}/mcp" in snippet.text
        assert snippet.place


def test_files_are_json() -> None:
    for snippet in [*snippets(BASE), *key_snippets(BASE)]:
        if snippet.way == "file":
            json.loads(snippet.text)


@pytest.mark.django_db
def test_page(client: Client) -> None:
    text = client.get("/connect").content.decode()

    for name in CLIENTS:
        assert name in text
    assert "http://testserver/mcp" in text
    assert "<script>" not in text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("http://localhost:8000", True),
        ("http://127.0.0.1:8000", True),
        ("http://[::1]:8000", True),
        ("http://192.168.1.7", True),
        ("http://nas.local", True),
        ("http://nas", True),
        ("https://memory.example.com", False),
        ("https://8.8.8.8", False),
    ],
)
def test_page_says_which_assistants_do_not_reach_a_local_address(
    client: Client, settings: Any, address: str, local: bool
) -> None:
    settings.PUBLIC_URL_GIVEN, settings.PUBLIC_URL = True, address

    text = client.get("/connect").content.decode()

    for name in ["Claude Desktop", "claude.ai", "ChatGPT"]:
        assert (f"{name} calls from its maker’s servers" in text) is local
    assert text.count("calls from its maker’s servers") == (3 if local else 0)


@pytest.mark.django_db
def test_page_names_the_address_that_the_operator_gave(client: Client, settings: Any) -> None:
    settings.PUBLIC_URL_GIVEN, settings.PUBLIC_URL = True, BASE

    text = client.get("/connect").content.decode()

    assert f"{BASE}/mcp" in text
    assert "testserver" not in text


@pytest.mark.django_db(transaction=True)
def test_curl_command_pasted_works_without_initialize(live_server: Any, people: People) -> None:
    (curl,) = [snippet for snippet in snippets(live_server.url) if snippet.slug == "curl"]

    environment = os.environ | {"OPENMEMORY_KEY": people.keys["owner"]}
    done = subprocess.run(["bash", "-c", curl.text], env=environment, capture_output=True, text=True, check=True)

    answer = json.loads(done.stdout)
    assert [tool["name"] for tool in answer["result"]["tools"]] == [tool.name for tool in ROWS]
