"""Every page and form, tried by the owner, an admin, a member, a viewer, an outsider and a stranger."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from accounts.permissions import ROLE_ACTIONS
from tests.pages.team import ROLES, Team, pages

PAGES = pages()
#: Answers of a form whose fields are missing: refused, shown again, sent back, or nothing to do.
ANSWERED = {200, 302, 404, 405, 409, 422}
#: Forms that a page shows to readers too, but takes from some of them only.
NARROWER = {"team": "team", "record-page": "write", "transfer": "import"}


def test_every_page_names_the_action_that_opens_it() -> None:
    assert len(PAGES) > 40
    assert {view.page_action for view in PAGES.values()} <= ROLE_ACTIONS["owner"]


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("who", [*ROLES, "outsider", "anonymous"])
def test_every_page_as(team: Team, who: str, method: str) -> None:
    client = team.client(who)
    for name, view in sorted(PAGES.items()):
        with transaction.atomic():
            response = client.generic(method, team.address(name))
            transaction.set_rollback(True)

        expect(team, who, method, name, view.page_action, response)


def expect(team: Team, who: str, method: str, name: str, action: str, response: Any) -> None:
    """Hold one answer against the role table."""
    status, where = response.status_code, f"{method} {name} as {who}"
    if who == "anonymous":
        assert status == 405 or response.headers["Location"].startswith("/accounts/login/?next="), where
    elif who == "outsider":
        # They stand in their own space, where the team's ids do not exist.
        assert status in ({404, 405} if name in DETAILS else ANSWERED), where
        if status == 200 and not response.streaming:
            assert b"zzhostile" not in response.content, where
    elif action not in ROLE_ACTIONS[who]:
        assert status in {403, 405}, where
    elif method == "POST" and NARROWER.get(name, action) not in ROLE_ACTIONS[who]:
        assert status in {403, 405, 422}, where
    else:
        assert status in ANSWERED, where


DETAILS = ["memory-detail", "memory-entry", "memory-edit", "memory-similar-page", "record-page", "connection-detail",
           "connection-check", "action-page", "import-detail", "dream-detail", "conversation-detail",
           "conversation-remove"]  # fmt: skip


MISSING = {name: "mem_0000000000000000" for name in DETAILS if name.startswith("memory")}
MISSING |= {"record-page": "rec_0000000000000000", "action-page": "A99", "import-detail": "job_0000000000000000"}
MISSING["dream-detail"] = "dream_0000000000000000"
MISSING |= dict.fromkeys(["conversation-detail", "conversation-remove"], "conv_0000000000000000")


@pytest.mark.parametrize("name", DETAILS)
def test_another_space_answers_as_if_it_did_not_exist(team: Team, name: str) -> None:
    client = team.client("outsider")

    other = client.get(team.address(name))
    team.args[name] = [MISSING.get(name, 999_999_999)]
    missing = client.get(team.address(name))

    assert other.status_code == missing.status_code == 404
    assert b"<h1>There is no such page</h1>" in other.content
    assert b"zzhostile" not in other.content


def test_viewer_sees_no_button_that_would_be_refused(team: Team) -> None:
    listed = team.client("viewer").get("/memories").content.decode()

    assert "zzhostile" in listed
    assert "Delete…" not in listed
    assert "/memories/new" not in listed
    assert "/connections" not in listed
    assert "/settings" not in listed


def test_member_sees_only_their_own_keys(team: Team) -> None:
    assert "Key " not in team.client("member").get("/connections").content.decode()
    assert "Key " in team.client("admin").get("/connections").content.decode()
    assert team.client("member").get(team.address("connection-detail")).status_code == 404


def test_admin_cannot_touch_the_owner_or_other_admins(team: Team) -> None:
    client = team.client("admin")
    owner = team.space.memberships.get(role="owner")
    admin = team.space.memberships.get(role="admin")

    assert client.post(f"/team/members/{owner.pk}/remove").status_code == 403
    assert client.post(f"/team/members/{admin.pk}/role", {"role": "viewer"}).status_code == 403
    viewer = team.space.memberships.get(role="viewer")
    assert client.post(f"/team/members/{viewer.pk}/role", {"role": "admin"}).status_code == 403
    assert client.post(f"/team/members/{viewer.pk}/role", {"role": "owner"}).status_code == 403
    assert client.post(f"/team/members/{viewer.pk}/role", {"role": "member"}).status_code == 302


def test_switched_off_person_is_out(team: Team) -> None:
    client = team.client("member")
    team.users["member"].is_active = False
    team.users["member"].save()

    assert client.get("/home").status_code == 302


def test_removed_member_falls_back_to_nothing(team: Team) -> None:
    client = team.client("member")
    team.client("owner").post(f"/team/members/{team.space.memberships.get(role='member').pk}/remove")

    response = client.get("/memories")

    assert response.status_code == 302
    assert response.headers["Location"] == "/spaces/new"
