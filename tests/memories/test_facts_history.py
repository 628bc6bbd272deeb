"""The versions of a memory, and going back to one of them."""

from __future__ import annotations

from tests.factories import People
from tests.memories.test_facts import RECALL, remembered


class TestHistory:
    def test_versions_are_listed_newest_first_and_restored(self, people: People) -> None:
        api = people.api()
        made = remembered(api, "Lives in Bonn", tags=["home"], subject="Anna")
        path = f"/v1/memories/{made['id']}"
        api.put(path, {"content": "Lives in Berlin", "tags": []})
        api.put(path, {"content": "Lives in Kiel", "source": {"session_id": "s"}})

        versions = api.get(f"{path}/history").json()["versions"]
        assert [item["version"] for item in versions] == [3, 2, 1]
        assert [item["memory"]["content"] for item in versions] == ["Lives in Kiel", "Lives in Berlin", "Lives in Bonn"]
        assert versions[0]["replaced_at"] is None
        assert versions[1]["replaced_by"]["name"] == "owner"

        restored = api.post(f"{path}/restore", {"version": 1})

        assert restored.status_code == 200
        assert restored.headers["ETag"] == '"4"'
        body = restored.json()
        assert (body["content"], body["tags"], body["version"]) == ("Lives in Bonn", ["home"], 4)
        assert "session_id" not in body["source"]
        assert api.get(RECALL, q="Bonn").json()["memories"][0]["id"] == made["id"]

    def test_history_pages(self, people: People) -> None:
        api = people.api()
        made = remembered(api, "v1")
        path = f"/v1/memories/{made['id']}"
        for number in range(2, 6):
            api.put(path, {"content": f"v{number}"})
        seen, cursor = [], {}
        while True:
            page = api.get(f"{path}/history", limit=2, **cursor).json()
            seen += [item["version"] for item in page["versions"]]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert seen == [5, 4, 3, 2, 1]

    def test_an_unknown_version_or_memory_is_not_found(self, people: People) -> None:
        made = remembered(people.api())
        missing = people.api().post(f"/v1/memories/{made['id']}/restore", {"version": 7})
        assert (missing.status_code, missing.json()["error"]) == (404, "not_found")
        for kind in ("outsider", "nothing"):
            assert people.api(kind).get(f"/v1/memories/{made['id']}/history").json()["error"] == "memory_not_found"
            response = people.api(kind).post(f"/v1/memories/{made['id']}/restore", {"version": 1})
            assert response.json()["error"] == "memory_not_found"

    def test_restore_obeys_if_match_and_core(self, people: People) -> None:
        api = people.api()
        made = remembered(api, "a" * 5_000, tier="core")
        path = f"/v1/memories/{made['id']}"
        api.put(path, {"tier": "long"})
        remembered(api, "b" * 5_000, tier="core")
        assert api.post(f"{path}/restore", {"version": 1}, headers={"If-Match": '"1"'}).status_code == 412
        assert api.post(f"{path}/restore", {"version": 1}).json()["error"] == "core_full"
