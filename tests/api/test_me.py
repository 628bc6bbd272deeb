"""GET /v1/me."""

from __future__ import annotations

import pytest

from tests.factories import Api, People


def test_tells_space_person_key_and_scopes(people: People) -> None:
    body = people.api("member").get("/v1/me").json()

    assert body["space"] == {"id": str(people.space.pk), "name": "Team", "kind": "personal"}
    assert body["user"]["email"] == "member@example.com"
    assert body["key"] == {"name": "member", "prefix": people.keys["member"][:10], "tool": None}
    assert "memories:read" in body["scopes"]
    assert "space:write" not in body["scopes"], "a member's full key cannot do more than the member"


def test_needs_no_scope(people: People) -> None:
    assert people.api("write").get("/v1/me").json()["scopes"] == ["memories:write"]


def test_tells_the_limits_of_a_bound_key(people: People) -> None:
    limits = people.api("tool").get("/v1/me").json()["limits"]

    assert limits["read_tools"] == ["claude", "cursor"]
    assert limits["namespaces"] is None
    assert limits["quarantine"] is False


@pytest.mark.parametrize("kind", ["expired", "revoked"])
def test_refuses_a_key_that_is_over(people: People, kind: str) -> None:
    response = people.api(kind).get("/v1/me")

    assert response.status_code == 401
    assert response.json()["error"] == "unauthorized"


def test_refuses_a_request_without_key(db: None) -> None:
    response = Api().get("/v1/me")

    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="commonplace"'
