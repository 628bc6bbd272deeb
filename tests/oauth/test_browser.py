"""A whole connect with the official client and a real browser, from a bare 401 to a token that is refused."""

from __future__ import annotations

import asyncio
import json
import shutil
from typing import Any

import httpx2
import pytest
from allauth.account.models import EmailAddress
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from playwright.async_api import async_playwright
from pydantic import AnyUrl

from accounts.models import Space
from accounts.services import space_create
from grants.models import Grant
from tests.coroutines import in_thread
from tests.factories import user_create
from tests.oauth.callback import Callback, callback_server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

EMAIL, PASSWORD = "olga@example.com", "a long and quiet river"


class Storage:
    """Keeps the client's tokens in memory, as the client asks its embedder to."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@pytest.fixture
def chromium() -> str:
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("chromium is not installed; on Debian, apt-get install chromium brings it")
    return path


@pytest.fixture
def spaces() -> tuple[Space, Space]:
    """Give the two spaces of a person who can sign in."""
    user = user_create(EMAIL, PASSWORD)
    EmailAddress.objects.create(user=user, email=EMAIL, verified=True, primary=True)
    return space_create(owner=user, name="Home"), space_create(owner=user, name="Office")


async def person(chromium: str, url: str, seen: list[str]) -> None:
    """Do what a person does: sign in, read who asks, choose the office and no writing, allow."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = await browser.new_page()
        page.on("console", lambda message: seen.append(f"{message.type}: {message.text}"))
        await page.goto(url)
        await page.fill("input[name=login]", EMAIL)
        await page.fill("input[name=password]", PASSWORD)
        await page.click("main form button[type=submit], main form button:not([type])")
        await page.wait_for_selector("form.consent")
        seen.append(await page.inner_text("main"))
        await page.select_option("select[name=space]", label="Office")
        await page.uncheck("input[name=scopes][value=write]")
        await page.fill("input[name=tool]", "desk-helper")
        await page.click("button[value=allow]")
        await page.wait_for_url("http://127.0.0.1:*/callback*")
        seen.append(await page.title())
        await browser.close()


async def connect(url: str, chromium: str, callback: Callback) -> dict[str, Any]:
    """Return what the client and the person saw."""
    storage, seen = Storage(), []

    async def redirect(address: str) -> None:
        await person(chromium, address, seen)

    async def come_back() -> AuthorizationCodeResult:
        query = await asyncio.to_thread(callback.wait)
        return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))

    metadata = OAuthClientMetadata(
        redirect_uris=[AnyUrl(callback.uri)], client_name="Desk Helper", token_endpoint_auth_method="none"
    )
    provider = OAuthClientProvider(url, metadata, storage, redirect, come_back)
    async with (
        httpx2.AsyncClient(auth=provider, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        tools = [tool.name for tool in (await client.list_tools()).tools]
        first = storage.tokens
        provider.context.token_expiry_time = 1.0  # long ago
        answer = await client.call_tool("recall", {"q": "tea"})
    return {
        "tools": tools,
        "answer": answer,
        "first": first,
        "second": storage.tokens,
        "client": storage.client,
        "seen": seen,
    }


def test_connect_in_a_browser(live_server: Any, spaces: tuple[Space, Space], chromium: str) -> None:
    url = f"{live_server.url}/mcp"

    with callback_server() as callback:
        saw = in_thread(connect(url, chromium, callback))

    page, title = [text for text in saw["seen"] if not text.startswith(("log:", "info:"))][-2:]
    assert "Desk Helper" in page
    assert "an application on this computer" in page
    assert title == "Connected"
    assert not [text for text in saw["seen"] if "Content Security Policy" in text]
    assert set(callback.query) == {"code", "state", "iss"}
    assert "recall" in saw["tools"]
    assert "action_propose" in saw["tools"]
    assert "remember" not in saw["tools"]
    assert json.loads(saw["answer"].content[0].text)["memories"] == []
    assert saw["first"].access_token != saw["second"].access_token
    assert saw["first"].refresh_token != saw["second"].refresh_token

    grant = Grant.objects.get()
    assert (grant.space, grant.tool, grant.scopes) == (spaces[1], "desk-helper", ["propose", "read"])

    form = {"client_id": saw["client"].client_id, "token": saw["second"].refresh_token}
    headers = {"Authorization": f"Bearer {saw['second'].access_token}", "Accept": "application/json"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    with httpx2.Client() as http:
        assert http.post(url, json=message, headers=headers).status_code == 200
        assert http.post(f"{live_server.url}/oauth/revoke", data=form).status_code == 200
        assert http.post(url, json=message, headers=headers).status_code == 401
        again = {"grant_type": "refresh_token", "refresh_token": saw["second"].refresh_token}
        assert http.post(f"{live_server.url}/oauth/token", data=form | again).json()["error"] == "invalid_grant"
