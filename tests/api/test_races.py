"""What happens when many do the same at once."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

import memories.views
from tests.factories import People, memory_body
from tests.races import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_20_parallel_identical_idempotent_posts_make_one_row(people: People) -> None:
    headers = {"Idempotency-Key": "the-same"}

    def post(_: int) -> Any:
        return people.api().post("/v1/memories", memory_body(), headers=headers)

    answers = at_once(20, post)
    statuses = Counter(answer.status_code for answer in answers)  # type: ignore[union-attr]
    made = {answer.json()["id"] for answer in answers if answer.status_code == 201}  # type: ignore[union-attr]

    assert set(statuses) <= {201, 409}
    assert len(made) == 1
    assert people.api().get("/v1/memories").json()["total"] == 1
    assert people.api().post("/v1/memories", memory_body(), headers=headers).json()["id"] in made


@pytest.mark.parametrize(
    ("path", "body", "inside"),
    [
        ("/v1/memories", memory_body(), "memory_create"),
        ("/v1/memories/search", {"q": "dark"}, "search_memories"),
    ],
)
def test_a_repetition_while_the_first_request_runs_is_in_progress(
    people: People, monkeypatch: pytest.MonkeyPatch, path: str, body: dict[str, Any], inside: str
) -> None:
    original, repetitions = getattr(memories.views, inside), []

    def post(_: int = 0) -> Any:
        return people.api().post(path, body, headers={"Idempotency-Key": "slow"})

    def slow(*args: Any, **kwargs: Any) -> Any:
        repetitions.extend(at_once(1, post))
        return original(*args, **kwargs)

    monkeypatch.setattr(memories.views, inside, slow)
    first = post()

    assert first.status_code in {200, 201}
    assert [(answer.status_code, answer.json()["error"]) for answer in repetitions] == [
        (409, "idempotency_in_progress")
    ]
    assert post().headers["Idempotency-Replayed"] == "true"
    assert len(repetitions) == 1


def test_of_20_parallel_puts_with_one_etag_one_is_200_and_19_are_412(people: People) -> None:
    path = f"/v1/memories/{people.api().created()['id']}"

    def put(number: int) -> int:
        response = people.api().put(path, {"content": f"Change {number}"}, headers={"If-Match": '"1"'})
        return int(response.status_code)

    assert Counter(at_once(20, put)) == {200: 1, 412: 19}
    assert people.api().get(path).headers["ETag"] == '"2"'


def test_parallel_changes_of_different_fields_lose_nothing(people: People) -> None:
    path = f"/v1/memories/{people.api().created()['id']}"
    changes: list[dict[str, Any]] = [
        {"content": "New"},
        {"tags": ["new"]},
        {"namespace": "new"},
        {"metadata": {"a": 1}},
    ]

    statuses = at_once(4, lambda number: people.api().put(path, changes[number]).status_code)

    body = people.api().get(path).json()
    assert statuses == [200] * 4
    assert (body["content"], body["tags"], body["namespace"], body["metadata"]) == ("New", ["new"], "new", {"a": 1})


def test_parallel_deletes_answer_one_204(people: People) -> None:
    path = f"/v1/memories/{people.api().created()['id']}"

    assert Counter(at_once(8, lambda _: people.api().delete(path).status_code)) == {204: 1, 404: 7}


def test_parallel_imports_of_one_file_store_each_memory_once(people: People) -> None:
    document = {"memories": [memory_body(id=f"same-{number}") for number in range(50)]}

    answers = at_once(4, lambda _: people.api().post("/v1/import", document).json())

    assert sorted(answer["imported"] for answer in answers) == [0, 0, 0, 50]  # type: ignore[index]
    assert people.api().get("/v1/memories").json()["total"] == 50


@pytest.mark.parametrize("sort", ["created_at_desc", "created_at_asc"])
def test_a_pager_sees_every_surviving_row_once_while_others_write(people: People, sort: str) -> None:
    api = people.api()
    ids = [api.created(content=f"Fact {number}")["id"] for number in range(40)]
    doomed = set(ids[5::7])

    seen: list[str] = []
    url = f"/v1/memories?limit=6&sort={sort}"
    while url:
        response = api.get(url)
        seen += [memory["id"] for memory in response.json()["memories"]]
        link = re.match(r'<http://testserver(.+)>; rel="next"', response.headers.get("Link", ""))
        url = link[1] if link else ""
        api.created(content="Inserted meanwhile")
        if doomed:
            api.delete(f"/v1/memories/{doomed.pop()}")

    survivors = {memory["id"] for memory in api.get("/v1/memories", limit=100).json()["memories"]}
    assert len(seen) == len(set(seen))
    assert set(ids) & survivors <= set(seen)
