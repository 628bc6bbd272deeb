"""Sign-up, invitations, roles, leaving, handing over, and the end of spaces and accounts."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.access import Access, space_transaction
from accounts.models import Invitation, Membership, Space, User
from accounts.places import places_of
from accounts.services import space_create
from accounts.templatetags.commonplace import browser, moment
from events.services import event_record
from grants.forms import ConsentForm
from memories.model_changes import model_change_start, space_models
from memories.models import Memory
from tests.factories import memory_make, user_create
from tests.pages.team import PASSWORD, Team


def link() -> str:
    """Return the path of the link in the last message."""
    found = re.search(r"https?://\S+", str(mail.outbox[-1].body))
    assert found
    return urlsplit(found.group()).path


@pytest.mark.django_db
def test_sign_up_makes_a_personal_space() -> None:
    client = Client()
    client.post("/accounts/signup/", {"email": "New@Example.com", "password1": PASSWORD})
    user = User.objects.get()

    client.post(link())

    place = Membership.objects.get()
    assert (place.user, place.role, place.space.kind) == (user, "owner", Space.Kind.PERSONAL)
    assert user.email == "new@example.com"
    assert client.get("/home").status_code == 200


@pytest.mark.django_db
def test_nobody_gets_in_before_the_address_is_confirmed() -> None:
    Client().post("/accounts/signup/", {"email": "new@example.com", "password1": PASSWORD})

    client = Client()
    client.post("/accounts/login/", {"login": "new@example.com", "password": PASSWORD})

    assert client.get("/home").status_code == 302


@pytest.mark.django_db
def test_short_password_is_refused_in_words() -> None:
    response = Client().post("/accounts/signup/", {"email": "new@example.com", "password1": "short"})

    assert "at least 10 characters" in response.content.decode()


def invite(team: Team, email: str = "new@example.com", role: str = "member") -> str:
    """Invite somebody as the owner and return the path of the link that they get."""
    team.client("owner").post("/team", {"email": email, "role": role})
    return link()


def test_invitation_lets_in_whom_it_was_sent_to(team: Team, django_capture_on_commit_callbacks: object) -> None:
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        team.client("owner").post("/team", {"email": "new@example.com", "role": "member"})
    path = link()
    user = user_create("new@example.com")
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")

    client.post(path)

    assert Membership.objects.get(user=user, space=team.space).role == "member"
    assert client.get("/home").status_code == 200
    assert client.post(path).status_code == 404


def open_invitation(team: Team, email: str = "new@example.com") -> tuple[Invitation, str]:
    """Return an invitation and its secret."""
    token, digest = Invitation.new_token()
    return Invitation.objects.create(space=team.space, email=email, digest=digest), token


def test_invitation_is_for_one_address(team: Team) -> None:
    _, token = open_invitation(team, "somebody@example.com")

    response = team.client("outsider").post(f"/invitations/{token}")

    assert response.status_code == 403
    assert not Membership.objects.filter(user=team.users["outsider"], space=team.space).exists()


@pytest.mark.parametrize("change", ["revoked_at", "accepted_at", "expires_at"])
def test_closed_invitation_opens_nothing(team: Team, change: str) -> None:
    invitation, token = open_invitation(team, "outsider@example.com")
    setattr(invitation, change, timezone.now() - timedelta(seconds=1))
    invitation.save()

    assert team.client("outsider").post(f"/invitations/{token}").status_code == 404


def test_ownership_is_handed_over(team: Team) -> None:
    heir = Membership.objects.get(space=team.space, user=team.users["member"])

    team.client("owner").post("/team/transfer", {"member": heir.pk})

    roles = {place.user.email: place.role for place in team.space.memberships.select_related("user")}
    assert roles["member@example.com"] == "owner"
    assert roles["owner@example.com"] == "admin"


@pytest.mark.django_db
def test_spaces_of_one_name_are_told_apart_wherever_they_are_listed() -> None:
    ada, ben = user_create("ada@example.com", name="Ada"), user_create("ben@example.com")
    for owner in (ada, ben, ben):
        space = space_create(owner=owner, name="Personal")
        Membership.objects.get_or_create(space=space, user=ada, defaults={"role": "member"})
    client = Client()
    client.force_login(ada, backend="allauth.account.auth_backends.AuthenticationBackend")

    names = [place.label for place in places_of(ada)]
    page = client.get("/home").content.decode()
    choices = [str(label) for _, label in ConsentForm(user=ada, scopes=["read"]).fields["space"].choices]  # type: ignore[attr-defined]

    spaces = list(Space.objects.order_by("pk"))
    assert names == ["Personal (yours)"] + [f"Personal (ben@example.com) {space.pk}" for space in spaces[1:]]
    assert choices == names
    for name in names:
        assert name in page


def test_owner_cannot_leave_and_others_can(team: Team) -> None:
    assert team.client("owner").post("/team/leave/now").status_code == 409
    assert team.client("viewer").post("/team/leave/now").status_code == 302
    assert not Membership.objects.filter(space=team.space, user=team.users["viewer"]).exists()


def test_space_is_deleted_only_by_its_name(team: Team) -> None:
    client = team.client("owner")

    assert client.post("/spaces/delete", {"name": "wrong"}).status_code == 422
    assert client.post("/spaces/delete", {"name": team.space.name}).status_code == 302
    assert not Space.objects.filter(pk=team.space.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_deleted_account_takes_everything_along() -> None:
    user = user_create("ada@example.com", PASSWORD)
    space = space_create(owner=user, name="Mine")
    memory_make(Access.system(space.pk), content="Gone with the account")
    client = signed_in(user)

    assert client.post("/account/delete", {"email": "other@example.com"}).status_code == 422
    assert client.post("/account/delete", {"email": user.email}).status_code == 302

    assert not User.objects.exists()
    for model in apps.get_models():
        if any(field.name == "space" for field in model._meta.fields):
            with space_transaction(Access.system(space.pk)):
                assert not model._base_manager.filter(space_id=space.pk).exists(), model


def signed_in(user: User) -> Client:
    """Return a browser in which the person has signed in and given their password once more."""
    EmailAddress.objects.get_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})
    client = Client()
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def test_account_is_not_deleted_by_a_session_alone(team: Team) -> None:
    response = team.client("owner").post("/account/delete", {"email": "owner@example.com"})

    assert response.status_code == 302
    assert User.objects.filter(email="owner@example.com").exists()


def test_account_is_kept_while_others_share_its_space(team: Team) -> None:
    client = signed_in(team.users["owner"])

    response = client.post("/account/delete", {"email": "owner@example.com"})

    assert response.status_code == 422
    assert "Others share" in response.content.decode()


def test_bulk_delete_gives_a_receipt_that_puts_back(team: Team) -> None:
    access = Access.system(team.space.pk)
    made = [memory_make(access, content=f"Number {number}", tags=["a"], pinned=True) for number in range(3)]
    client = team.client("member")

    response = client.post(
        "/memories/bulk", {"id": [memory.id for memory in made], "action": "delete", "confirmed": "yes"}
    )
    with space_transaction(access):
        assert not Memory.objects.any_status(access).filter(id__in=[memory.id for memory in made]).exists()
    client.post("/memories/put-back", {"receipt": response.context["receipt"]})

    with space_transaction(access):
        back = {memory.id: memory for memory in Memory.objects.visible_to(access).filter(tags__contains=["a"])}
    for memory in made:
        assert back[memory.id].content == memory.content
        assert back[memory.id].created_at == memory.created_at
        assert back[memory.id].pinned


def test_waiting_memory_is_let_in(team: Team) -> None:
    access = Access.system(team.space.pk)
    with space_transaction(access):
        waiting = Memory.objects.any_status(access).get(status="quarantined")
    client = team.client("admin")
    assert waiting.id not in client.get("/memories").content.decode()

    client.post("/memories/bulk", {"id": waiting.id, "action": "release"})

    assert waiting.id in client.get("/memories").content.decode()


def test_events_as_csv_hold_no_formula(team: Team) -> None:
    access = replace(Access.system(team.space.pk), actor_name="=HYPERLINK(1)")
    with space_transaction(access):
        event_record(access=access, type="memory.listed")

    response = team.client("viewer").get("/events.csv")
    text = b"".join(response.streaming_content).decode()  # type: ignore[arg-type]

    assert "'=HYPERLINK(1)" in text
    assert not re.search(r"(^|,)=", text, re.MULTILINE)


def test_key_is_shown_once(team: Team) -> None:
    client = team.client("member")

    made = client.post("/connections/new", {"name": "Mine", "preset": "read"})
    key = re.search(r"om_[\w-]{49}", made.content.decode())

    assert key
    assert key.group() not in client.get("/connections").content.decode()
    answer = Client().get("/v1/memories", headers={"Authorization": f"Bearer {key.group()}"})
    assert answer.status_code == 200
    assert Client().post(
        "/v1/memories", {"content": "x", "type": "semantic", "source": {"tool": "x"}},
        content_type="application/json", headers={"Authorization": f"Bearer {key.group()}"},
    ).status_code == 403  # fmt: skip


@pytest.mark.parametrize(
    ("name", "tool", "opened"),
    [
        ("Cursor on my laptop", "", "cursor-key"),
        ("At work", "codex", "codex-key"),
        ("Gemini", "", "gemini-key"),
        ("Mine", "", "claude-code-key"),
    ],
)
def test_page_with_the_key_opens_what_its_tool_needs(team: Team, name: str, tool: str, opened: str) -> None:
    made = team.client("member").post("/connections/new", {"name": name, "tool": tool, "preset": "read"})

    assert re.findall(r'<details class="more" id="([\w-]+)" open>', made.content.decode()) == [opened, "rest"]


def test_time_zones_on_offer_are_those_of_places_and_the_chosen_one(team: Team) -> None:
    client = team.client("owner")
    assert not {"GB", "Factory", "Etc/GMT+9"} & zones(client)
    assert {"UTC", "Europe/Berlin", "America/Argentina/Ushuaia"} <= zones(client)

    Space.objects.filter(pk=team.space.pk).update(timezone="GB")

    assert "GB" in zones(client)


def zones(client: Client) -> set[str]:
    """Return the time zones that the settings offer."""
    page = client.get("/settings").content.decode()
    return set(re.findall(r'value="([^"]+)"', page.partition('name="timezone"')[2].partition("</select>")[0]))


def test_the_settings_change_the_embedding_model(team: Team) -> None:
    client = team.client("owner")
    page = client.get("/settings").content.decode()
    form = {
        "name": "Team", "timezone": "UTC", "language": "en", "agent_core_writes": "allow", "context_namespaces": "",
        "events_kept_days": "365",
    }  # fmt: skip
    assert set(re.findall(r'<option value="([^"]+)"', page.partition('name="embedding_model"')[2])) >= {
        "bge-small-en-v1.5", "multilingual-e5-small",
    }  # fmt: skip

    assert client.post("/settings", form | {"embedding_model": "multilingual-e5-small"}).status_code == 302
    assert space_models(team.space.pk) == ("bge-small-en-v1.5", "multilingual-e5-small")
    assert client.post("/settings", form | {"embedding_model": "voyage:voyage-3.5"}).status_code == 422
    assert space_models(team.space.pk) == ("bge-small-en-v1.5", "multilingual-e5-small")


def test_a_model_that_is_no_longer_offered_stays_when_other_settings_change(team: Team, settings: Settings) -> None:
    client = team.client("owner")
    settings.EMBEDDING_MODEL = "voyage:voyage-3.5"
    model_change_start(space_id=team.space.pk, model="voyage:voyage-3.5")
    settings.EMBEDDING_MODEL = "bge-small-en-v1.5"
    form = {
        "name": "Crew", "timezone": "UTC", "language": "en", "agent_core_writes": "allow", "context_namespaces": "",
        "events_kept_days": "365", "embedding_model": "voyage:voyage-3.5",
    }  # fmt: skip

    assert client.post("/settings", form).status_code == 302

    assert "Crew" in client.get("/settings").content.decode()
    assert "voyage:voyage-3.5" in space_models(team.space.pk)


def test_what_is_approved_is_stopped_in_one_way_and_what_waits_is_decided_in_two(team: Team) -> None:
    client = team.client("owner")
    [number] = team.args["action-page"]

    def choices(page: str) -> list[str]:
        return re.findall(r'name="decision" value="(\w+)"', page)

    assert choices(client.get(f"/a/{number}").content.decode()) == ["approve", "reject"]
    decision = {"decision": "approve", "from": "pending"}
    assert choices(client.post(f"/a/{number}/decide", decision, follow=True).content.decode()) == ["cancel"]
    decision = {"decision": "cancel", "from": "approved"}
    assert choices(client.post(f"/a/{number}/decide", decision, follow=True).content.decode()) == []


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
         "Chrome on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0",
         "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1",
         "Safari on iPhone"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on a Mac"),
        ("curl/8.5.0", "curl/8.5.0"),
    ],
)  # fmt: skip
def test_browsers_of_sessions_in_words(sent: str, words: str) -> None:
    assert browser(sent) == words


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ("2026-12-03T16:00:00+01:00", "3 December 2026, 15:00 UTC"),
        ("2026-12-03T15:00:00Z", "3 December 2026, 15:00 UTC"),
        ("2026-12-03T15:00:00", "2026-12-03T15:00:00"), ("soon", "soon"),
    ],
)  # fmt: skip
def test_times_of_preconditions_in_words(sent: str, words: str) -> None:
    assert moment(sent) == words


def test_key_of_a_member_cannot_approve(team: Team) -> None:
    response = team.client("member").post("/connections/new", {"name": "Mine", "preset": "approve"})

    assert response.status_code == 422
