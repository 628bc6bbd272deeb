"""GET and PATCH /v1/space."""

from __future__ import annotations

from typing import Any

import pytest

from aiworker.embedding.packaged import BgeSmall, E5Small
from memories.model_changes import complete_model_changes
from tests.contract import checked
from tests.factories import People, key_create, member_create
from tests.search.support import embed_everything


def test_shows_the_settings_by_name(people: People) -> None:
    body = checked(people).get("/v1/space").json()

    assert (body["id"], body["name"], body["timezone"], body["language"]) == (str(people.space.pk), "Team", "UTC", "en")


def test_changes_only_what_is_given(people: People) -> None:
    before = people.api().get("/v1/space").json()

    after = checked(people).patch("/v1/space", {"timezone": "Europe/Berlin", "events_kept_days": 30}).json()

    assert after == before | {"timezone": "Europe/Berlin", "events_kept_days": 30}
    assert people.api("member").get("/v1/space").json() == after


@pytest.mark.parametrize(
    "change",
    [
        {"timezone": "Mars/Olympus"},
        {"timezone": "localtime"},
        {"language": "xx"},
        {"events_kept_days": 0},
        {"name": " "},
        {"embedding_model": "voyage:voyage-3.5"},
        {"embedding_model": ""},
        {"nonsense": 1},
    ],
)
def test_refuses_what_does_not_fit(people: People, change: dict[str, Any]) -> None:
    response = checked(people).patch("/v1/space", change)

    assert (response.status_code, list(response.json()["details"]["fields"])) == (422, list(change))


def test_a_member_does_not_change_it(people: People) -> None:
    assert checked(people, "member").patch("/v1/space", {"name": "Mine"}).status_code == 403


def test_a_viewer_reads_and_writes_nothing_even_with_a_full_key(people: People) -> None:
    viewer = member_create(people.space, "viewer@example.com", role="viewer")
    key = key_create(people.space, viewer)
    api = type(people.api())(key)

    assert api.get("/v1/memories").status_code == 200
    assert api.post("/v1/memories", {}).status_code == 403


def test_the_log_names_the_changed_settings(people: People) -> None:
    people.api().patch("/v1/space", {"name": "Crew"})

    event = people.api().get("/v1/events", type="space.updated").json()["events"][0]

    assert event["details"] == {"fields": ["name"]}


def models(people: People) -> tuple[str, str | None]:
    """Return the model that answers, and the one that the space changes to."""
    space = checked(people).get("/v1/space").json()
    return space["embedding_model"], space["next_embedding_model"]


def answers(people: People, q: str) -> tuple[list[str], str]:
    """Return what a search by meaning finds, and how it was made."""
    body = checked(people).post("/v1/memories/search", {"q": q, "mode": "semantic"}).json()
    return [memory["content"] for memory in body["memories"]], body["mode_used"]


def test_another_model_answers_when_it_has_read_everything(people: People) -> None:
    for content in ("Die Katze schläft auf dem Sofa", "Die Steuer ist im Mai fällig"):
        people.api().created(content=content, tags=[])
    embed_everything()

    changed = checked(people).patch("/v1/space", {"embedding_model": E5Small.name}).json()

    assert (changed["embedding_model"], changed["next_embedding_model"]) == (BgeSmall.name, E5Small.name)
    assert answers(people, "the cat sleeps")[1] == "semantic"
    assert models(people) == (BgeSmall.name, E5Small.name)
    embed_everything()
    complete_model_changes()
    assert models(people) == (E5Small.name, None)
    assert answers(people, "where does the cat sleep")[0][0] == "Die Katze schläft auf dem Sofa"
    assert people.api().get("/v1/events", type="space.updated").json()["events"][0]["details"] == {
        "fields": ["embedding_model"]
    }


def test_a_space_without_memories_changes_its_model_as_well(people: People) -> None:
    checked(people).patch("/v1/space", {"embedding_model": E5Small.name})
    people.api().created(content="Die Katze schläft auf dem Sofa")

    embed_everything()
    complete_model_changes()

    assert models(people) == (E5Small.name, None)
    assert answers(people, "cat") == (["Die Katze schläft auf dem Sofa"], "semantic")


def test_a_change_is_taken_back_and_the_same_model_changes_nothing(people: People) -> None:
    api = checked(people)
    before = api.get("/v1/space").json()

    assert api.patch("/v1/space", {"embedding_model": BgeSmall.name}).json() == before
    assert api.get("/v1/events", type="space.updated").json()["events"] == []
    api.patch("/v1/space", {"embedding_model": E5Small.name})
    assert api.patch("/v1/space", {"embedding_model": BgeSmall.name}).json() == before


def test_the_servers_own_model_is_on_offer(people: People, settings: Any) -> None:
    settings.EMBEDDING_MODEL = "voyage:voyage-3.5"

    checked(people).patch("/v1/space", {"embedding_model": E5Small.name})
    assert models(people) == ("voyage:voyage-3.5", E5Small.name)
    checked(people).patch("/v1/space", {"embedding_model": "voyage:voyage-3.5"})

    assert models(people) == ("voyage:voyage-3.5", None)


def test_the_refusal_says_which_models_there_are(people: People) -> None:
    body = checked(people).patch("/v1/space", {"embedding_model": "gpt"}).json()

    assert body["details"]["fields"]["embedding_model"] == [f"Use one of: {BgeSmall.name}, {E5Small.name}."]
