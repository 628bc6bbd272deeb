"""What people do, from the first visit on, in a real browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from django.core import mail
from django.db import connections
from playwright.sync_api import Locator, Page, expect
from pytest_django import Settings

from accounts.access import Access, space_transaction
from accounts.models import Membership, Space, User
from accounts.services import space_create
from actions.schemas import ActionPropose
from actions.services import action_propose
from aiworker.jobruns import job_run
from aiworker.models import Job
from api.schemas import parse
from memories.models import Memory
from tests.browser.conftest import Opener, Window
from tests.factories import member_create, memory_make, user_create

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD = "four plain words here"


def link_in_mail(base: str) -> str:
    """Return the path of the first link in the last message."""
    found = re.search(r"https?://\S+", str(mail.outbox[-1].body))
    assert found is not None
    return urlsplit(found.group()).path


def entry(page: Page, text: str) -> Locator:
    """Return the entry of a list that has this text."""
    return page.locator(".entry .text").get_by_text(text, exact=True)


def sign_up(window: Opener, email: str, path: str = "/") -> Window:
    """Sign up as a stranger would and confirm the address by the link in the message."""
    mine = window()
    page = mine.open(path)
    page.get_by_role("link", name="Begin your book").click()
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create the account").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Check your mail")
    mine.open(link_in_mail(mine.base))
    page.get_by_role("button", name="Confirm").click()
    return mine


def test_from_the_first_visit_to_the_first_memory(window: Opener, live_server: Any) -> None:
    mine = sign_up(window, "new@example.com")
    page = mine.page
    expect(page.get_by_text("An empty book, so far.")).to_be_visible()

    page.locator(".shell").get_by_role("link", name="make one").click()
    page.get_by_label("Name", exact=True).fill("My script")
    page.get_by_role("button", name="Make the key").click()
    key = page.locator("#key").inner_text()
    expect(page.get_by_text("Waiting for the first call")).to_be_visible()
    answer = httpx2.post(
        f"{live_server.url}/v1/memories",
        headers={"Authorization": f"Bearer {key}"},
        json={"content": "Likes short answers", "type": "semantic", "source": {"tool": "script"}},
    )
    assert answer.status_code == 201
    expect(page.get_by_text("It worked.")).to_be_visible(timeout=10_000)
    page.get_by_role("link", name="see it").click()
    expect(entry(page, "Likes short answers")).to_be_visible()
    mine.open("/connections")
    assert key not in page.content()


def test_search_edit_delete_and_undo(window: Opener) -> None:
    user = user_create("ada@example.com")
    space = space_create(owner=user, name="Mine")
    access = Access.system(space.pk)
    for number in range(3):
        memory_make(access, content=f"The piano is tuned in month {number}", tags=["piano"])
    memory = memory_make(access, content="The ladder is lent to the neighbour", tags=["house"])
    mine = window(user)
    page = mine.open("/memories")

    page.get_by_label("Search the memories").press_sequentially("ladder")
    expect(page.locator(".entry").first.locator("mark")).to_have_text("ladder")
    assert "q=ladder" in page.url
    page.get_by_role("link", name="Edit: The ladder").click()
    page.get_by_label("Text").fill("The ladder is back")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".entry .text").first).to_have_text("The ladder is back")
    assert page.url.endswith("q=ladder&mode=hybrid")

    entry(page, "The ladder is back").click()
    page.get_by_role("button", name="Restore").click()
    expect(page.locator(".memory-text")).to_have_text("The ladder is lent to the neighbour")

    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_role("heading", name="1 memory deleted")).to_be_visible()
    with space_transaction(access):
        assert not Memory.objects.any_status(access).filter(id=memory.id).exists()
    page.get_by_role("button", name="Put it back").click()
    expect(page.locator(".memory-text")).to_have_text("The ladder is lent to the neighbour")
    with space_transaction(access):
        assert Memory.objects.visible_to(access).get(id=memory.id).created_at == memory.created_at

    mine.open("/memories?tag=piano")
    page.get_by_label("All of these").check()
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete 3").click()
    expect(page.locator("textarea")).to_contain_text("The piano is tuned in month 2")


def test_two_people_in_a_team(window: Opener) -> None:
    owner = user_create("owner@example.com", name="Olga")
    space = space_create(owner=owner, name="The team", kind="team")
    hers = window(owner)
    page = hers.open("/team")
    page.get_by_label("E-mail address").fill("second@example.com")
    page.get_by_label("As", exact=True).select_option("viewer")
    page.get_by_role("button", name="Send the invitation").click()
    expect(page.get_by_text("An invitation is on its way to second@example.com.")).to_be_visible()
    path = link_in_mail(hers.base)

    his = window()
    page = his.open(path)
    page.get_by_role("link", name="Create an account").click()
    expect(page.get_by_text("no further message is needed")).to_be_visible()
    expect(page.get_by_label("E-mail address")).to_have_value("second@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create the account").click()
    page.get_by_role("button", name="Join The team").click()
    expect(page.get_by_text("Welcome to the space The team.")).to_be_visible()
    access = Access.system(space.pk)
    memory_make(access, content="Shared by all")
    his.open("/memories")
    expect(entry(page, "Shared by all")).to_be_visible()
    expect(page.get_by_role("link", name="Write one down")).to_have_count(0)
    assert his.page.goto(his.base + "/memories/new").status == 403  # type: ignore[union-attr]

    page = hers.open("/team")
    page.get_by_label("Role of second@example.com").select_option("member")
    page.get_by_role("button", name="Change").click()
    expect(page.get_by_text("is now member")).to_be_visible()
    page = his.open("/memories/new")
    page.get_by_label("Text").fill("Written by the second")
    page.get_by_role("button", name="Save").click()
    page = hers.open("/memories")
    expect(entry(page, "Written by the second")).to_be_visible()
    hers.page.once("dialog", lambda dialog: dialog.accept())
    page = hers.open("/team")
    page.get_by_role("button", name="Remove second@example.com").click()
    expect(page.get_by_text("no longer a member")).to_be_visible()
    page = his.open("/memories")
    expect(entry(page, "Shared by all")).to_have_count(0)
    assert Membership.objects.filter(user__email="second@example.com").get().space.kind == Space.Kind.PERSONAL


def test_an_approval_on_a_phone(window: Opener) -> None:
    user = user_create("ada@example.com")
    space = space_create(owner=user, name="Mine")
    agent = Access(
        space_id=space.pk, user_id=user.pk, actor_kind="key", actor_id="7", actor_name="Agent",
        scopes=frozenset({"actions:propose"}), channel="rest",
    )  # fmt: skip
    payload = {"to": "grace@example.com", "text": "Yours, Ada"}
    body = {"class": "email.send", "summary": "Write to Grace", "payload": payload, "idempotency_key": "1"}
    with space_transaction(agent):
        action_propose(access=agent, data=parse(ActionPropose, body))
    mine = window(user, phone=True)
    page = mine.open("/home")

    page.get_by_role("link", name="Look at it").click()
    page.get_by_role("link", name="Decide on A1").click()
    assert json.loads(page.locator("pre.payload").inner_text()) == payload
    button = page.get_by_role("button", name="Approve")
    box = button.bounding_box()
    assert box is not None
    assert box["height"] >= 44
    assert box["width"] >= 250
    page.get_by_label("Reason").fill("Go ahead")
    button.click()
    expect(page.get_by_text("A1 is approved")).to_be_visible()
    expect(page.get_by_text("Go ahead").first).to_be_visible()


class Callback(BaseHTTPRequestHandler):
    """The page to which an assistant has the browser sent back."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Done</title><link rel=icon href=data:,>")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def assistant() -> Iterator[HTTPServer]:
    """Return the assistant's own server on this machine."""
    with HTTPServer(("127.0.0.1", 0), Callback) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_an_assistant_is_let_in_by_signing_in(window: Opener, live_server: Any, assistant: HTTPServer) -> None:
    user = user_create("ada@example.com", PASSWORD)
    space_create(owner=user, name="Mine")
    from allauth.account.models import EmailAddress

    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    back = f"http://127.0.0.1:{assistant.server_port}/callback"
    registered = httpx2.post(
        f"{live_server.url}/oauth/register",
        json={"client_name": "Test assistant", "redirect_uris": [back], "token_endpoint_auth_method": "none"},
    ).json()
    verifier = "v" * 64
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    asked = {
        "response_type": "code", "client_id": registered["client_id"], "redirect_uri": back, "state": "s",
        "code_challenge": challenge, "code_challenge_method": "S256", "scope": "read write",
        "resource": f"{live_server.url}/mcp",
    }  # fmt: skip
    mine = window()
    page = mine.open(f"/oauth/authorize?{urlencode(asked)}")

    page.get_by_label("E-mail address").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Connect Test assistant?")).to_be_visible()
    assert mine.axe() == []
    page.get_by_role("button", name="Allow").click()
    page.wait_for_url(f"{back}**")
    code = parse_qs(urlsplit(page.url).query)["code"][0]
    token = httpx2.post(
        f"{live_server.url}/oauth/token",
        data={"grant_type": "authorization_code", "code": code, "redirect_uri": back, "code_verifier": verifier,
              "client_id": registered["client_id"], "resource": f"{live_server.url}/mcp"},
    )  # fmt: skip
    assert token.status_code == 200

    page = mine.open("/connections")
    expect(page.get_by_role("heading", name="Test assistant")).to_be_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Disconnect Test assistant").click()
    expect(page.get_by_text("Test assistant is disconnected")).to_be_visible()


RECORDS = 10_000


def test_import_of_ten_thousand_memories(window: Opener, tmp_path: Any) -> None:
    user = user_create("ada@example.com")
    space_create(owner=user, name="Mine")
    memories = [
        {"content": f"Memory number {number}", "type": "semantic", "source": {"tool": "old"}, "id": f"mem_{number:016}"}
        for number in range(RECORDS)
    ]
    memories[17]["type"] = "no such type"
    file = tmp_path / "export.json"
    file.write_text(json.dumps({"omp_version": "0.1", "memories": memories}))
    mine = window(user)
    page = mine.open("/transfer")

    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Import the file").click()
    page.wait_for_url("**/transfer/job_*")
    access = Access.system(Membership.objects.get(user=user).space_id)
    with space_transaction(access):
        job = Job.objects.visible_to(access).get()
    worker = Thread(target=work, args=(access.space_id, job.id))
    worker.start()
    seen: set[int] = set()
    until = time.monotonic() + 240
    bar = page.locator("progress")
    while time.monotonic() < until and page.get_by_text("brought in").count() == 0:
        value = bar.evaluate_all("bars => bars.map(bar => bar.position > 0 ? Math.round(bar.value) : 0)")
        seen |= {number for number in value if 0 < number < RECORDS}
        page.wait_for_timeout(400)
    worker.join()

    assert seen, "the bar never stood between its ends"
    expect(page.get_by_text("9,999 brought in.")).to_be_visible(timeout=60_000)
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr td").first).to_have_text("18")
    assert User.objects.count() == 1


def test_upload_that_is_refused_says_why_in_its_place(window: Opener, settings: Settings, tmp_path: Any) -> None:
    settings.MAX_IMPORT_BYTES = 1024 * 1024
    user = user_create("ada@example.com")
    space_create(owner=user, name="Mine")
    file = tmp_path / "export.json"
    file.write_bytes(b" " * (1024 * 1024 + 1))
    page = window(user).open("/transfer")

    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Import the file").click()

    expect(page.get_by_role("alert")).to_have_text("The file is larger than 1 MB. Split it.")
    expect(page.get_by_role("button", name="Import the file")).to_be_enabled()
    assert page.url.endswith("/transfer")


def work(space_id: int, job_id: str) -> None:
    """Do what a Celery worker does with the job, in a thread with connections of its own."""
    try:
        job_run(space_id=space_id, job_id=job_id)
    finally:
        connections.close_all()


def test_essentials_without_scripts(window: Opener) -> None:
    user = user_create("ada@example.com")
    space = space_create(owner=user, name="Mine")
    member_create(space, "second@example.com")
    memory_make(Access.system(space.pk), content="The ladder is lent")
    mine = window(user, scripts=False)
    page = mine.open("/memories")

    page.get_by_label("Search the memories").fill("ladder")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="Edit: ").click()
    page.get_by_label("Text").fill("The ladder is back")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".memory-text")).to_have_text("The ladder is back")
    page.get_by_role("button", name="Pin").click()
    expect(page.get_by_role("button", name="Unpin")).to_be_visible()
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete it").click()
    page.get_by_role("button", name="Put it back").click()
    expect(page.locator(".memory-text")).to_have_text("The ladder is back")
    mine.open("/connections/new")
    page.get_by_label("Name", exact=True).fill("Key")
    page.get_by_role("button", name="Make the key").click()
    expect(page.locator("#key")).to_contain_text("om_")
    page.get_by_role("link", name="Check now").click()
    expect(page.get_by_text("Waiting for the first call")).to_be_visible()
