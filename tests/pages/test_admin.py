"""The operator's console: who gets in, what it never shows, dead letters, plans, switches, visits with consent."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import ANY

import pytest
from django.apps import apps
from django.contrib import admin
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from accounts.access import Access, space_transaction
from accounts.models import Invitation, Membership, Plan, Switch, User
from accounts.support import support_allow
from accounts.switches import switches_forget
from aiworker.jobruns import job_run
from aiworker.jobs import GAVE_UP, job_create
from aiworker.models import Job, JobInput
from apikeys.models import ApiKey
from config.adminsite import SHOWN
from events.models import Event
from memories.quota import quota_forget
from tests.factories import Api, key_create, memory_make, user_create
from tests.pages.team import Team

OPERATOR_PAGES = ["/admin/", "/admin/accounts/user/", "/admin/accounts/space/", "/admin/accounts/invitation/",
                  "/admin/apikeys/apikey/", "/admin/accounts/plan/", "/admin/accounts/switch/", "/admin/jobs/",
                  "/admin/oauth2_provider/application/"]  # fmt: skip


@pytest.fixture(autouse=True)
def all_switched_on() -> Iterator[None]:
    yield
    switches_forget()


@pytest.fixture
def operator(db: None) -> User:
    return user_create("operator@example.com", is_staff=True, is_superuser=True)


@pytest.fixture
def console(operator: User) -> Client:
    client = Client()
    client.force_login(operator, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def test_only_what_is_named_is_registered() -> None:
    registered = {model._meta.label_lower for model in admin.site._registry}

    assert registered <= SHOWN
    tenant = {model._meta.label_lower for model in apps.get_models() if hasattr(model.objects, "visible_to")}
    assert tenant
    assert not registered & tenant
    assert not {"mfa.authenticator", "oauth2_provider.accesstoken", "sessions.session"} & registered


@pytest.mark.parametrize("path", OPERATOR_PAGES)
def test_console_is_for_operators(team: Team, console: Client, path: str) -> None:
    assert console.get(path).status_code == 200
    assert team.client("owner").get(path).status_code == 302
    assert Client().get(path).headers["Location"].startswith("/admin/login/")


def test_sign_in_to_the_console_is_the_sign_in_of_everybody(db: None) -> None:
    assert Client().get("/admin/login/").headers["Location"].startswith("/accounts/login/")


def test_console_never_shows_memory_text_nor_keys(team: Team, console: Client) -> None:
    key = ApiKey.objects.get(space=team.space, name__startswith="Key")
    rows = [("accounts/space", team.space.pk), ("apikeys/apikey", key.pk), ("accounts/user", team.users["owner"].pk)]
    paths = OPERATOR_PAGES + [f"/admin/{model}/{pk}/change/" for model, pk in rows]

    for path in paths:
        response = console.get(path, follow=True)
        assert response.status_code == 200, path
        html = response.content.decode()
        assert "zzhostile" not in html, path
        assert bytes(key.digest).hex() not in html, path
        assert "<script>alert" not in html, path


def test_console_has_its_own_policy_and_pages_keep_theirs(console: Client) -> None:
    assert "unsafe-eval" in console.get("/admin/").headers["Content-Security-Policy"]
    assert "unsafe" not in console.get("/account").headers["Content-Security-Policy"]


def dead_letter(team: Team) -> Job:
    access = Access.system(team.space.pk)
    with space_transaction(access):
        job = job_create(access=access, kind="import", params={"format": "omp", "conflict": "skip"}, inputs=[b"[]"])
        error = {"error": GAVE_UP, "message": "It failed 5 times.", "details": {}}
        Job.objects.visible_to(access).filter(id=job.id).update(status="failed", error=error, attempts=5)
    return job


def test_dead_letter_is_tried_again(team: Team, console: Client) -> None:
    job = dead_letter(team)

    assert job.id in console.get("/admin/jobs/").content.decode()
    response = console.post("/admin/jobs/", {"job": f"{team.space.pk}:{job.id}", "act": "retry"}, follow=True)

    assert "It is queued again." in response.content.decode()
    with space_transaction(Access.system(team.space.pk)):
        again = Job.objects.get(space=team.space, id=job.id)
    assert (again.status, again.attempts, again.error) == ("queued", 0, None)


def test_dead_letter_is_thrown_away(team: Team, console: Client) -> None:
    job = dead_letter(team)

    console.post("/admin/jobs/", {"job": f"{team.space.pk}:{job.id}", "act": "discard"})

    assert job.id not in console.get("/admin/jobs/").content.decode()
    with space_transaction(Access.system(team.space.pk)):
        assert not JobInput.objects.filter(space=team.space, job_id=job.id).exists()


def test_jobs_that_wait_and_run_are_counted_for_all_spaces(team: Team, console: Client) -> None:
    for space in (team.space, team.other):
        access = Access.system(space.pk)
        with space_transaction(access):
            job_create(access=access, kind="import", params={"format": "omp", "conflict": "skip"}, inputs=[b"[]"])

    opened = console.get("/admin/jobs/").context["open"]

    # The team has one of its own.
    assert [(kind, status, count) for kind, status, count, _ in opened] == [("import", "queued", 3)]


def test_plan_limits_a_space(team: Team, console: Client) -> None:
    plan = Plan.objects.create(name="Small", memories=1)
    console.post(f"/admin/accounts/space/{team.space.pk}/change/", {
        "plan": plan.pk, "memberships-TOTAL_FORMS": 0, "memberships-INITIAL_FORMS": 0,
    })  # fmt: skip
    team.space.refresh_from_db()
    assert team.space.plan == plan
    key = key_create(team.space, team.users["owner"])

    response = Client().post(
        "/v1/memories", {"content": "One too many", "type": "semantic", "source": {"tool": "x"}},
        content_type="application/json", headers={"Authorization": f"Bearer {key}"},
    )  # fmt: skip

    assert response.status_code == 403
    assert "it may hold 1 memories" in response.json()["message"]
    quota_forget(team.space.pk)


def test_plan_limits_the_requests_of_a_space(team: Team, console: Client, settings: Settings) -> None:
    settings.QUOTAS_ON, settings.RATE_LIMIT_ON = True, False
    key, other = key_create(team.space, team.users["owner"]), key_create(team.other, team.users["outsider"])
    console.post("/admin/accounts/plan/add/", {"name": "Slow", "memories": "", "requests_per_minute": "3"})
    plan = Plan.objects.get()
    console.post(f"/admin/accounts/space/{team.space.pk}/change/", {
        "plan": plan.pk, "memberships-TOTAL_FORMS": 0, "memberships-INITIAL_FORMS": 0,
    })  # fmt: skip

    answers = [Api(key).get("/v1/me") for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[0].json()["limits"]["requests_per_minute"] == 3
    assert (
        "On the plan Slow this space may hold 1,000,000 memories"
        in team.client("viewer").get("/usage").content.decode()
    )
    assert answers[3].json()["details"] == {"limit": "space", "per_minute": 3, "retry_after": ANY}
    assert [Api(other).get("/v1/me").status_code for _ in range(4)] == [200] * 4
    settings.QUOTAS_ON = False
    assert Api(key).get("/v1/me").status_code == 200


def test_plan_of_no_requests_is_refused(console: Client) -> None:
    response = console.post("/admin/accounts/plan/add/", {"name": "None", "requests_per_minute": "0"})

    assert response.status_code == 200
    assert not Plan.objects.exists()


def switch_off(console: Client, name: str) -> None:
    """Have the operator switch a feature off."""
    console.post("/admin/accounts/switch/add/", {"name": name})
    assert Switch.objects.get().on is False


def test_switch_closes_sign_up(console: Client) -> None:
    switch_off(console, "sign_up")

    page = Client().get("/accounts/signup/").content.decode()
    Client().post("/accounts/signup/", {"email": "new@example.com", "password1": "a plain long password"})

    assert "<h1>Sign-up is closed</h1>" in page
    assert not User.objects.filter(email="new@example.com").exists()


def test_switch_closes_invitations(team: Team, console: Client) -> None:
    switch_off(console, "invitations")
    before = Invitation.objects.count()

    response = team.client("owner").post("/team", {"email": "second@example.com", "role": "member"})

    assert response.status_code == 422
    assert "has switched this off for now: invitations by e-mail" in response.content.decode()
    assert Invitation.objects.count() == before


def test_switch_closes_imports_at_every_door(team: Team, console: Client) -> None:
    key = key_create(team.space, team.users["owner"])
    queued = Api(key).post("/v1/import", {"memories": []}, headers={"Prefer": "respond-async"}).json()
    switch_off(console, "imports")
    file = SimpleUploadedFile("memories.json", b'{"memories": []}')

    page = team.client("owner").post("/transfer", {"file": file, "format": "auto", "conflict": "skip"})
    answers = [
        Api(key).post("/v1/import", {"memories": []}, headers=headers) for headers in ({}, {"Prefer": "respond-async"})
    ]
    job_run(space_id=team.space.pk, job_id=queued["id"])

    assert page.status_code == 422
    for answer in answers:
        assert (answer.status_code, answer.json()["details"]) == (403, {"switch": "imports"})
    ended = Api(key).get(f"/v1/jobs/{queued['id']}").json()
    assert (ended["status"], ended["error"]["error"]) == ("failed", "forbidden")
    Switch.objects.all().delete()
    switches_forget()
    assert Api(key).post("/v1/import", {"memories": []}).status_code == 200


def test_nobody_looks_in_without_consent(team: Team, console: Client) -> None:
    memory_make(Access.system(team.space.pk), content="Private to the team")
    path = f"/admin/accounts/user/{team.users['owner'].pk}/look-in/"

    assert "has not allowed it" in console.get(path).content.decode()
    assert console.post(path).status_code == 302

    assert "Private to the team" not in console.get("/memories", follow=True).content.decode()


def test_visit_with_consent_reads_only_and_is_noted(team: Team, console: Client, operator: User) -> None:
    memory_make(Access.system(team.space.pk), content="Private to the team")
    owner = team.users["owner"]
    assert "Take it back" not in team.client("owner").get("/account").content.decode()
    support_allow(user=owner)
    assert "Take it back" in team.client("owner").get("/account").content.decode()

    response = console.post(f"/admin/accounts/user/{owner.pk}/look-in/", follow=True)

    assert "You look in as owner@example.com" in response.content.decode()
    assert "Private to the team" in console.get("/memories").content.decode()
    assert console.get("/memories/new").status_code == 403
    assert console.post("/memories/bulk", {"action": "delete"}).status_code == 403
    assert Membership.objects.get(user=owner, space=team.space).role == "owner"
    with space_transaction(Access.system(team.space.pk)):
        types = set(Event.objects.filter(space=team.space).values_list("type", flat=True))
    assert {"support.allowed", "support.entered"} <= types
    team.client("owner").post("/account/support", {"visit": "end"})
    assert "Private to the team" not in console.get("/memories", follow=True).content.decode()
