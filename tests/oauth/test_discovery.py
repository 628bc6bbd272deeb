"""The metadata documents, and registration."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from oauth2_provider.models import Application

from tests.factories import People

RESOURCE_PATHS = ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]
SERVER_PATHS = ["/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/mcp"]
REDIRECT = "https://assistant.example/callback"


@pytest.mark.parametrize("path", RESOURCE_PATHS)
def test_resource_metadata(client: Client, path: str) -> None:
    response = client.get(path, headers={"Origin": "https://inspector.example"})

    body = response.json()
    assert body["resource"] == "http://testserver/mcp"
    assert body["authorization_servers"] == ["http://testserver"]
    assert body["scopes_supported"] == ["read", "write", "propose"]
    assert body["bearer_methods_supported"] == ["header"]
    assert response.headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize("path", SERVER_PATHS)
def test_server_metadata(client: Client, path: str) -> None:
    body = client.get(path).json()

    assert body["issuer"] == "http://testserver"
    assert body["authorization_endpoint"] == "http://testserver/oauth/authorize"
    assert body["token_endpoint"] == "http://testserver/oauth/token"
    assert body["registration_endpoint"] == "http://testserver/oauth/register"
    assert body["revocation_endpoint"] == "http://testserver/oauth/revoke"
    assert body["response_types_supported"] == ["code"]
    assert body["grant_types_supported"] == ["authorization_code", "refresh_token"]
    assert body["code_challenge_methods_supported"] == ["S256"]
    assert body["authorization_response_iss_parameter_supported"] is True
    assert body["client_id_metadata_document_supported"] is True


def test_given_address_is_the_issuer_whatever_the_request_says(client: Client, settings: Any) -> None:
    settings.PUBLIC_URL_GIVEN, settings.PUBLIC_URL = True, "https://memory.example.com"

    assert client.get(RESOURCE_PATHS[0]).json()["resource"] == "https://memory.example.com/mcp"
    assert client.get(SERVER_PATHS[0]).json()["issuer"] == "https://memory.example.com"


def register(body: Any) -> Any:
    """Return the response to a registration."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Client(raise_request_exception=False).generic("POST", "/oauth/register", data, "application/json")


@pytest.mark.django_db
def test_public_client() -> None:
    body = {"redirect_uris": [REDIRECT], "client_name": "Helper", "token_endpoint_auth_method": "none"}
    response = register(
        body
        | {
            "scope": "read",
            "logo_uri": "https://x.example/a.png",
            "grant_types": ["refresh_token", "authorization_code"],
        }
    )

    made = response.json()
    assert response.status_code == 201
    assert "client_secret" not in made
    assert made["redirect_uris"] == [REDIRECT]
    assert made["token_endpoint_auth_method"] == "none"
    assert Application.objects.get(client_id=made["client_id"]).client_type == "public"


@pytest.mark.django_db
def test_confidential_client_gets_a_secret_that_is_stored_hashed() -> None:
    made = register({"redirect_uris": [REDIRECT]}).json()

    stored = Application.objects.get(client_id=made["client_id"]).client_secret
    assert len(made["client_secret"]) >= 43
    assert made["client_secret"] not in stored
    assert stored.startswith("argon2")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "uri",
    [
        "http://localhost:3000/callback", "http://127.0.0.1/callback", "http://[::1]:9/x", "https://claude.ai/api/cb",
        "cursor://anysphere.cursor-mcp/oauth/callback", "vscode://vscode.dev/redirect",
    ],
)  # fmt: skip
def test_redirect_that_can_be_registered(uri: str) -> None:
    assert register({"redirect_uris": [uri]}).status_code == 201


@pytest.mark.django_db
@pytest.mark.parametrize(
    "uri",
    [
        "http://example.com/callback", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://",
        "https://user@example.com/", "https://example.com/#part", "https://example.com/a b", "callback", "",
        "http://localhost.example.com/", "https://example.com\\@evil.example/", "unknown://host/", "https://[",
    ],
)  # fmt: skip
def test_redirect_that_cannot_be_registered(uri: str) -> None:
    response = register({"redirect_uris": [uri]})

    assert response.status_code == 400
    assert response.json()["error"] == "invalid_redirect_uri"
    assert not Application.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "body",
    [
        b"", b"nonsense", b"[]", b"\xff", b"{" * 5_000, {}, {"redirect_uris": []}, {"redirect_uris": "https://a.example/"},
        {"redirect_uris": [1]}, {"redirect_uris": [REDIRECT] * 21}, {"redirect_uris": [REDIRECT], "client_name": 7},
        {"redirect_uris": [REDIRECT], "client_name": "\x00"}, {"redirect_uris": [REDIRECT], "client_name": "x" * 256},
        {"redirect_uris": [REDIRECT], "grant_types": ["client_credentials"]},
        {"redirect_uris": [REDIRECT], "grant_types": "authorization_code"},
        {"redirect_uris": [REDIRECT], "response_types": ["token"]},
        {"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "private_key_jwt"},
        b'{"redirect_uris": ["https://a.example/"], "client_name": "\\ud800"}',
    ],
)  # fmt: skip
def test_registration_that_is_refused(body: Any) -> None:
    response = register(body)

    assert response.status_code == 400 or (body == b"" and response.status_code == 415)
    assert response.json()["error"] in {"invalid_client_metadata", "invalid_redirect_uri"}
    assert not Application.objects.exists()


@pytest.mark.django_db
def test_registration_of_megabytes_is_refused() -> None:
    assert register({"redirect_uris": [REDIRECT], "client_name": "x" * 100_000}).status_code == 413


@pytest.mark.django_db
def test_registration_is_limited_by_address(settings: Any) -> None:
    settings.RATE_LIMIT_ON, settings.OAUTH_REGISTRATIONS_PER_MINUTE = True, 2
    client = Client(REMOTE_ADDR="203.0.113.7")
    body = json.dumps({"redirect_uris": [REDIRECT]})

    statuses = [client.post("/oauth/register", body, "application/json").status_code for _ in range(3)]
    elsewhere = Client(REMOTE_ADDR="203.0.113.8").post("/oauth/register", body, "application/json")

    assert statuses == [201, 201, 429]
    assert elsewhere.status_code == 201


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"%ZZ=%00", "application/x-www-form-urlencoded"), (b"\xff\xfe", "application/x-www-form-urlencoded"),
        (b"grant_type=authorization_code&code=%00", "application/x-www-form-urlencoded"),
        (b"grant_type=refresh_token&refresh_token=" + b"x" * 60_000, "application/x-www-form-urlencoded"),
        (b"grant_type=refresh_token&client_id=" + b"x" * 1_000, "application/x-www-form-urlencoded"),
        (b'{"grant_type":"refresh_token"}', "application/json"), (b"--x", "multipart/form-data; boundary=x"),
        (b"x", "multipart/form-data"), (b"a=1&" * 2_000, "application/x-www-form-urlencoded"),
        (b"x" * 70_000, "application/x-www-form-urlencoded"),
    ],
)  # fmt: skip
def test_damaged_form_never_fails_the_server(path: str, body: bytes, content_type: str) -> None:
    response = Client(raise_request_exception=False).generic("POST", path, body, content_type)

    assert 400 <= response.status_code < 500


@pytest.mark.django_db
@pytest.mark.parametrize(
    "header", ["Basic AAA", "Basic !!!", "Basic eA==", "Basic AAA6AAA=", "Basic /////w==", "Bearer x"]
)
def test_damaged_client_authentication_never_fails_the_server(header: str) -> None:
    form = {"grant_type": "authorization_code", "code": "x", "redirect_uri": REDIRECT}

    response = Client(raise_request_exception=False).post("/oauth/token", form, headers={"Authorization": header})

    assert 400 <= response.status_code < 500


def test_documents_take_no_other_method(people: People) -> None:
    for path in [*RESOURCE_PATHS, *SERVER_PATHS]:
        assert Client().post(path).status_code == 405
