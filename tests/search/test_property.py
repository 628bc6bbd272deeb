"""Random histories against a brute-force model: nothing forbidden, deleted, expired or stale is ever found."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.access import Access, space_transaction
from aiworker.embedding.registry import provider_for
from memories.analysis import tokens
from memories.keyword import analyse
from memories.models import Memory
from memories.services import memories_delete, memory_change
from tests.factories import memory_make
from tests.search.support import MODES, embed_everything, search

pytestmark = pytest.mark.django_db
WORDS = [
    "apple",
    "apples",
    "pear",
    "garden",
    "gardening",
    "cat",
    "foo_bar",
    "foo",
    "记忆",
    "忆服",
    "zebra",
    "the",
    "🎉",
]
TOOLS, TYPES, TAGS = ["claude", "cursor"], ["semantic", "episodic"], ["x", "y"]

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
chances = st.fixed_dictionaries(
    {
        "content": texts,
        "type": st.sampled_from(TYPES),
        "source": st.sampled_from(TOOLS).map(lambda tool: {"tool": tool}),
        "tags": st.lists(st.sampled_from(TAGS), unique=True),
        "namespace": st.sampled_from([None, "a", "b"]),
        "metadata": st.sampled_from([{}, {"k": 1}, {"k": "a", "l": 2}]),
    }
)
limits = st.fixed_dictionaries(
    {
        "read_tools": st.sampled_from([None, frozenset({"claude"}), frozenset()]),
        "namespaces": st.sampled_from([None, frozenset({"a"}), frozenset({"a", "b"})]),
        "types": st.sampled_from([None, frozenset({"semantic"})]),
    }
)
# A bound names the memory whose time it is.
filters = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(TYPES),
        "tool": st.sampled_from(TOOLS),
        "tags": st.lists(st.sampled_from(TAGS), min_size=1, unique=True),
        "namespace": st.sampled_from(["a", "b"]),
        "metadata": st.sampled_from([{"k": 1}, {"k": "a"}]),
        "created_after": st.integers(0, 9),
        "updated_before": st.integers(0, 9),
    },
)
questions = st.tuples(limits, filters, texts)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("create"), chances),
        st.tuples(st.just("edit"), st.tuples(st.integers(0, 9), texts)),
        st.tuples(st.just("retag"), st.tuples(st.integers(0, 9), st.lists(st.sampled_from(TAGS), unique=True))),
        st.tuples(st.just("expire"), st.integers(0, 9)),
        st.tuples(st.just("delete"), st.integers(0, 9)),
        st.tuples(st.just("embed"), st.none()),
        st.tuples(st.just("search"), questions),
    ),
    min_size=1,
    max_size=12,
)


def run(access: Access, history: list[Any]) -> list[Memory]:
    """Do the steps, and return the memories that are left. Searches in between see what is there at that time."""
    alive: list[Memory] = []
    for kind, value in history:
        if kind == "create":
            alive.append(memory_make(access, **value))
        elif kind == "embed":
            embed_everything()
        elif kind == "search":
            check(access, alive, *value, embedded=False)
        elif alive:
            index = value if isinstance(value, int) else value[0]
            memory = alive[index % len(alive)]
            with space_transaction(access):
                if kind == "delete":
                    memories_delete(access=access, memories=[memory])
                    alive.remove(memory)
                elif kind == "expire":
                    past = timezone.now() - timedelta(days=1)
                    memory_change(access=access, memory=memory, changes={"expires_at": past})
                else:
                    name = "content" if kind == "edit" else "tags"
                    memory_change(access=access, memory=memory, changes={name: value[1]})
    return alive


def allowed(memory: Memory, access: Access, wanted: dict[str, Any]) -> bool:
    """Say by brute force whether a memory may be found."""
    return (
        (memory.expires_at is None or memory.expires_at > timezone.now())
        and (access.read_tools is None or memory.source_tool in access.read_tools)
        and (access.namespaces is None or memory.namespace in access.namespaces)
        and (access.types is None or memory.type in access.types)
        and wanted.get("type") in (None, memory.type)
        and wanted.get("tool") in (None, memory.source_tool)
        and wanted.get("namespace") in (None, memory.namespace)
        and set(wanted.get("tags", [])) <= set(memory.tags)
        and wanted.get("metadata", {}).items() <= memory.metadata.items()
        and ("created_after" not in wanted or memory.created_at > wanted["created_after"])
        and ("updated_before" not in wanted or memory.updated_at < wanted["updated_before"])
    )


def bounded(wanted: dict[str, Any], alive: list[Memory]) -> dict[str, Any]:
    """Put the time of a memory where a filter names one."""
    found = dict(wanted)
    for name, attribute in (("created_after", "created_at"), ("updated_before", "updated_at")):
        if name in found:
            number = found.pop(name)
            if alive:
                found[name] = getattr(alive[number % len(alive)], attribute)
    return found


def matches(memory: Memory, q: str, words: set[str]) -> bool:
    """Say by brute force whether any word of the query is in a memory, or inside of a long word or identifier."""
    own = {form for token in tokens(memory.content) for form in (token.word, token.stem)}
    own |= {form for tag in memory.tags for token in tokens(tag) for form in (token.word, token.stem)}
    for lexeme in analyse(q, "en").lexemes:
        if lexeme.text in own:
            return True
        inside = lexeme.is_identifier or lexeme.text not in words
        if (
            inside
            and lexeme.grams
            and any(lexeme.text in token.word for token in tokens(memory.content) if token.grams)
        ):
            return True
    return False


def check(
    writer: Access, alive: list[Memory], limit: dict[str, Any], filters: dict[str, Any], q: str, *, embedded: bool
) -> None:
    """Search in all modes and compare with what is there; ``embedded`` says that nothing waits for its vectors."""
    access, wanted = replace(writer, **limit), bounded(filters, alive)
    visible = {memory.id: memory for memory in alive if allowed(memory, access, wanted)}
    words = {
        form
        for memory in alive
        if memory.expires_at is None or memory.expires_at > timezone.now()
        for text in [memory.content, *memory.tags]
        for token in tokens(text)
        for form in (token.word, token.stem)
    }
    should = {memory_id for memory_id, memory in visible.items() if matches(memory, q, words)}

    keyword = search(access, q, "keyword", 100, **wanted)
    assert {hit.memory_id for hit in keyword.hits} == should
    assert keyword.total == len(should)
    assert search(access, q, "keyword", 1, **wanted).total == len(should)

    meaning = search(access, q, "semantic", 100, **wanted)
    if meaning.mode_used == "semantic":
        model = provider_for("bge-small-en-v1.5")
        query = model.embed_query(q)
        expected = {
            memory_id: float(query @ model.embed_documents([memory.content])[0])
            for memory_id, memory in visible.items()
        }
        scores = {hit.memory_id: hit.score for hit in meaning.hits}
        assert scores.keys() <= expected.keys()
        assert not embedded or scores.keys() == expected.keys()
        assert scores == pytest.approx({key: expected[key] for key in scores}, abs=2e-3), "of an older text"
        assert np.all(np.diff([hit.score for hit in meaning.hits]) <= 1e-9)
    else:
        assert not embedded or not alive
        assert {hit.memory_id for hit in meaning.hits} == should

    hybrid = search(access, q, "hybrid", 100, **wanted)
    assert should <= {hit.memory_id for hit in hybrid.hits} <= visible.keys()
    if embedded:
        for mode in MODES:
            assert search(access, q, mode, 100, **wanted) == search(access, q, mode, 100, **wanted)


@given(history=steps, question=questions)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_mode_finds_what_it_should_and_nothing_else(people: Any, history: list[Any], question: Any) -> None:
    with transaction.atomic():
        writer = people.access()
        alive = run(writer, history)
        embed_everything()
        check(writer, alive, *question, embedded=True)
        transaction.set_rollback(True)
