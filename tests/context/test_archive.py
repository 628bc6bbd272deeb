"""A whole space as one file, read back into another; and the end of a space."""

from __future__ import annotations

import io
import json
import os
import zipfile
from typing import Any

import pytest
from django.apps import apps

from accounts.access import space_set, space_transaction
from accounts.models import Role, Space, SpaceDeletion
from actions.models import Action
from context.archive import LEFT_OUT, SECTIONS, archive_stream
from dreams.models import DreamRun
from memories.models import Memory
from tests.actions.queue import access_with, moved, proposed
from tests.clock import MovedClock
from tests.context.test_forget import everything
from tests.dreams.night import Night
from tests.factories import Api, People, key_create, member_create

EXPORT, IMPORT = "/v1/space/export", "/v1/space/import"
ZIP = "application/zip"


def lived_in(people: People, clock: MovedClock) -> None:
    """Put something of every kind into the owner's space."""
    with space_transaction(people.access()):
        night = Night(people, clock, facts=12)
    api = people.api()
    core = api.post("/v1/memories/remember", {"text": "core fact", "tier": "core", "pinned": True}).json()["id"]
    api.put(f"/v1/memories/{core}", {"content": "the core fact"})
    drop = api.post("/v1/memories/remember", {"text": "plain fact number 0!"}).json()["id"]
    api.put(f"/v1/journal/day/{clock.at.date().isoformat()}", {"summary": "A day", "decisions": ["One"]})
    api.post("/v1/records/tasks", {"key": "k", "data": {"a": [1, {"b": None}]}, "due_at": "2030-01-01T00:00:00Z"})
    api.put("/v1/kv/ui/theme", {"value": {"dark": True}})
    api.put("/v1/kv/ui/gone", {"value": 1})
    api.delete("/v1/kv/ui/gone")
    api.post("/v1/conversations", {"model": "claude", "messages": [{"role": "user", "content": "Hello"}]})
    with space_transaction(people.access()):
        proposer = access_with(people, "actions:propose")
        first = proposed(proposer)
        moved(people.access("decide"), first, "pending", "rejected")
        proposed(proposer, idempotency_key="waits")
    clock.forward(hours=25)
    with space_transaction(people.access()):
        outcome = night.dream(
            {"op": "merge", "keep_id": night.ids[0], "drop_ids": [drop]},
            {"op": "suggest", "kind": "delete", "ids": [night.ids[1]], "text": "Away with it"},
        )
    assert outcome["applied"] == 2


def exported(api: Api) -> bytes:
    response = api.get(EXPORT)
    assert (response.status_code, response.headers["Content-Type"]) == (200, ZIP)
    return b"".join(response.streaming_content)


def contents(data: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {
            name: json.loads(archive.read(name)) if name == "manifest.json" else
            [json.loads(line) for line in archive.read(name).splitlines()]
            for name in archive.namelist()
        }  # fmt: skip


def test_every_table_of_a_space_is_in_the_archive_or_left_out_for_a_reason() -> None:
    tenant = {model._meta.label for model in apps.get_models() if "space" in {f.name for f in model._meta.fields}}
    archived = {section.model._meta.label for section in SECTIONS}
    assert tenant == archived | LEFT_OUT.keys()
    assert not archived & LEFT_OUT.keys()


def empty_space(people: People) -> Api:
    """Return a full key with every actions scope that one key may have, to an empty space of the outsider's."""
    return Api(key_create(people.other, people.outsider, "restorer"))


@pytest.mark.django_db(transaction=True)
class TestRoundTrip:
    def test_what_is_exported_comes_back_as_it_was(self, people: People, clock: MovedClock) -> None:
        lived_in(people, clock)
        data = exported(people.api())
        before = contents(data)
        manifest = before.pop("manifest.json")
        assert manifest["space"]["name"] == "Team"
        assert (manifest["left_out"], set(manifest["files"])) == ([], set(before))
        assert {name: len(rows) for name, rows in before.items()} == {
            n: f["rows"] for n, f in manifest["files"].items()
        }
        assert all(before.values()), "there is something of every kind"
        other = empty_space(people)

        answer = other.post(IMPORT, data, content_type=ZIP)

        assert answer.status_code == 200, answer.content
        assert answer.json()["errors"] == []
        assert set(answer.json()["skipped"].values()) == {0}
        after = contents(exported(other))
        for name in ("memory_versions", "journal", "records", "kv", "action_steps", "dream_changes", "dreams",
                     "dream_suggestions", "conversations"):  # fmt: skip
            assert after[f"{name}.ndjson"] == before[f"{name}.ndjson"], name
        own = {"apikey_id": None, "remembered": False}
        assert after["memories.ndjson"] == [memory | own for memory in before["memories.ndjson"]]
        for old, new in zip(before["actions.ndjson"], after["actions.ndjson"], strict=True):
            live = {"status": "cancelled", "deadline": None} if old["status"] == "pending" else {}
            assert new == old | live
        events = [event for event in after["events.ndjson"] if event["channel"] == "import"]
        assert [(e["type"], e["at"]) for e in events] == [(e["type"], e["at"]) for e in before["events.ndjson"]]
        assert other.get("/v1/memories/recall", q="core").json()["memories"][0]["content"] == "the core fact"

    def test_importing_again_adds_nothing(self, people: People, clock: MovedClock) -> None:
        lived_in(people, clock)
        data, other = exported(people.api()), empty_space(people)
        other.post(IMPORT, data, content_type=ZIP)
        first = contents(exported(other))

        answer = other.post(IMPORT, data, content_type=ZIP).json()

        assert set(answer["imported"].values()) == {0}
        assert answer["left_out"] == ["events"]
        second = contents(exported(other))
        for name in first.keys() - {"manifest.json", "events.ndjson"}:
            assert second[name] == first[name]
        assert (
            other.post("/v1/actions", {"class": "x", "summary": "x", "payload": {}, "idempotency_key": "x"}).json()[
                "id"
            ]
            == "A3"
        )

    def test_settings_come_along_when_asked(self, people: People, clock: MovedClock) -> None:
        Space.objects.filter(pk=people.space.pk).update(timezone="Europe/Berlin", context_namespaces=["ui"])
        data, other = exported(people.api()), empty_space(people)
        other.post(IMPORT, data, content_type=ZIP)
        assert other.get("/v1/space").json()["timezone"] == "UTC"
        assert other.post(f"{IMPORT}?settings=true", data, content_type=ZIP).status_code == 200
        assert other.get("/v1/space").json()["timezone"] == "Europe/Berlin"

    def test_nothing_gains_power_and_faulty_rows_stop_no_other(self, people: People, clock: MovedClock) -> None:
        lived_in(people, clock)
        files = contents(exported(people.api()))
        rows = files["memories.ndjson"]
        rows[0]["content"] = ""
        rows[1]["id"] = "mem_../../etc"
        rows[2]["tier"] = "royal"
        rows[3] = "nothing"
        files["actions.ndjson"][0]["status"] = "approved"
        files["dreams.ndjson"][0]["status"] = "leased"
        other = empty_space(people)

        answer = other.post(IMPORT, packed(files), content_type=ZIP)

        assert answer.status_code == 200, answer.content
        assert [(e["file"], e["index"]) for e in answer.json()["errors"]] == [
            ("memories", 0),
            ("memories", 1),
            ("memories", 2),
            ("memories", 3),
        ]
        assert answer.json()["imported"]["memories"] == len(rows) - 4
        with space_transaction(people.access("outsider")):
            assert set(Action.objects.filter(space=people.other).values_list("status", flat=True)) == {"cancelled"}
            assert DreamRun.objects.get(space=people.other).status == "cancelled"
            assert not Memory.objects.filter(space=people.other, apikey_id__isnull=False).exists()

    def test_rows_that_no_page_could_show_do_not_come_in(self, people: People, clock: MovedClock) -> None:
        lived_in(people, clock)
        files = contents(exported(people.api()))
        files["memory_versions.ndjson"][0]["fields"] = {}
        files["dreams.ndjson"][0]["id"] = ""
        files["records.ndjson"][0]["collection"] = ""
        files["kv.ndjson"][0]["ns"] = ""
        files["conversations.ndjson"][0]["messages"] = ["nothing"]
        other = empty_space(people)

        answer = other.post(IMPORT, packed(files), content_type=ZIP).json()

        faulty = {error["file"] for error in answer["errors"] if error["index"] == 0}
        assert faulty == {"memory_versions", "dreams", "records", "kv", "conversations"}
        assert other.post("/v1/memories/forget", {"query": "anything", "dry_run": True}).status_code == 200


def packed(files: dict[str, Any]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, rows in files.items():
            manifest = name == "manifest.json"
            archive.writestr(name, json.dumps(rows) if manifest else "\n".join(json.dumps(row) for row in rows))
    return held.getvalue()


BROKEN = [
    b"no zip", b"PK\x03\x04broken", packed({}), packed({"manifest.json": {}}), packed({"manifest.json": []}),
]  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize("data", BROKEN)
def test_what_is_no_archive_is_refused(people: People, data: bytes) -> None:
    response = people.api().post(IMPORT, data, content_type=ZIP)
    assert (response.status_code, response.json()["error"]) == (422, "validation_error")


def test_rights(people: People) -> None:
    for kind in ("tool", "namespace", "quarantine", "delete"):
        assert people.api(kind).get(EXPORT).status_code == 403
    assert people.api("read").post(IMPORT, b"", content_type=ZIP).status_code == 403
    importer = Api(key_create(people.space, people.owner, scopes={"import"}))
    refused = importer.post(IMPORT, packed({"manifest.json": {}}), content_type=ZIP)
    assert refused.json()["details"] == {"scope": "space:write"}


@pytest.mark.django_db(transaction=True)
def test_a_key_gets_the_sections_it_may_read(people: People) -> None:
    api = Api(key_create(people.space, people.owner, scopes={"export", "journal:read"}))
    files = contents(exported(api))
    assert files.keys() == {"memories.ndjson", "memory_versions.ndjson", "journal.ndjson", "manifest.json"}
    assert "kv" in files["manifest.json"]["left_out"]


@pytest.mark.django_db(transaction=True)
def test_it_streams(people: People) -> None:
    access = people.access()
    with space_transaction(access):
        Memory.objects.bulk_create(
            Memory(
                space_id=access.space_id, content=os.urandom(200).hex(), type="semantic",
                source_tool="x", source_timestamp=people.space.created_at, created_at=people.space.created_at,
                updated_at=people.space.created_at,
            )
            for _ in range(600)
        )  # fmt: skip
    pieces = [len(piece) for piece in archive_stream(access, "x")]
    assert len(pieces) > 1
    assert max(pieces) < 1024 * 1024


class TestDelete:
    def test_the_owner_deletes_everything_and_a_receipt_stays(self, people: People, clock: MovedClock) -> None:
        lived_in(people, clock)
        people.api("outsider").created(content="stays here")
        owner, space_id = people.api(), people.space.pk

        response = owner.delete("/v1/space", confirm="Team")

        assert response.status_code == 200, response.content
        receipt = response.json()
        assert set(receipt) == {"id", "space", "deleted_at", "deleted"}
        assert receipt["space"] == str(space_id)
        assert receipt["deleted"]["memories.memory"] == 14
        kept = SpaceDeletion.objects.get()
        assert (str(kept.pk), kept.deleted_by, kept.rows) == (receipt["id"], people.owner.pk, receipt["deleted"])
        for model in apps.get_models():
            if "space" in {field.name for field in model._meta.fields}:
                space_set(space_id)
                assert not model._base_manager.filter(space_id=space_id).exists(), model
        assert owner.get("/v1/me").status_code == 401
        assert people.api("outsider").get("/v1/memories").json()["total"] == 1

    def test_without_the_name_nothing_happens(self, people: People) -> None:
        for query in ({}, {"confirm": "team"}, {"confirm": "Elsewhere"}):
            refused = people.api().delete("/v1/space", **query)
            assert refused.status_code == 422
            assert list(refused.json()["details"]["fields"]) == ["confirm"]
        assert Space.objects.filter(pk=people.space.pk).exists()

    def test_it_is_the_owners(self, people: People) -> None:
        admin = Api(key_create(people.space, member_create(people.space, "admin@example.com", Role.ADMIN)))
        for api in (people.api("member"), people.api("read"), people.api("decide"), admin):
            assert api.delete("/v1/space", confirm="Team").status_code == 403


@pytest.mark.django_db(transaction=True)
def test_a_deleted_spaces_texts_are_nowhere(people: People, clock: MovedClock) -> None:
    people.api().post("/v1/memories/remember", {"text": "xylophonist"}, headers={"Idempotency-Key": "x"})
    assert "xylophonist" in everything()
    people.api().delete("/v1/space", confirm="Team")
    assert "xylophonist" not in everything()
