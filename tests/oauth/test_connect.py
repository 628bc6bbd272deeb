"""Connecting an assistant: consent, code, tokens, calls, refresh, revocation."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from oauth2_provider.models import AccessToken, RefreshToken
from oauth2_provider.models import Grant as Code

from accounts.models import Membership, Plan
from config.valkey import client
from events.models import Event
from grants.models import Grant
from grants.services import grant_list, grant_revoke
from tests.factories import People, member_create
from tests.mcpserver.client import Mcp
from tests.oauth.flow import RESOURCE, Assistant, answer_of


def status_of(token: str) -> int:
    """Return the status of a call with a token."""
    response: Any = Mcp(token).request("tools/list")
    return int(response.status_code)


def test_connect_call_refresh_revoke(people: People, assistant: Assistant) -> None:
    tokens = assistant.connect(people.space)

    assert tokens["token_type"] == "Bearer"
    assert tokens["scope"] == "read write propose"
    assert tokens["expires_in"] == 3600
    assert status_of(tokens["access_token"]) == 200

    renewed = assistant.refresh(tokens["refresh_token"]).json()
    assert status_of(renewed["access_token"]) == 200
    assert status_of(tokens["access_token"]) == 401

    revoked = assistant.web.post("/oauth/revoke", {"client_id": assistant.client_id, "token": renewed["refresh_token"]})
    assert revoked.status_code == 200
    assert status_of(renewed["access_token"]) == 401
    assert assistant.refresh(renewed["refresh_token"]).json()["error"] == "invalid_grant"


def test_plan_of_the_space_limits_an_assistant_too(people: People, assistant: Assistant, settings: Any) -> None:
    settings.QUOTAS_ON = True
    for key in client().scan_iter("rate:*"):
        client().delete(key)
    token = assistant.connect(people.space)["access_token"]
    people.space.plan = Plan.objects.create(name="Slow", requests_per_minute=2)
    people.space.save()

    assert [status_of(token) for _ in range(3)] == [200, 200, 429]


def test_answer_carries_state_and_issuer(people: People, assistant: Assistant) -> None:
    answer = answer_of(assistant.consent(people.space, ["read"]))

    assert answer["state"] == "st&te"
    assert answer["iss"] == "http://testserver"
    assert set(answer) == {"code", "state", "iss"}


def test_consent_page_names_the_tool_and_offers_the_person_s_spaces(people: People, assistant: Assistant) -> None:
    page = assistant.browser.get(assistant.authorize_url())

    text = page.content.decode()
    assert page.status_code == 200
    assert "Helpful Assistant" in text
    assert "assistant.example" in text
    assert people.space.name in text
    assert people.other.name not in text
    assert 'value="read"' in text
    assert 'value="write"' in text
    assert 'value="propose"' in text
    assert "decide" not in text
    assert 'value="helpful-assistant"' in text
    assert "form-action 'self' https://assistant.example" in page.headers["Content-Security-Policy"]
    assert page.headers["X-Frame-Options"] == "DENY"


def test_consent_page_shows_only_what_is_asked(people: People, assistant: Assistant) -> None:
    text = assistant.browser.get(assistant.authorize_url(scope="read offline_access openid")).content.decode()

    assert 'value="read"' in text
    assert 'value="write"' not in text


def test_name_of_the_tool_is_escaped(people: People) -> None:
    assistant = Assistant(people.owner, name="<script>alert(1)</script>")

    text = assistant.browser.get(assistant.authorize_url()).content.decode()

    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_stranger_signs_in_first(people: People, assistant: Assistant) -> None:
    response = assistant.web.get(assistant.authorize_url())

    assert response.status_code == 302
    assert response.headers["Location"].startswith("/accounts/login/?next=/oauth/authorize")


def test_person_refuses(people: People, assistant: Assistant) -> None:
    answer = answer_of(assistant.browser.post(assistant.authorize_url(), {"decision": "refuse"}))

    assert answer["error"] == "access_denied"
    assert answer["state"] == "st&te"
    assert answer["iss"] == "http://testserver"
    assert not Grant.objects.exists()


def test_person_gives_less_than_is_asked(people: People, assistant: Assistant) -> None:
    tokens = assistant.connect(people.space, ["read"])

    assert tokens["scope"] == "read"
    assert Grant.objects.get().scopes == ["read"]


@pytest.mark.parametrize("scopes", [[], ["decide"], ["actions:decide"], ["read", "admin"]])
def test_person_cannot_give_what_is_not_offered(people: People, assistant: Assistant, scopes: list[str]) -> None:
    response = assistant.consent(people.space, scopes)

    assert response.status_code == 400
    assert not Grant.objects.exists()


def test_person_cannot_give_more_than_is_asked(people: People, assistant: Assistant) -> None:
    assert assistant.consent(people.space, ["read", "write"], scope="read").status_code == 400


def test_person_cannot_give_a_space_of_others(people: People, assistant: Assistant) -> None:
    assert assistant.consent(people.other, ["read"]).status_code == 400
    assert not Grant.objects.exists()


@pytest.mark.parametrize("tool", ["", " ", "\u200b", "x" * 101])
def test_name_to_write_under_is_needed(people: People, assistant: Assistant, tool: str) -> None:
    assert assistant.consent(people.space, ["read"], tool=tool).status_code == 400


def test_consent_needs_the_form_s_token(people: People, assistant: Assistant) -> None:
    assistant.browser.handler.enforce_csrf_checks = True

    assert assistant.consent(people.space, ["read"]).status_code == 403


# What is refused before anybody is asked


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "unknown"}, {"client_id": None}, {"client_id": "x" * 300}, {"client_id": "a\x00b"},
        {"redirect_uri": "https://evil.example/callback"}, {"redirect_uri": "https://assistant.example/callback/x"},
        {"redirect_uri": "http://assistant.example/callback"}, {"redirect_uri": "javascript:alert(1)"},
        {"redirect_uri": "https://assistant.example@evil.example/callback"}, {"state": "\x00"},
    ],
)  # fmt: skip
def test_request_that_nobody_is_sent_back_for(people: People, assistant: Assistant, changes: dict[str, Any]) -> None:
    response = assistant.browser.get(assistant.authorize_url(**changes))

    assert response.status_code == 400
    assert "Location" not in response.headers


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"resource": None}, "invalid_target"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": "http://testserver/"}, "invalid_target"),
        ({"resource": "http://testserver/mcp/other"}, "invalid_target"),
        ({"resource": "http://testserver/mcp#part"}, "invalid_target"),
        ({"resource": [RESOURCE, "https://other.example/mcp"]}, "invalid_target"),
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "S512"}, "invalid_request"),
        ({"response_type": "token"}, "unauthorized_client"),
        ({"response_type": "id_token"}, "unsupported_response_type"),
        ({"scope": "decide"}, "invalid_scope"),
    ],
)
def test_request_that_is_sent_back(people: People, assistant: Assistant, changes: dict[str, Any], error: str) -> None:
    response = assistant.browser.get(assistant.authorize_url(**changes))

    answer = answer_of(response)
    assert answer["error"] == error
    assert answer["state"] == "st&te"
    assert answer["iss"] == "http://testserver"


@pytest.mark.parametrize("resource", ["HTTP://TESTSERVER/mcp", "http://testserver/mcp/", "http://testserver:80/mcp"])
def test_other_spellings_of_the_resource(people: People, assistant: Assistant, resource: str) -> None:
    code = assistant.code(people.space, ["read"], resource=resource)

    tokens = assistant.exchange(code, resource=resource).json()

    assert status_of(tokens["access_token"]) == 200


def test_scope_left_out_means_read(people: People, assistant: Assistant) -> None:
    assert assistant.connect(people.space, ["read"], scope=None)["scope"] == "read"


# Codes


def test_code_works_once_and_its_second_use_ends_the_grant(people: People, assistant: Assistant) -> None:
    code = assistant.code(people.space, ["read"])
    tokens = assistant.exchange(code).json()

    again = assistant.exchange(code)

    assert again.json()["error"] == "invalid_grant"
    assert status_of(tokens["access_token"]) == 401
    assert Grant.objects.get().revoked_at is not None


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": "x" * 64}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"redirect_uri": "https://assistant.example/other"}, "invalid_request"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"client_id": "unknown"}, "invalid_client"),
        ({"code": "guess"}, "invalid_grant"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"grant_type": "urn:ietf:params:oauth:grant-type:device_code"}, "unsupported_grant_type"),
        ({"grant_type": None}, "unsupported_grant_type"),
        ({"code": "\x00"}, "invalid_request"),
    ],
)
def test_exchange_that_is_refused(people: People, assistant: Assistant, changes: dict[str, Any], error: str) -> None:
    code = assistant.code(people.space, ["read"])

    response = assistant.exchange(**{"code": code} | changes)

    assert 400 <= response.status_code < 500
    assert response.json()["error"] == error
    assert not AccessToken.objects.exists()


def test_resource_left_out_at_the_token_endpoint_is_that_of_the_code(people: People, assistant: Assistant) -> None:
    tokens = assistant.exchange(assistant.code(people.space, ["read"]), resource=None).json()

    assert AccessToken.objects.get().resource == [RESOURCE]
    assert status_of(tokens["access_token"]) == 200


def test_code_lapses(people: People, assistant: Assistant) -> None:
    code = assistant.code(people.space, ["read"])
    Code.objects.update(expires=timezone.now() - timedelta(seconds=1))

    assert assistant.exchange(code).json()["error"] == "invalid_grant"


def test_code_is_for_its_client_only(people: People, assistant: Assistant) -> None:
    code = assistant.code(people.space, ["read"])
    thief = Assistant(people.outsider, verifier=assistant.verifier)

    assert thief.exchange(code).json()["error"] == "invalid_grant"


# Tokens


def test_nothing_that_opens_anything_is_stored(people: People, assistant: Assistant) -> None:
    code = assistant.code(people.space, ["read"])
    assert Code.objects.get().code != code
    tokens = assistant.exchange(code).json()

    assert AccessToken.objects.get().token == ""
    assert RefreshToken.objects.get().token == ""
    assert tokens["access_token"] not in AccessToken.objects.get().token_checksum


@pytest.mark.parametrize("resource", [[], ["https://other.example/mcp"], ["http://testserver"]])
def test_token_without_this_resource_is_refused(people: People, assistant: Assistant, resource: list[str]) -> None:
    tokens = assistant.connect(people.space)

    AccessToken.objects.update(resource=resource)

    assert status_of(tokens["access_token"]) == 401


def test_token_lapses(people: People, assistant: Assistant) -> None:
    tokens = assistant.connect(people.space)

    AccessToken.objects.update(expires=timezone.now() - timedelta(hours=1))

    assert status_of(tokens["access_token"]) == 401


def test_token_opens_nothing_but_mcp(people: People, assistant: Assistant) -> None:
    tokens = assistant.connect(people.space)

    response = assistant.web.get("/v1/memories", headers={"Authorization": f"Bearer {tokens['access_token']}"})

    assert response.status_code == 401


def test_token_ends_with_the_membership(people: People) -> None:
    assistant = Assistant(member_create(people.space, "helper@example.com"))
    tokens = assistant.connect(people.space)

    Membership.objects.filter(user=assistant.user).delete()

    assert status_of(tokens["access_token"]) == 401


def test_token_ends_with_the_account(people: People, assistant: Assistant) -> None:
    tokens = assistant.connect(people.space)

    people.owner.is_active = False
    people.owner.save()

    assert status_of(tokens["access_token"]) == 401
    assert assistant.refresh(tokens["refresh_token"]).status_code == 400


def test_refresh_token_works_once_and_its_second_use_ends_the_grant(people: People, assistant: Assistant) -> None:
    tokens = assistant.connect(people.space)
    renewed = assistant.refresh(tokens["refresh_token"]).json()

    again = assistant.refresh(tokens["refresh_token"])

    assert again.json()["error"] == "invalid_grant"
    assert status_of(renewed["access_token"]) == 401
    assert assistant.refresh(renewed["refresh_token"]).json()["error"] == "invalid_grant"
    assert Grant.objects.get().revoked_at is not None


def test_refresh_keeps_scope_and_resource(people: People, assistant: Assistant) -> None:
    tokens = assistant.connect(people.space, ["read"])

    renewed = assistant.refresh(tokens["refresh_token"]).json()

    assert renewed["scope"] == "read"
    assert AccessToken.objects.get().resource == [RESOURCE]


@pytest.mark.parametrize(
    ("changes", "error"),
    [({"scope": "read write"}, "invalid_scope"), ({"resource": "https://other.example/mcp"}, "invalid_target")],
)
def test_refresh_for_more_is_refused(people: People, assistant: Assistant, changes: dict[str, Any], error: str) -> None:
    tokens = assistant.connect(people.space, ["read"])

    assert assistant.refresh(tokens["refresh_token"], **changes).json()["error"] == error


def test_refresh_token_is_for_its_client_only(people: People, assistant: Assistant) -> None:
    tokens = assistant.connect(people.space)
    thief = Assistant(people.outsider)

    assert thief.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert thief.web.post("/oauth/revoke", {"client_id": thief.client_id, "token": tokens["access_token"]})
    assert status_of(tokens["access_token"]) == 200


def test_unused_refresh_token_lapses(people: People, assistant: Assistant) -> None:
    tokens = assistant.connect(people.space)

    AccessToken.objects.update(expires=timezone.now() - timedelta(days=91))

    assert assistant.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
@pytest.mark.parametrize("hint", ["access_token", "refresh_token", "nonsense", None])
def test_revocation_of_either_token_ends_the_grant(
    people: People, assistant: Assistant, kind: str, hint: str | None
) -> None:
    tokens = assistant.connect(people.space)
    form = {"client_id": assistant.client_id, "token": tokens[kind]} | ({"token_type_hint": hint} if hint else {})

    assert assistant.web.post("/oauth/revoke", form).status_code == 200

    assert status_of(tokens["access_token"]) == 401
    assert assistant.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert Grant.objects.get().revoked_at is not None


def test_revocation_of_nothing_is_confirmed(people: People, assistant: Assistant) -> None:
    response = assistant.web.post("/oauth/revoke", {"client_id": assistant.client_id, "token": "cpa_none"})

    assert response.status_code == 200


# The dashboard's side


def test_owner_sees_and_revokes_grants(people: People, assistant: Assistant) -> None:
    tokens = assistant.connect(people.space, ["read"], tool="helper")
    access = people.access("owner")

    (grant,) = grant_list(access=access)
    assert (grant.name, grant.tool, grant.scopes) == ("Helpful Assistant", "helper", ["read"])
    grant_revoke(grant=grant, access=access)

    assert status_of(tokens["access_token"]) == 401
    assert assistant.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert list(grant_list(access=access)) == []


def test_consent_that_was_never_used_is_not_listed(people: People, assistant: Assistant) -> None:
    assistant.code(people.space, ["read"])

    assert list(grant_list(access=people.access("owner"))) == []


def test_grants_of_another_space_are_not_listed(people: People, assistant: Assistant) -> None:
    assistant.connect(people.space)

    assert list(grant_list(access=people.access("outsider"))) == []


def test_registered_client_that_connects_again_replaces_its_grant(people: People, assistant: Assistant) -> None:
    first = assistant.connect(people.space)
    second = assistant.connect(people.space)

    assert status_of(first["access_token"]) == 401
    assert status_of(second["access_token"]) == 200
    assert grant_list(access=people.access("owner")).count() == 1


def test_life_of_a_grant_is_in_the_event_log(people: People, assistant: Assistant) -> None:
    tokens = assistant.connect(people.space)
    assistant.web.post("/oauth/revoke", {"client_id": assistant.client_id, "token": tokens["refresh_token"]})

    events = Event.objects.visible_to(people.access("owner")).filter(object_kind="grant").order_by("id")
    assert [event.type for event in events] == ["grant.created", "grant.revoked"]
    assert tokens["refresh_token"] not in str([event.details for event in events])
