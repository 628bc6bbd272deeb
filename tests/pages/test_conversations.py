"""The pages of conversations: what is listed, which turn a memory comes from, and both ways to delete."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection

from accounts.access import Access, space_transaction
from api.schemas import parse
from conversations.models import Conversation
from conversations.schemas import ConversationCreate
from conversations.services import conversation_save, extracted_from, transcript_of
from memories.models import Memory
from memories.schemas import MemoryCreate
from memories.services import memory_create
from tests.pages.team import Team

TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "  My sister lives in Lyon. "},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "And I eat no nuts."},
]


def stored(access: Access, **changes: Any) -> Conversation:
    """Return a stored conversation."""
    with space_transaction(access):
        data = parse(ConversationCreate, {"model": "claude", "messages": TALK} | changes)
        return conversation_save(access=access, data=data)[0]


def taken(access: Access, conversation: Conversation, words: str, text: str) -> Memory:
    """Return a memory that was taken from the place of the transcript where these words stand."""
    start = transcript_of(conversation.messages).index(words)
    with space_transaction(access):
        body = {"content": text, "type": "semantic", "source": {"tool": "claude"},
                "source_ref": f"{conversation.id}#{start}-{start + len(words)}"}  # fmt: skip
        return memory_create(access=access, data=MemoryCreate.model_validate(body))


def test_memory_stands_beside_the_turn_that_it_comes_from(team: Team) -> None:
    access = Access.system(team.space.pk)
    conversation = stored(access)
    first = taken(access, conversation, "My sister", "The sister lives in Lyon")
    last = taken(access, conversation, "no nuts", "Eats no nuts")

    html = team.client("viewer").get(f"/conversations/{conversation.id}").content.decode()

    shown = dict(re.findall(r'id="turn-(\d)"(.*?)</li>', html, re.DOTALL))
    assert [number for number, part in shown.items() if "Remembered:" in part] == ["2", "4"]
    assert f"/memories/{first.id}" in shown["2"]
    assert f"/memories/{last.id}" in shown["4"]
    assert "Be brief." in shown["1"]
    assert "2 memories were taken from it" in html
    memory = team.client("viewer").get(f"/memories/{first.id}").content.decode()
    assert f"/conversations/{conversation.id}" in memory


def test_long_conversation_is_read_in_parts(team: Team) -> None:
    talk = [{"role": "user", "content": f"Word number {number}."} for number in range(250)]
    conversation = stored(Access.system(team.space.pk), messages=talk)
    client = team.client("viewer")

    def numbers(query: str) -> tuple[int, int, list[str]]:
        html = client.get(f"/conversations/{conversation.id}{query}").content.decode()
        found = [int(number) for number in re.findall(r"Word number (\d+)\.</div>", html)]
        return found[0], found[-1], re.findall(r'href="\?from=(\d+)"', html)

    assert numbers("") == (0, 99, ["101"])
    assert numbers("?from=101") == (100, 199, ["1", "201"])
    assert numbers("?from=99999") == (200, 249, ["101"])
    for nonsense in ("?from=-3", "?from=x", "?from=0"):
        assert numbers(nonsense)[0] == 0


def test_list_is_paged_and_narrowed_by_model(team: Team) -> None:
    access = Access.system(team.space.pk)
    for number in range(35):
        stored(access, model="chatgpt" if number % 2 else "claude", topic=f"Talk {number:02}")
    client = team.client("viewer")

    def topics(html: str) -> list[str]:
        return re.findall(r">(Talk \d\d)<", html)

    first = client.get("/conversations").content.decode()
    older = re.search(r'href="(\?cursor=[^"]+)">Older', first)
    assert older
    second = client.get("/conversations" + older.group(1)).content.decode()
    assert topics(first) + topics(second) == [f"Talk {number:02}" for number in range(34, -1, -1)]
    narrowed = topics(client.get("/conversations?model=chatgpt").content.decode())
    assert narrowed == [f"Talk {number:02}" for number in range(33, 0, -2)]
    assert client.get("/conversations?cursor=nonsense").status_code == 422


@pytest.mark.parametrize("everything", [True, False])
def test_deleted_with_or_without_its_memories(team: Team, everything: bool) -> None:
    access = Access.system(team.space.pk)
    conversation = stored(access)
    taken(access, conversation, "Lyon", "The sister lives in Lyon")
    client = team.client("member")
    path = f"/conversations/{conversation.id}/delete"

    asked = client.get(path).content.decode()
    assert client.post(path).status_code == 422
    answer = client.post(path, {"delete": "all" if everything else "alone"})

    assert "1 memory was taken from it" in asked
    assert answer.headers["Location"] == "/conversations"
    with space_transaction(access):
        assert not Conversation.objects.visible_to(access).filter(id=conversation.id).exists()
        assert extracted_from(access, conversation.id).exists() is not everything


@pytest.mark.django_db
def test_memories_of_a_conversation_are_found_by_an_index(team: Team) -> None:
    access = Access.system(team.space.pk)
    with space_transaction(access), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        plan = extracted_from(access, "conv_0000000000000000").explain()

    assert "memories_memory_conversation" in plan
