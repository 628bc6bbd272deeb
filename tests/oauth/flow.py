"""The steps of an OAuth connect, as an assistant and a person take them through Django's test client."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from django.test import Client

from accounts.models import Space, User

RESOURCE = "http://testserver/mcp"
REDIRECT = "https://assistant.example/callback"


@dataclass
class Assistant:
    """A public client that registered itself, and the person in front of it."""

    user: User
    redirect_uri: str = REDIRECT
    name: str = "Helpful Assistant"
    client_id: str = ""
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    browser: Client = field(default_factory=Client)
    web: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    def __post_init__(self) -> None:
        self.browser.force_login(self.user, backend="allauth.account.auth_backends.AuthenticationBackend")
        if not self.client_id:
            self.client_id = self.register()["client_id"]

    def register(self, **changes: Any) -> dict[str, Any]:
        """Return the answer to a registration."""
        body = {
            "client_name": self.name,
            "redirect_uris": [self.redirect_uri],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }
        response = self.web.post("/oauth/register", json.dumps(body | changes), "application/json")
        assert response.status_code == 201, response.content
        made: dict[str, Any] = response.json()
        return made

    def authorize_url(self, **changes: Any) -> str:
        """Return the address of the consent page; None takes a parameter out."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()
        values: dict[str, Any] = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "scope": "read write propose",
            "state": "st&te",
            "resource": RESOURCE,
        } | changes
        given = {name: value for name, value in values.items() if value is not None}
        return f"/oauth/authorize?{urlencode(given, doseq=True)}"

    def consent(self, space: Space, scopes: list[str], *, tool: str = "assistant", **changes: Any) -> Any:
        """Return the response to the person's yes."""
        form = {"space": space.pk, "scopes": scopes, "tool": tool, "decision": "allow"}
        return self.browser.post(self.authorize_url(**changes), form)

    def code(self, space: Space, scopes: list[str], **options: Any) -> str:
        """Return the authorization code that the person's yes leads to."""
        answer = answer_of(self.consent(space, scopes, **options))
        return answer["code"]

    def token(self, **form: Any) -> Any:
        """Return the response of the token endpoint."""
        return self.web.post("/oauth/token", {"client_id": self.client_id} | form)

    def exchange(self, code: str, **changes: Any) -> Any:
        """Return the response to a code."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
            "resource": RESOURCE,
        } | changes
        return self.token(**{name: value for name, value in form.items() if value is not None})

    def refresh(self, token: str, **changes: Any) -> Any:
        """Return the response to a refresh token."""
        return self.token(grant_type="refresh_token", refresh_token=token, **changes)

    def connect(self, space: Space, scopes: list[str] | None = None, **options: Any) -> dict[str, Any]:
        """Return the tokens of a connection made from end to end."""
        response = self.exchange(self.code(space, scopes or ["read", "write", "propose"], **options))
        assert response.status_code == 200, response.content
        tokens: dict[str, Any] = response.json()
        return tokens


def answer_of(response: Any) -> dict[str, str]:
    """Return the parameters with which a response sends the browser back to the client."""
    assert response.status_code == 302, (response.status_code, re.sub(r"\s+", " ", response.content.decode())[:2000])
    query = parse_qs(urlsplit(response.headers["Location"]).query)
    return {name: values[0] for name, values in query.items()}
