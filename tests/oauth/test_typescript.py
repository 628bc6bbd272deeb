"""The TypeScript clients' own OAuth, as hosts that are built on them connect: from a bare 401 to a refreshed token."""

from __future__ import annotations

import json
import subprocess
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from grants.models import Grant
from tests.factories import People
from tests.mcpserver.tooling import NODE, TYPESCRIPT, node_install

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.mark.parametrize("generation", ["1", "2"])
def test_connect(live_server: Any, people: People, generation: str) -> None:
    node_install()
    browser = Client()
    browser.force_login(people.owner, backend="allauth.account.auth_backends.AuthenticationBackend")
    command = [str(NODE), "oauth.mjs", f"{live_server.url}/mcp", generation]

    with subprocess.Popen(command, cwd=TYPESCRIPT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked = json.loads(process.stdout.readline())
        address = urlsplit(asked["address"])
        form = {"space": people.space.pk, "scopes": ["read", "write"], "tool": "typescript", "decision": "allow"}
        answer = browser.post(
            f"{address.path}?{address.query}", form, headers={"Host": urlsplit(live_server.url).netloc}
        )
        assert answer.status_code == 302, answer.content.decode()[:2_000]
        process.stdin.write(answer.headers["Location"] + "\n")
        process.stdin.flush()
        seen = json.loads(process.stdout.readline() or "null")
        process.wait(30)

    assert asked["refused"] == "UnauthorizedError"
    assert "remember" in seen["tools"]
    assert "action_propose" not in seen["tools"]
    assert seen["called"] is True
    assert seen["scope"] == "read write"
    assert seen["renewed"] is True
    assert Grant.objects.get().tool == "typescript"
