"""Notes, plain text and tables: files that people write themselves."""

from __future__ import annotations

import pytest

from api.errors import Invalid
from memories.importers import Broken, Report
from memories.schemas import MAX_CONTENT
from tests.importers import files
from tests.importers.files import dumped, zipped
from tests.importers.reading import faults, read, texts


class TestNotes:
    def test_basic_memory_observations_relations_and_prose(self) -> None:
        records = read(files.BASIC)

        assert texts(records) == [
            "I brew coffee every morning.", "Coffee Brewing: Pour over gives more clarity (from experience)",
            "Coffee Brewing: Ethiopian beans", "Coffee Brewing relates to Coffee Origins", "[ ] buy a new grinder",
        ]  # fmt: skip
        assert records[1]["tags"] == ["coffee", "morning", "method", "brewing"]
        assert {record["subject"] for record in records} == {"Coffee Brewing"}
        assert {record["created_at"] for record in records} == {"2025-01-02T08:30:00Z"}
        assert len({record["id"] for record in records}) == 5

    @pytest.mark.parametrize(
        "head", ["a: [", "- x", "a: &x [1]\nb: *x", "title: 5\ntags: {a: b}", "!!python/object:x {}"]
    )
    def test_a_broken_head_spoils_no_note(self, head: str) -> None:
        assert "The text." in texts(read(f"---\n{head}\n---\nThe text.\n".encode(), "basic-memory"))

    def test_markdown_is_a_memory_a_paragraph_and_item(self) -> None:
        records = read(files.MARKDOWN)

        assert texts(records) == [
            "I live in Bonn.\nI moved there in 2020.", "I write Python", "I lead\na small team",
            "```\ncode is kept\n```",
        ]  # fmt: skip
        assert [record["subject"] for record in records] == ["About me", "Work", "Work", "Work"]

    def test_a_text_too_long_for_a_memory_becomes_several(self) -> None:
        text = " ".join(f"word{n}" for n in range(5_000))

        records = read(text.encode(), "markdown")

        assert len(records) > 1
        assert max(map(len, texts(records))) <= MAX_CONTENT
        assert " ".join(texts(records)) == text
        assert len({record["id"] for record in records}) == len(records)

    def test_a_folder_of_notes_in_a_zip(self) -> None:
        report = Report()
        content = zipped(
            {
                "vault/coffee.md": files.BASIC, "vault/.obsidian/app.json": b"{}", "vault/cat.png": b"PNG",
                "__MACOSX/vault/._coffee.md": b"x",
            }
        )  # fmt: skip

        records = read(content, "zip", report)

        assert len(records) == 5
        assert report.ignored == ["__MACOSX/vault/._coffee.md", "vault/.obsidian/app.json", "vault/cat.png"]


class TestTables:
    def test_csv_with_a_mark_semicolons_and_its_own_names(self) -> None:
        first, second = read(files.CSV)

        assert (first["content"], first["tags"], first["namespace"]) == ("Likes tea", ["drinks", "hot"], "home")
        assert first["created_at"] == "2025-01-05T00:00:00Z"
        assert second["content"] == "Two\nlines"

    def test_csv_without_a_column_of_text_is_refused(self) -> None:
        with pytest.raises(Invalid):
            read(b"a,b\n1,2\n", "csv")

    def test_csv_rows_that_cannot_be_read_are_reported(self) -> None:
        records = read(b'text,tags\nok,\na,b,c\n,x\n"open\n', "csv")

        assert texts(records) == ["ok", "open"]
        assert len(faults(records)) == 2

    def test_json_lines(self) -> None:
        memory, fault, talk = read(files.JSONL)

        assert (memory["content"], memory["tags"]) == ("Likes tea", ["drinks"])
        assert isinstance(fault, Broken)
        assert talk.messages == [{"role": "user", "content": "Hi"}]

    def test_objects_with_an_omp_id_keep_it(self) -> None:
        [record] = read(dumped([{"id": "mem_0123456789abcdef", "content": "a", "source": {"tool": "x"}}]))

        assert (record["id"], record["source"]["tool"]) == ("mem_0123456789abcdef", "x")
