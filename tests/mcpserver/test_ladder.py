"""One test for each rung that a request to /mcp climbs, and for their order."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from mcpserver.protocol import META_CAPABILITIES, META_VERSION, SUPPORTED_VERSIONS
from tests.factories import People
from tests.mcpserver.client import MODERN, Mcp, modern_meta

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.fixture
def mcp(people: People) -> Mcp:
    return Mcp(people.keys["owner"])


def code_of(response: Any) -> tuple[int, int]:
    """Return the status of a refusal and the code in its body."""
    return response.status_code, response.json()["error"]["code"]


@pytest.mark.parametrize("origin", ["https://evil.example", "http://evil.example:8000", "null", "http://[", ""])
def test_origin_of_another_site(mcp: Mcp, origin: str) -> None:
    response = mcp.send(LIST, Origin=origin)

    assert code_of(response) == (403, -32011)


@pytest.mark.parametrize("origin", ["http://localhost:6274", "http://127.0.0.1", "https://[::1]:1"])
def test_origin_of_this_machine(mcp: Mcp, origin: str) -> None:
    assert mcp.send(LIST, Origin=origin).status_code == 200


def test_origin_that_the_operator_allows(mcp: Mcp, settings: Any) -> None:
    settings.MCP_ORIGINS = frozenset({"https://inspector.example"})

    assert mcp.send(LIST, Origin="https://inspector.example").status_code == 200
    assert mcp.send(LIST, Origin="https://inspector.example.evil").status_code == 403


def test_origin_comes_before_the_credential(mcp: Mcp) -> None:
    assert Mcp(None).send(LIST, Origin="https://evil.example").status_code == 403


def test_no_credential(people: People) -> None:
    response = Mcp(None).send(LIST)

    assert code_of(response) == (401, -32010)
    challenge = response.headers["WWW-Authenticate"]
    assert challenge.startswith('Bearer realm="commonplace"')
    assert 'resource_metadata="http://testserver/.well-known/oauth-protected-resource/mcp"' in challenge
    assert 'scope="read write propose"' in challenge
    assert "error=" not in challenge


@pytest.mark.parametrize("key", ["expired", "revoked"])
def test_dead_credential(people: People, key: str) -> None:
    response = Mcp(people.keys[key]).send(LIST)

    assert response.status_code == 401
    assert 'error="invalid_token"' in response.headers["WWW-Authenticate"]


def test_credential_in_its_other_header(people: People) -> None:
    assert Mcp(None).send(LIST, X_API_Key=people.keys["owner"]).status_code == 200


def test_credential_comes_before_the_method(people: People) -> None:
    assert Client().get("/mcp").status_code == 401


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"])
def test_method_other_than_post(people: People, method: str) -> None:
    response = Client().generic(method, "/mcp", headers={"Authorization": f"Bearer {people.keys['owner']}"})

    assert response.status_code == 405
    assert response.headers["Allow"] == "POST"


def test_size(mcp: Mcp, settings: Any) -> None:
    settings.MAX_BODY_BYTES = 100

    assert code_of(mcp.send(b" " * 101)) == (413, -32600)


def test_size_comes_before_the_content_type(mcp: Mcp, settings: Any) -> None:
    settings.MAX_BODY_BYTES = 100

    assert mcp.send(b" " * 101, content_type="text/plain").status_code == 413


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "application/xml"])
def test_content_type(mcp: Mcp, content_type: str) -> None:
    assert code_of(mcp.send(LIST, content_type=content_type)) == (415, -32600)


def test_content_encoding(mcp: Mcp) -> None:
    assert code_of(mcp.send(LIST, Content_Encoding="gzip")) == (415, -32600)


def test_content_type_with_a_charset(mcp: Mcp) -> None:
    assert mcp.send(LIST, content_type="application/json; charset=utf-8").status_code == 200


@pytest.mark.parametrize("accept", ["text/html", "text/event-stream", "image/*"])
def test_accept(mcp: Mcp, accept: str) -> None:
    assert code_of(mcp.send(LIST, Accept=accept)) == (406, -32600)


@pytest.mark.parametrize("accept", ["application/json", "*/*", "application/*;q=0.5", "text/html, Application/JSON"])
def test_accept_that_takes_json(mcp: Mcp, accept: str) -> None:
    assert mcp.send(LIST, Accept=accept).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b" ", b"{", b"nonsense", b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', b"\xff\xfe", b'"\\ud800"',
        b'{"id":Infinity}', b"[" * 100_000, b'{"a":' * 100_000, b"\xef\xbb\xbf{}", b"{}{}",
    ],
)  # fmt: skip
def test_parse_error(mcp: Mcp, body: bytes) -> None:
    response = mcp.send(body)

    assert code_of(response) == (400, -32700)
    assert response.json()["id"] is None


@pytest.mark.parametrize(
    "body",
    [
        [], [LIST], [LIST, LIST], "text", 1, None, True, {}, {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": 1}, {"jsonrpc": "2.0", "id": 1, "method": 7},
        {"jsonrpc": "2.0", "id": None, "method": "ping"}, {"jsonrpc": "2.0", "id": True, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, {"jsonrpc": "2.0", "id": [1], "method": "ping"},
        {"jsonrpc": "2.0", "id": 10**400, "method": "ping"}, {"jsonrpc": "2.0", "id": "x" * 2_000, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "method": None},
    ],
)  # fmt: skip
def test_no_single_request(mcp: Mcp, body: Any) -> None:
    assert code_of(mcp.send(body)) == (400, -32600)


def test_number_of_many_digits_as_id(mcp: Mcp) -> None:
    response = mcp.send(b'{"jsonrpc":"2.0","id":' + b"9" * 20_000 + b',"method":"ping"}')

    assert response.status_code == 400
    assert response.json()["error"]["code"] in {-32600, -32700}


@pytest.mark.parametrize("params", [[], "text", 1, True])
def test_params_that_are_no_object(mcp: Mcp, params: Any) -> None:
    assert code_of(mcp.send(LIST | {"params": params})) == (400, -32602)


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "anything"])
def test_notification(mcp: Mcp, method: str) -> None:
    response = mcp.send({"jsonrpc": "2.0", "method": method})

    assert response.status_code == 202
    assert response.content == b""


@pytest.mark.parametrize("identifier", [0, -1, 2**62, "", "a", "ü", "1"])
def test_id_comes_back_as_it_was(mcp: Mcp, identifier: Any) -> None:
    assert mcp.send(LIST | {"id": identifier}).json()["id"] == identifier


def test_last_of_repeated_keys_counts(mcp: Mcp) -> None:
    response = mcp.send(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"nothing","method":"ping"}')

    assert response.json() == {"jsonrpc": "2.0", "id": 2, "result": {}}


# The modern ladder


def modern(**changes: Any) -> dict[str, Any]:
    """Return a modern tools/list whose `_meta` is changed; None takes a key out."""
    meta = {key: value for key, value in (modern_meta() | changes).items() if value is not None}
    return LIST | {"params": {"_meta": meta}}


HEADERS = {"MCP_Protocol_Version": MODERN, "Mcp_Method": "tools/list"}


def test_modern_request_passes(mcp: Mcp) -> None:
    response = mcp.send(modern(), **HEADERS)

    assert response.status_code == 200
    assert response.json()["result"]["resultType"] == "complete"


@pytest.mark.parametrize("params", [{}, {"_meta": None}, {"_meta": []}, {"_meta": {}}, {"_meta": {"progressToken": 1}}])
def test_meta_is_missing(mcp: Mcp, params: Any) -> None:
    assert code_of(mcp.send(LIST | {"params": params}, **HEADERS)) == (400, -32602)


@pytest.mark.parametrize("key", [META_VERSION, META_CAPABILITIES])
def test_part_of_meta_is_missing(mcp: Mcp, key: str) -> None:
    response = mcp.send(modern(**{key: None}), **HEADERS)

    assert code_of(response) == (400, -32602)
    assert key in response.json()["error"]["message"]


def test_capabilities_that_are_no_object(mcp: Mcp) -> None:
    assert code_of(mcp.send(modern(**{META_CAPABILITIES: 1}), **HEADERS)) == (400, -32602)


@pytest.mark.parametrize(
    "headers",
    [
        {}, {"MCP_Protocol_Version": MODERN}, {"Mcp_Method": "tools/list"},
        HEADERS | {"Mcp_Method": "tools/call"}, HEADERS | {"Mcp_Method": "Tools/List"},
        HEADERS | {"MCP_Protocol_Version": "2025-11-25"}, HEADERS | {"MCP_Protocol_Version": "2099-01-01"},
        HEADERS | {"Mcp_Method": "tools/list, tools/list"},
    ],
)  # fmt: skip
def test_header_mismatch(mcp: Mcp, headers: dict[str, str]) -> None:
    response = mcp.send(modern(), **headers)

    assert code_of(response) == (400, -32020)
    assert response.json()["id"] == 1


@pytest.mark.parametrize("name", [None, "recall", "=?base64?!!!?=", "=?base64?cmVtZW1iZXI?="])
def test_name_mismatch(mcp: Mcp, name: str | None) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    body["params"] = {"name": "remember", "arguments": {}, "_meta": modern_meta()}
    headers = HEADERS | {"Mcp_Method": "tools/call"} | ({"Mcp_Name": name} if name else {})

    assert code_of(mcp.send(body, **headers)) == (400, -32020)


def test_name_in_base64(mcp: Mcp) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    body["params"] = {"name": "größe", "arguments": {}, "_meta": modern_meta()}

    response = mcp.send(body, **HEADERS | {"Mcp_Method": "tools/call", "Mcp_Name": "=?base64?Z3LDtsOfZQ==?="})

    assert code_of(response) == (400, -32602)


@pytest.mark.parametrize("version", ["2099-01-01", "2025-11-25", "", "banana"])
def test_unsupported_version(mcp: Mcp, version: str) -> None:
    response = mcp.send(modern(**{META_VERSION: version}), **HEADERS | {"MCP_Protocol_Version": version})

    assert code_of(response) == (400, -32022)
    assert response.json()["error"]["data"] == {"supported": list(SUPPORTED_VERSIONS), "requested": version}


@pytest.mark.parametrize("method", ["initialize", "ping", "nothing", "subscriptions/listen", "logging/setLevel"])
def test_modern_method_that_is_unknown(mcp: Mcp, method: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": modern_meta()}}

    assert code_of(mcp.send(body, **HEADERS | {"Mcp_Method": method})) == (404, -32601)


@pytest.mark.parametrize("method", ["server/discover", "nothing", "logging/setLevel", "completion/complete"])
def test_handshake_method_that_is_unknown(mcp: Mcp, method: str) -> None:
    assert code_of(mcp.send({"jsonrpc": "2.0", "id": 1, "method": method})) == (200, -32601)


@pytest.mark.parametrize(("era", "status"), [("handshake", 200), ("modern", 400)])
@pytest.mark.parametrize("name", ["nothing", "", "Remember", "x" * 5_000, "__class__"])
def test_unknown_tool(people: People, era: str, status: int, name: str) -> None:
    response = Mcp(people.keys["owner"], era).request("tools/call", {"name": name})

    assert code_of(response) == (status, -32602)


@pytest.mark.parametrize("name", [None, 1, [], {}])
def test_tool_name_that_is_no_string(mcp: Mcp, name: Any) -> None:
    assert mcp.error("tools/call", {"name": name})["code"] == -32602


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list", "resources/templates/list"])
def test_cursor_that_was_never_given_out(people: People, era: str, method: str) -> None:
    assert Mcp(people.keys["owner"], era).error(method, {"cursor": "abc"})["code"] == -32602


def test_rate_limit(people: People, settings: Any) -> None:
    settings.RATE_LIMIT_PER_MINUTE, settings.RATE_LIMIT_BURST = 1, 2
    mcp = Mcp(people.keys["tool"])

    passed = [mcp.send(LIST) for _ in range(2)]
    refused = mcp.send(LIST)

    assert [response.status_code for response in passed] == [200, 200]
    assert "RateLimit" in passed[0].headers
    assert code_of(refused) == (429, -32012)
    assert int(refused.headers["Retry-After"]) >= 1


def test_single_post_without_any_header_of_the_protocol(people: People) -> None:
    """The raw protocol check of the specification's page."""
    body = json.dumps(LIST).encode()
    headers = {"Authorization": f"Bearer {people.keys['owner']}", "Accept": "application/json, text/event-stream"}

    response = Client().generic("POST", "/mcp", body, "application/json", headers=headers)

    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/json"
    assert "Mcp-Session-Id" not in response.headers
    assert "tools" in response.json()["result"]
