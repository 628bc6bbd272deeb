"""What no database can hold, in every address, query and form of the pages; and failures that nobody foresaw."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
from django.urls import reverse
from pythonjsonlogger.json import JsonFormatter

from accounts.access import Access, space_transaction
from memories.receipts import receipt_make
from tests.factories import memory_make
from tests.pages.team import Team, pages

PAGES = sorted(pages())
DEEP = "[" * 60_000
MARK = "text-of-a-row"


def address(team: Team, name: str) -> str:
    """Return the address of a page without its query."""
    return reverse(name, args=team.args.get(name, []))


def test_no_part_of_an_address_is_looked_up_that_the_database_cannot_hold(team: Team) -> None:
    client = team.client("owner", raise_request_exception=False)

    asked = 0
    for name in PAGES:
        for place, part in enumerate(team.args.get(name, [])):
            if isinstance(part, str):
                args = [*team.args[name]]
                args[place] = "\x00"
                answers = {client.get(reverse(name, args=args)).status_code}
                answers.add(client.post(reverse(name, args=args)).status_code)
                assert answers <= {404, 405} and 404 in answers, name  # noqa: PT018
                asked += 1
    assert asked > 15


def test_no_value_is_taken_that_the_database_cannot_hold(team: Team) -> None:
    client = team.client("owner", raise_request_exception=False)

    for name in PAGES:
        found = {
            client.get(address(team, name) + "?ns=a&key=%00").status_code,
            client.post(address(team, name) + "?ns=a&key=%00").status_code,
            client.post(address(team, name), {"id": "\x00", "ns": "\x00", "key": "\x00"}).status_code,
        }
        assert found <= {422, 405} and 422 in found, name  # noqa: PT018
    page = client.post("/kv/delete", {"ns": "\x00", "key": "a"}).content.decode()
    assert "It contains the NUL character (U+0000), which cannot be stored." in page


@pytest.mark.parametrize("value", [DEEP, "[" * 40 + "]" * 40, "[" * 60_000 + "]" * 60_000, "{", ""])
def test_a_form_with_damaged_or_deep_json_comes_again_with_a_sentence(team: Team, value: str) -> None:
    client = team.client("owner", raise_request_exception=False)

    edited = client.post("/kv/edit", {"ns": "a", "key": "b", "value": value})
    record = client.post(team.address("record-page"), {"data": value})

    for answer in (edited, record):
        assert answer.status_code == 422
        assert answer.context["errors"]
        assert "<form" in answer.content.decode()


def test_a_damaged_receipt_is_refused_and_a_doubled_one_put_back_once(team: Team) -> None:
    client = team.client("owner", raise_request_exception=False)
    access = Access.system(team.space.pk)
    with space_transaction(access):
        memory = memory_make(access, content="Kept twice")
        item = json.loads(receipt_make([memory]))[0]
        memory.delete()

    for damaged in (DEEP, "[1]", "null", json.dumps([item | {"content": "\x00"}]), '[{"content": "\\ud800"}]'):
        assert client.post("/memories/put-back", {"receipt": damaged}).status_code == 422, damaged[:50]
    for id in (item["id"], [], "\x00" * 20, {"a": 1}):
        sent = json.dumps([item | {"id": id}, item | {"id": id}])
        assert client.post("/memories/put-back", {"receipt": sent}).status_code == 302, id


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Give what is logged."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


def test_a_failure_that_nobody_foresaw_is_logged_without_its_text(
    team: Team, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(**given: object) -> None:
        raise LookupError(MARK)

    monkeypatch.setattr("notebook.pages.namespaces_list", fails)

    answer = team.client("owner", raise_request_exception=False).get("/kv")

    assert answer.status_code == 500
    written = log.getvalue()
    assert "unhandled LookupError" in written
    assert "in fails" in written
    assert MARK not in written + answer.content.decode()
