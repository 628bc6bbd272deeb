"""Forgetting (agent-state.md): what it finds, when it asks to look first, and that it is final."""

from __future__ import annotations

import os
from typing import Any

import psycopg
import pytest
from psycopg import sql

from accounts.access import space_set, space_transaction
from dreams.services import dream_undo
from memories.models import Memory
from memories.services import is_forgotten
from tests.clock import MovedClock
from tests.dreams.night import Night
from tests.factories import Api, People, key_create

FORGET, REMEMBER = "/v1/memories/forget", "/v1/memories/remember"


def remembered(api: Api, text: str, **changes: Any) -> str:
    response = api.post(REMEMBER, {"text": text, **changes})
    assert response.status_code == 201, response.content
    return str(response.json()["id"])


def forget(api: Api, **body: Any) -> dict[str, Any]:
    response = api.post(FORGET, body)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def left(people: People) -> set[str]:
    space_set(people.space.pk)
    return set(Memory.objects.filter(space_id=people.space.pk).values_list("content", flat=True))


class TestWhatIsFound:
    @pytest.fixture(autouse=True)
    def _facts(self, people: People) -> None:
        for text in ("Owns a red car", "Owns a blue car", "The cart is red", "ROT und Grün", "我喜欢红色汽车"):
            remembered(people.api(), text)
        remembered(people.api(), "Broke down", subject="Car", tags=["red"])

    @pytest.mark.parametrize(
        ("query", "gone"),
        [
            ("car", {"Owns a red car", "Owns a blue car", "Broke down"}),
            ("red car", {"Owns a red car", "Broke down"}),
            ("CAR, Blue!", {"Owns a blue car"}),
            ("car plane", set()),
            ("ca", set()),
            ("grün", {"ROT und Grün"}),
            ("GRU\u0308N", {"ROT und Grün"}),
            ("红色", {"我喜欢红色汽车"}),
            ("c.r", set()),
        ],
    )
    def test_facts_with_all_words_whole_and_in_any_case(self, people: People, query: str, gone: set[str]) -> None:
        before = left(people)
        dry = forget(people.api(), query=query, dry_run=True)
        assert left(people) == before
        assert {preview["text"] for preview in dry["previews"]} == gone

        answer = forget(people.api(), query=query)

        assert before - left(people) == gone
        assert answer == {"dry_run": False, "memories": len(gone), "records": 0, "journal": 0, "previews": []}
        assert dry["memories"] == len(gone)

    def test_ids_and_query_together(self, people: People) -> None:
        extra = remembered(people.api(), "Something else")
        answer = forget(people.api(), ids=[extra, "mem_0000000000000000"], query="blue")
        assert answer["memories"] == 2
        assert not {"Something else", "Owns a blue car"} & left(people)

    @pytest.mark.parametrize(
        "body",
        [
            {}, {"query": "..."}, {"ids": [], "scopes": ["memories"]}, {"query": " "},
            {"ids": ["mem_x"], "scopes": ["journal"]}, {"query": "x", "scopes": []},
            {"query": "x", "scopes": ["kv"]}, {"query": "x", "journal_mode": "burn"},
        ],
    )  # fmt: skip
    def test_what_names_nothing_is_refused(self, people: People, body: dict[str, Any]) -> None:
        assert people.api().post(FORGET, body).status_code == 422

    def test_expired_superseded_and_quarantined_facts_go_as_well(self, people: People, clock: MovedClock) -> None:
        remembered(people.api(), "scratch car", tier="scratch")
        remembered(people.api("quarantine"), "quarantined car")
        clock.forward(days=8)
        forget(people.api(), query="car")
        assert not {"scratch car", "quarantined car"} & left(people)

    def test_previews_are_at_most_20(self, people: People) -> None:
        for number in range(22):
            remembered(people.api(), f"plane {number}")
        answer = forget(people.api(), query="plane", dry_run=True)
        assert (answer["memories"], len(answer["previews"])) == (22, 20)


class TestDryRunRequired:
    def test_a_query_for_more_than_25_facts_must_be_looked_at(self, people: People) -> None:
        for number in range(25):
            remembered(people.api(), f"plane {number}")
        assert forget(people.api(), query="plane 1")["memories"] == 1
        remembered(people.api(), "plane x")
        remembered(people.api(), "plane y")
        refused = people.api().post(FORGET, {"query": "plane"})
        assert (refused.status_code, refused.json()["error"]) == (409, "dry_run_required")
        assert len(left(people)) == 26
        forget(people.api(), query="plane", dry_run=True)
        assert forget(people.api(), query="plane")["memories"] == 26

    @pytest.mark.parametrize("delicate", [{"pinned": True}, {"origin": "user"}])
    def test_so_must_a_query_that_hits_a_pinned_or_user_fact(self, people: People, delicate: dict[str, Any]) -> None:
        id = remembered(people.api(), "plane", **delicate)
        assert people.api().post(FORGET, {"query": "plane"}).json()["error"] == "dry_run_required"
        # By its id it is meant.
        assert forget(people.api(), ids=[id])["memories"] == 1

    def test_only_the_identical_dry_run_by_the_same_key_within_15_minutes_counts(
        self, people: People, clock: MovedClock
    ) -> None:
        remembered(people.api(), "plane", pinned=True)
        forget(people.api("member"), query="plane", dry_run=True)
        forget(people.api(), query="planes", dry_run=True)
        forget(people.api(), query="plane", journal_mode="delete", dry_run=True)
        forget(people.api(), query="plane", scopes=["memories", "records"], dry_run=True)
        assert people.api().post(FORGET, {"query": "plane"}).status_code == 409
        forget(people.api(), query="plane", dry_run=True)
        clock.forward(minutes=15, seconds=1)
        assert people.api().post(FORGET, {"query": "plane"}).status_code == 409
        forget(people.api(), query="plane", dry_run=True)
        clock.forward(minutes=15)
        assert forget(people.api(), query="plane")["memories"] == 1


class TestRecordsAndJournal:
    @pytest.fixture(autouse=True)
    def _notebook(self, people: People, clock: MovedClock) -> None:
        self.day = clock.at.date().isoformat()
        api = people.api()
        entry = {"summary": "Met Project Falcon. project falcon!", "decisions": ["Start project Falcon", "Eat"],
                 "open_loops": ["falcon project"], "source_refs": ["Project Falcon"]}  # fmt: skip
        api.put(f"/v1/journal/day/{self.day}", entry)
        api.post("/v1/records/tasks", {"data": {"a": [{"b": "about Project Falcon"}]}, "key": "one"})
        api.post("/v1/records/tasks", {"data": {"project falcon": 1}, "key": "two"})
        api.post("/v1/records/tasks", {"data": {"a": "falcon and project"}, "key": "three"})
        api.post("/v1/records/tasks", {"data": {"a": 'say "Project\\Falcon" \u00e9'}, "key": "four"})
        remembered(api, "Falcon is a project")

    def entry(self, people: People) -> Any:
        return people.api().get(f"/v1/journal/day/{self.day}")

    def keys(self, people: People) -> set[str]:
        return {record["key"] for record in people.api().get("/v1/records/tasks").json()["records"]}

    def test_by_default_only_memories(self, people: People) -> None:
        assert forget(people.api(), query="project falcon")["memories"] == 1
        assert len(self.keys(people)) == 4
        assert "redacted" not in self.entry(people).content.decode()

    def test_records_with_the_exact_phrase_are_deleted(self, people: People) -> None:
        answer = forget(people.api(), query="Project Falcon", scopes=["records"])
        assert (answer["memories"], answer["records"], answer["journal"]) == (0, 2, 0)
        assert self.keys(people) == {"three", "four"}
        assert forget(people.api(), query='"project\\falcon" É', scopes=["records"])["records"] == 1

    def test_redacting_the_journal(self, people: People) -> None:
        before = self.entry(people).json()
        answer = forget(people.api(), query="Project Falcon", scopes=["journal"])
        assert answer["journal"] == 1
        after = self.entry(people).json()
        assert after["summary"] == "Met [redacted]. [redacted]!"
        assert after["decisions"] == ["Start [redacted]", "Eat"]
        assert (after["open_loops"], after["source_refs"]) == (["falcon project"], ["[redacted]"])
        assert after["version"] == before["version"] + 1

    def test_deleting_the_journal_entry(self, people: People) -> None:
        forget(people.api(), query="Project Falcon", scopes=["journal"], journal_mode="delete")
        assert self.entry(people).status_code == 404

    def test_a_dry_run_shows_where(self, people: People) -> None:
        before = self.entry(people).json()
        answer = forget(people.api(), query="Project Falcon", scopes=["memories", "records", "journal"], dry_run=True)
        assert (answer["memories"], answer["records"], answer["journal"]) == (1, 2, 1)
        assert [preview["scope"] for preview in answer["previews"]] == ["memories", "records", "records", "journal"]
        assert "Project Falcon" in answer["previews"][1]["text"] + answer["previews"][2]["text"]
        assert answer["previews"][3]["id"] == f"day:{self.day}"
        assert self.entry(people).json() == before

    def test_each_scope_needs_its_own_right(self, people: People) -> None:
        body = {"query": "falcon", "scopes": ["memories", "journal"]}
        scopes = {"memories:read", "memories:delete"}
        api = Api(key_create(people.space, people.owner, scopes=scopes))
        assert api.post(FORGET, body).json()["details"] == {"scope": "journal:read"}
        assert people.api("read").post(FORGET, {"query": "falcon"}).status_code == 403


class TestRights:
    def test_a_key_that_may_not_read_learns_nothing(self, people: People) -> None:
        id = remembered(people.api(), "plane")
        api = people.api("delete")
        assert api.post(FORGET, {"query": "plane"}).status_code == 403
        assert api.post(FORGET, {"ids": [id], "dry_run": True}).status_code == 403
        assert forget(api, ids=[id])["memories"] == 1

    def test_a_bound_key_forgets_its_own_and_only_what_it_sees(self, people: People) -> None:
        hidden = remembered(people.api(), "plane")
        people.api().created(content="plane of cursor", source={"tool": "cursor"})
        assert forget(people.api("tool"), ids=[hidden])["memories"] == 0
        # It reads what cursor stored and may not change it.
        assert people.api("tool").post(FORGET, {"query": "plane"}).status_code == 403
        assert len(left(people)) == 2

    def test_other_spaces_stay(self, people: People) -> None:
        other = remembered(people.api("outsider"), "plane")
        assert forget(people.api(), ids=[other], query="plane")["memories"] == 0
        assert people.api("outsider").get(f"/v1/memories/{other}").status_code == 200


def everything() -> str:
    """Return every row of every table as text, read by the login that sees them all."""
    rows: list[str] = []
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as connection:
        connection.execute("SET row_security = off")
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (table,) in tables:
            name = sql.Identifier(table)
            rows += [
                f"{table}: {row}" for (row,) in connection.execute(sql.SQL("SELECT t::text FROM {} t").format(name))
            ]
    return "\n".join(rows)


SECRETS = ("xylophonist", "zyzzyva", "quixotry")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", ["ids", "query"])
def test_forgotten_is_forgotten(people: People, clock: MovedClock, way: str) -> None:
    """The text was remembered, edited, merged, updated, suggested, searched, replayed; then it is nowhere."""
    api, owner = people.api(), people.access("decide")
    with space_transaction(people.access()):
        night = Night(people, clock)
    replayed = {"Idempotency-Key": "the fact"}
    body = {"text": "An xylophonist, zyzzyva", "tags": ["quixotry"]}
    fact = api.post(REMEMBER, body, headers=replayed).json()["id"]
    api.put(f"/v1/memories/{fact}", {"content": "The xylophonist plays, zyzzyva"})
    twin = remembered(api, "The xylophonist plays; zyzzyva", tags=["quixotry"])
    # Its past alone speaks of it: the fact stays, the version goes.
    past = remembered(api, "Was a xylophonist, zyzzyva, once", tags=["quixotry"])
    api.put(f"/v1/memories/{past}", {"content": "Was something once", "tags": []})
    api.post("/v1/memories/search", {"q": "xylophonist", "mode": "keyword"}, headers={"Idempotency-Key": "search"})
    clock.forward(hours=25)
    with space_transaction(people.access()):
        outcome = night.dream(
            {"op": "merge", "keep_id": fact, "drop_ids": [twin], "reason": "both xylophonist zyzzyva quixotry"},
            {"op": "add", "text": "Likes xylophonist zyzzyva", "tags": ["quixotry"], "evidence": [fact]},
            {"op": "suggest", "kind": "core", "ids": [night.ids[0]], "text": "xylophonist zyzzyva quixotry!"},
            {"op": "suggest", "kind": "delete", "ids": [fact], "text": "xylophonist"},
            summary="A xylophonist with zyzzyva and quixotry.",
        )
        added = Memory.objects.get(content="Likes xylophonist zyzzyva").id
    assert (outcome["applied"], outcome["rejected"]) == (4, [])
    api.get("/v1/memories/recall", q="xylophonist")
    before = everything()
    assert all(secret in before for secret in SECRETS)

    if way == "query":
        forget(api, query="xylophonist zyzzyva quixotry", dry_run=True)
        forget(api, query="xylophonist zyzzyva quixotry")
    else:
        api.put(f"/v1/memories/{past}", {"content": "x"})
        assert forget(api, ids=[fact, added, past])["memories"] == 4  # and what was merged into it

    dump = everything()
    for secret in SECRETS:
        found = [line[:120] for line in dump.split("\n") if secret in line.lower()]
        if way == "ids":
            # By id, what a model wrote about other facts is not meant.
            found = [line for line in found if not line.startswith("dreams_dreamsuggestion")]
        assert found == []
    with space_transaction(owner):
        run_id = outcome["run_id"]
        answer = dream_undo(access=owner, run_id=run_id)
        assert answer["restored"] == 0
        assert {skip["reason"] for skip in answer["skipped"]} == {"forgotten"}
        for text in ("An xylophonist, zyzzyva", "The xylophonist plays, zyzzyva", "The xylophonist plays; zyzzyva"):
            assert is_forgotten(owner, text)
    assert api.get("/v1/memories/recall", q="xylophonist").json()["memories"] == []
    assert api.post(REMEMBER, body, headers=replayed).status_code == 409
    # An explicit remember is the person's wish and stores it anew.
    assert api.post(REMEMBER, body).status_code == 201


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", ["redact", "delete"])
def test_a_forgotten_phrase_is_in_no_table(people: People, mode: str) -> None:
    api = people.api()
    remembered(api, "The xylophonist called")
    record = {"key": "caller", "status": "open", "data": {"who": ["the xylophonist"]}}
    assert api.post("/v1/records/calls", record, headers={"Idempotency-Key": "record"}).status_code == 201
    entry = {"summary": "The xylophonist called.", "open_loops": ["call the xylophonist"]}
    assert api.put("/v1/journal/day/2026-01-05", entry).status_code in {200, 201}
    assert everything().count("xylophonist") >= 4

    done = forget(api, query="xylophonist", scopes=["memories", "records", "journal"], journal_mode=mode)

    assert (done["memories"], done["records"], done["journal"]) == (1, 1, 1)
    assert "xylophonist" not in everything()
