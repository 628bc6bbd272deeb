"""Each format's reader, over files in the products' documented shapes and over broken ones."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import pytest

from memories.importers import Broken, Report, format_of, streams
from memories.importers.records import Talk, pieces_of, time_of
from tests.importers import files
from tests.importers.files import chatgpt_conversation, claude_conversation, dumped, node, spoken, zipped
from tests.importers.reading import read, texts


@pytest.mark.parametrize(
    ("content", "format"),
    [
        (dumped([chatgpt_conversation()]), "chatgpt"),
        (dumped([claude_conversation()]), "claude"),
        (dumped([{"conversations_memory": "x", "account_uuid": "a"}]), "claude-memories"),
        (files.CLAUDE_MEMORY.encode(), "claude-memory"),
        (files.SAVED, "chatgpt-memory"),
        (dumped(files.MEM0), "mem0"),
        (dumped(files.MEM0["results"]), "mem0"),
        (dumped(files.LETTA), "letta"),
        (dumped(files.LETTA_OLD), "letta"),
        (dumped(files.ZEP), "zep"),
        (dumped(files.ZEP_SESSION), "zep"),
        (dumped(files.SUPERMEMORY), "supermemory"),
        (files.BASIC, "basic-memory"),
        (files.MARKDOWN, "markdown"),
        (files.CSV, "csv"),
        (files.JSONL, "jsonl"),
        (b'{"text": "a"}\n{"text": "b"}\n', "jsonl"),
        (b'{"omp_version": "0.1"}\n{"content": "a"}\n', "ndjson"),
        (dumped({"omp_version": "0.1", "memories": [{"id": "x", "content": "a"}]}), "omp"),
        (dumped({"memories": [{"content": "a", "type": "semantic"}]}), "omp"),
        (dumped([{"note": "a"}]), "json"),
        (zipped({"conversations.json": b"[]"}), "zip"),
        (dumped([chatgpt_conversation()]).decode().encode("utf-16"), "chatgpt"),
    ],
)
def test_finds_out_the_format(content: bytes, format: str) -> None:
    assert format_of(io.BytesIO(content)) == format


class TestChatGPT:
    def test_keeps_the_branch_that_was_seen_last(self) -> None:
        [talk] = read(dumped([chatgpt_conversation()]))

        assert (talk.id, talk.model, talk.topic) == ("chatgpt:8f3a2b1c-0000", "chatgpt", "Deploying")
        assert [(message["role"], message["content"]) for message in talk.messages] == [
            ("user", "How do I deploy?\n\n[image]"), ("assistant", "With Docker Compose."),
        ]  # fmt: skip
        assert talk.created_at == datetime(2024, 2, 1, tzinfo=UTC)
        assert talk.url == "https://chatgpt.com/c/8f3a2b1c-0000"

    def test_lives_with_null_titles_missing_times_and_no_current_node(self) -> None:
        bare = chatgpt_conversation(
            title=None, create_time=None, update_time=None, current_node=None, id=None, conversation_id=None
        )

        [talk] = read(dumped([bare]))

        assert (talk.topic, talk.created_at, len(talk.messages)) == ("", None, 2)
        assert talk.id == read(dumped([bare]))[0].id, "the same file gives the same id"

    def test_a_broken_record_stops_none_of_the_others(self) -> None:
        loop = chatgpt_conversation(mapping={"a": node("a", "a", [], spoken("a", "user", "x"))}, current_node="a")
        odd = chatgpt_conversation(mapping={"a": 1, "b": {"message": "x"}, "c": node("c", None, [], {"content": 3})})
        content = [None, 7, {"title": "x"}, {"mapping": {}}, odd, loop, chatgpt_conversation()]

        records = read(dumped(content), "chatgpt")

        assert len(records) == len(content)
        assert [isinstance(record, Talk) for record in records] == [False] * 5 + [True] * 2

    def test_a_file_that_ends_early_gives_what_came_before(self) -> None:
        content = dumped([chatgpt_conversation(), chatgpt_conversation()])[:-40]

        first, last = read(content, "chatgpt")

        assert isinstance(first, Talk)
        assert isinstance(last, Broken)
        assert "stops being JSON" in str(last.error.envelope())

    def test_bad_utf8_a_mark_and_half_characters_are_repaired(self) -> None:
        raw = dumped([chatgpt_conversation(title="caf\u00e9")]).replace(b"caf\xc3\xa9", b"caf\xe9 \\ud83d \\u0000")
        report = Report()

        [talk] = read(b"\xef\xbb\xbf" + raw, None, report)

        assert talk.topic == "caf\ufffd \ufffd"
        assert report.repaired == 1

    def test_memories_saved_on_the_way_are_memories(self) -> None:
        saved = spoken("b", "assistant", "User likes tea", recipient="bio")
        mapping = {"u": node("u", None, ["b"], spoken("u", "user", "I like tea")), "b": node("b", "u", [], saved)}

        talk, memory = read(dumped([chatgpt_conversation(mapping=mapping, current_node="b")]))

        assert isinstance(talk, Talk)
        assert (memory["content"], memory["source"]["tool"], memory["tags"]) == ("User likes tea", "chatgpt", ["saved"])

    def test_hidden_and_unspoken_messages_are_left_out(self) -> None:
        hidden = spoken("h", "user", "custom instructions", metadata={"is_visually_hidden_from_conversation": True})
        thought = spoken("t", "assistant", content={"content_type": "thoughts", "thoughts": [{"content": "hm"}]})
        mapping = {
            "h": node("h", None, ["t"], hidden), "t": node("t", "h", ["u"], thought),
            "u": node("u", "t", [], spoken("u", "user", "Hello")),
        }  # fmt: skip

        [talk] = read(dumped([chatgpt_conversation(mapping=mapping, current_node="u")]))

        assert [message["content"] for message in talk.messages] == ["Hello"]

    def test_saved_memories_as_text_are_one_a_line(self) -> None:
        records = read(files.SAVED)

        assert texts(records) == ["Likes short answers", "Has a dog named Rex", "Works at Acme"]
        assert records[2]["created_at"] == "2025-01-05T00:00:00Z"


class TestClaude:
    def test_reads_old_and_new_messages(self) -> None:
        [talk] = read(dumped([claude_conversation()]))

        assert (talk.id, talk.topic, talk.url) == (
            "claude:c0ffee00-0000", "Planning", "https://claude.ai/chat/c0ffee00-0000",
        )  # fmt: skip
        assert [message["content"] for message in talk.messages] == ["Plan my week\n\n[file: notes.txt]", "Gladly."]

    def test_lives_with_null_names_and_broken_messages(self) -> None:
        messages = [None, {"sender": "human"}, {"sender": "human", "text": "Hi", "content": "x", "created_at": "no"}]

        records = read(dumped([claude_conversation(name=None, created_at=None, chat_messages=messages), {"uuid": 1}]))

        assert [message["content"] for message in records[0].messages] == ["Hi"]
        assert isinstance(records[1], Broken)

    def test_an_empty_conversation_is_reported(self) -> None:
        [record] = read(dumped([claude_conversation(chat_messages=[])]))

        assert record.id == "claude:c0ffee00-0000"

    def test_memory_text_is_a_memory_a_statement_under_its_heading(self) -> None:
        records = read(files.CLAUDE_MEMORY.encode())

        assert texts(records) == ["Alex builds CLI tools.", "Alex leads a team of 4.", "Has two cats"]
        assert [record["subject"] for record in records] == ["Work context", "Work context", "Personal"]

    def test_the_exports_memories_file(self) -> None:
        item = {"conversations_memory": files.CLAUDE_MEMORY, "project_memories": {"p-1": "Ships in May."}}

        assert len(read(dumped([item]))) == 4


class TestOtherProducts:
    def test_mem0(self) -> None:
        first, second, relation = read(dumped(files.MEM0))

        assert (first["id"], first["content"], first["tags"]) == (
            "mem0:0198-mem0",
            "Likes hiking",
            ["sports", "outdoors"],
        )
        assert (first["created_at"], first["source"]["user_id"]) == ("2025-01-05T16:00:00Z", "alex")
        assert first["metadata"]["category"] == "hobby"
        assert second["expires_at"] == "2030-01-01T00:00:00Z"
        assert relation["content"] == "alex works at acme"

    def test_letta_agent_files(self) -> None:
        records = read(dumped(files.LETTA))

        assert texts(records) == ["Sarah is a product manager.", "Sarah's deadline is in May."]
        [talk] = [record for record in records if isinstance(record, Talk)]
        assert [message["content"] for message in talk.messages] == ["Hi, I am Sarah", "Hello Sarah"]

    def test_letta_older_agent_files(self) -> None:
        block, talk = read(dumped(files.LETTA_OLD))

        assert (block["content"], block["subject"]) == ("I help.", "persona")
        assert len(talk.messages) == 2

    def test_zep_facts_keep_when_they_held(self) -> None:
        works, liked, node_summary = read(dumped(files.ZEP))

        assert (works["content"], works["created_at"]) == ("Kendra works at Acme", "2024-04-01T00:00:00Z")
        assert liked["expires_at"] == "2024-06-01T00:00:00Z"
        assert (node_summary["subject"], node_summary["content"]) == ("Kendra", "Kendra is a runner.")

    def test_zep_sessions_are_conversations(self) -> None:
        fact, talk = read(dumped(files.ZEP_SESSION))

        assert fact["content"] == "Kendra runs on Sundays"
        assert [message["role"] for message in talk.messages] == ["user", "assistant"]

    def test_supermemory(self) -> None:
        kept, forgotten = read(dumped(files.SUPERMEMORY))

        assert (kept["content"], kept["subject"], kept["tags"]) == (
            "We stand up at 9.",
            "Standup",
            ["user_123", "team"],
        )
        assert forgotten.id == "supermemory:sm2"

    @pytest.mark.parametrize("format", ["mem0", "letta", "zep", "supermemory", "json", "claude-memories", "chatgpt"])
    @pytest.mark.parametrize(
        "content",
        [b"", b"[", b"{}", b"[]", b"[1, null, [], {}]", b'{"results": [{"memory": 5}]}', b'[{"memory": null}]',
         b'{"edges": [{"fact": []}], "blocks": [{"label": 1, "value": 2}]}', b"\xff\xfe\x00", b"[" * 5_000],
    )  # fmt: skip
    def test_whatever_is_in_the_file_nothing_breaks(self, format: str, content: bytes) -> None:
        for record in read(content, format):
            assert isinstance(record, Broken | Talk | dict)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1_706_745_600, "2024-02-01T00:00:00+00:00"), (1_706_745_600_000, "2024-02-01T00:00:00+00:00"),
        ("1706745600.0", "2024-02-01T00:00:00+00:00"), ("2024-02-01", "2024-02-01T00:00:00+00:00"),
        ("2024-02-01T01:00:00+01:00", "2024-02-01T00:00:00+00:00"),
        (None, None), (True, None), ("soon", None), (-1, None), (1e300, None), ([], None), ("nan", None), ("inf", None),
    ],
)  # fmt: skip
def test_times_in_every_products_way(value: Any, expected: str | None) -> None:
    found = time_of(value)

    assert (found.isoformat() if found else None) == expected


def test_pieces_lose_nothing() -> None:
    text = "x" * 25_000

    assert "".join(pieces_of(text)) == text


def test_a_file_read_again_gives_the_same_records() -> None:
    samples = [dumped(files.MEM0), dumped(files.LETTA), dumped(files.ZEP), files.BASIC, files.CSV, files.JSONL]

    for sample in samples:
        first, again = read(sample), read(sample)
        assert [record.id if isinstance(record, Talk | Broken) else record for record in first] == [
            record.id if isinstance(record, Talk | Broken) else record for record in again
        ]


LONG = b"x" * (streams.MAX_ITEM_BYTES + 1_000_000)


@pytest.mark.parametrize(
    ("content", "format"),
    [
        (b'[{"memory": "' + LONG + b'"}, {"memory": "ok"}]', "mem0"),
        (b'{"text": "' + LONG + b'"}\n{"text": "ok"}\n', "jsonl"),
    ],
    ids=["item", "line"],
)
def test_what_is_too_long_to_be_held_is_reported_and_stops_nothing(content: bytes, format: str) -> None:
    fault, kept = read(content, format)

    assert "bytes" in str(fault.error.envelope())
    assert kept["content"] == "ok"
