"""The journal (agent-state.md, "Journal")."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from accounts.access import space_transaction
from accounts.models import Space
from notebook.journal import journal_write
from notebook.models import JournalEntry
from notebook.schemas import JournalWrite
from tests.clock import MovedClock
from tests.factories import People
from tests.races import at_once

DAY = "/v1/journal/day/2026-03-04"  # a Wednesday


@pytest.fixture(autouse=True)
def _in_march(clock: MovedClock) -> None:
    clock.at = datetime(2026, 3, 4, 12, tzinfo=UTC)


def test_a_new_entry_is_created_and_read_back(people: People) -> None:
    body = {"summary": "Moved", "decisions": ["Rent"], "open_loops": ["Boxes"], "source_refs": ["chat 1"]}
    created = people.api().put(DAY, body)

    assert created.status_code == 201
    assert created.headers["ETag"] == '"1"'
    assert set(created.json()) == {*body, "kind", "date", "version", "created_at", "updated_at"}
    assert people.api().get(DAY).json() == created.json()
    assert {name: created.json()[name] for name in body} == body


def test_without_merge_the_fields_given_are_replaced(people: People) -> None:
    people.api().put(DAY, {"summary": "Moved", "decisions": ["Rent"], "open_loops": ["Boxes"]})
    changed = people.api().put(DAY, {"summary": "Stayed", "decisions": []})
    assert changed.status_code == 200
    body = changed.json()
    assert (body["summary"], body["decisions"], body["open_loops"], body["version"]) == ("Stayed", [], ["Boxes"], 2)


def test_merge_appends_what_is_not_there_and_a_retry_changes_nothing(people: People) -> None:
    people.api().put(DAY, {"summary": "Moved", "decisions": ["Rent"]})
    more = {"summary": "Ate.\n\nSlept.", "decisions": ["Rent", "Paint"], "open_loops": ["Boxes"]}

    first = people.api().put(DAY, more, merge="true").json()
    again = people.api().put(DAY, more, merge="true").json()

    assert first["summary"] == "Moved\n\nAte.\n\nSlept."
    assert (first["decisions"], first["open_loops"], first["version"]) == (["Rent", "Paint"], ["Boxes"], 2)
    assert again == first


def test_merge_compares_whole_paragraphs(people: People) -> None:
    people.api().put(DAY, {"summary": "Fixed bug 12"})
    assert (
        people.api().put(DAY, {"summary": "Fixed bug 1"}, merge="true").json()["summary"]
        == "Fixed bug 12\n\nFixed bug 1"
    )


def test_a_weeks_date_becomes_its_monday(people: People) -> None:
    body = people.api().put("/v1/journal/week/2026-03-04", {"summary": "A week"}).json()
    assert (body["kind"], body["date"]) == ("week", "2026-03-02")
    assert people.api().put("/v1/journal/week/2026-03-01", {"summary": "Before"}).json()["date"] == "2026-02-23"
    assert people.api().get("/v1/journal/week/2026-03-05").json()["summary"] == "A week"


def test_a_day_and_a_week_of_one_date_are_two_entries(people: People) -> None:
    people.api().put("/v1/journal/week/2026-03-02", {"summary": "week"})
    people.api().put("/v1/journal/day/2026-03-02", {"summary": "day"})
    assert people.api().get("/v1/journal/week/2026-03-02").json()["summary"] == "week"
    assert people.api().get("/v1/journal/day/2026-03-02").json()["summary"] == "day"


@pytest.mark.parametrize(
    ("zone", "last"), [("UTC", "2026-03-05"), ("Pacific/Kiritimati", "2026-03-06"), ("Etc/GMT+12", "2026-03-05")]
)
def test_dates_more_than_a_day_ahead_in_the_spaces_zone_are_refused(people: People, zone: str, last: str) -> None:
    Space.objects.filter(pk=people.space.pk).update(timezone=zone)
    after = (date.fromisoformat(last) + timedelta(days=1)).isoformat()
    assert people.api().put(f"/v1/journal/day/{last}", {"summary": "x"}).status_code == 201
    refused = people.api().put(f"/v1/journal/day/{after}", {"summary": "x"})
    assert refused.status_code == 422
    assert list(refused.json()["details"]["fields"]) == ["date"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"summary": "x" * 10_001}, "summary"),
        ({"decisions": ["x"] * 51}, "decisions"),
        ({"open_loops": ["x" * 501]}, "open_loops.0"),
        ({"source_refs": [""]}, "source_refs.0"),
        ({"mood": "fine"}, "mood"),
    ],
)
def test_limits(people: People, body: dict[str, object], field: str) -> None:
    refused = people.api().put(DAY, body)
    assert refused.status_code == 422
    assert list(refused.json()["details"]["fields"]) == [field]


def test_limits_hold_for_what_a_merge_makes(people: People) -> None:
    people.api().put(DAY, {"summary": "x" * 9_990, "decisions": [f"d{n}" for n in range(50)]})
    assert people.api().put(DAY, {"summary": "y" * 10}, merge="true").status_code == 422
    assert people.api().put(DAY, {"decisions": ["new"]}, merge="true").status_code == 422
    assert people.api().put(DAY, {"decisions": ["d3"]}, merge="true").json()["version"] == 1


@pytest.mark.parametrize(
    "path",
    [
        "/v1/journal/day/2026-3-4",
        "/v1/journal/day/20260304",
        "/v1/journal/day/2026-W10-1",
        "/v1/journal/year/2026-03-04",
    ],
)
def test_an_address_that_names_no_entry_is_refused(people: People, path: str) -> None:
    assert people.api().put(path, {"summary": "x"}).status_code == 422


def test_list_filters_and_pages_the_latest_first(people: People) -> None:
    for day in range(1, 5):
        people.api().put(f"/v1/journal/day/2026-03-0{day}", {"summary": f"day {day}"})
    people.api().put("/v1/journal/week/2026-03-02", {"summary": "week"})

    seen, query = [], {"limit": "2"}
    while True:
        response = people.api().get("/v1/journal", **query)
        page = response.json()
        seen += [(entry["kind"], entry["date"]) for entry in page["entries"]]
        if page["next_cursor"] is None:
            assert "Link" not in response.headers
            break
        assert 'rel="next"' in response.headers["Link"]
        query["cursor"] = page["next_cursor"]
    assert seen == [
        ("day", "2026-03-04"), ("day", "2026-03-03"), ("day", "2026-03-02"), ("week", "2026-03-02"),
        ("day", "2026-03-01"),
    ]  # fmt: skip
    narrow = people.api().get("/v1/journal", **{"from": "2026-03-02", "to": "2026-03-03", "kind": "day"}).json()
    assert [entry["date"] for entry in narrow["entries"]] == ["2026-03-03", "2026-03-02"]
    assert people.api().get("/v1/journal", cursor=query["cursor"], kind="day").status_code == 422


def test_if_match(people: People) -> None:
    stale = {"If-Match": '"7"'}
    assert people.api().put(DAY, {"summary": "x"}, headers=stale).status_code == 412
    people.api().put(DAY, {"summary": "x"})
    assert people.api().put(DAY, {"summary": "y"}, headers=stale).status_code == 412
    assert people.api().put(DAY, {"summary": "y"}, headers={"If-Match": '"1"'}).json()["version"] == 2
    assert people.api().delete(DAY, headers=stale).status_code == 412


def test_delete_and_missing(people: People) -> None:
    people.api().put(DAY, {"summary": "x"})
    assert people.api().delete(DAY).status_code == 204
    for response in (people.api().get(DAY), people.api().delete(DAY)):
        assert (response.status_code, response.json()["error"]) == (404, "not_found")


def test_scopes_and_spaces(people: People) -> None:
    people.api().put(DAY, {"summary": "x"})
    assert people.api("read").put(DAY, {"summary": "y"}).status_code == 403
    assert people.api("write").get(DAY).status_code == 403
    assert people.api("outsider").get(DAY).status_code == 404
    assert people.api("outsider").get("/v1/journal").json()["entries"] == []
    assert people.api("member").get(DAY).json()["summary"] == "x"


@pytest.mark.django_db(transaction=True)
def test_parallel_retries_of_a_merge_append_once(people: People) -> None:
    access = people.access()
    data = JournalWrite(date=date(2026, 3, 4), summary="Once.", decisions=["One"], merge=True)

    def write(number: int) -> None:
        with space_transaction(access):
            journal_write(access=access, data=data)

    outcomes = at_once(10, write)

    assert outcomes == [None] * 10
    with space_transaction(access):
        (entry,) = JournalEntry.objects.visible_to(access)
    assert (entry.summary, entry.decisions, entry.version) == ("Once.", ["One"], 1)
