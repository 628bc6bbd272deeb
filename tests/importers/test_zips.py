"""Zips: exports as they are packed, and the dangers that a zip can hold."""

from __future__ import annotations

import io
import zipfile

import pytest
from pytest_django import Settings

from api.errors import ApiError, Invalid, PayloadTooLarge
from memories.importers import Report
from tests.importers.files import chatgpt_conversation, claude_conversation, dumped, zipped
from tests.importers.hostile import crowded, linked
from tests.importers.reading import faults, read, texts


class TestZips:
    def test_an_export_in_its_zip(self) -> None:
        report = Report()
        content = zipped(
            {
                "conversations.json": dumped([chatgpt_conversation()]), "user.json": b"{}", "chat.html": b"<html>",
                "conversations-001.json": dumped([chatgpt_conversation(id="2", conversation_id="2")]),
            }
        )  # fmt: skip

        records = read(content, None, report)

        assert {record.id for record in records} == {"chatgpt:8f3a2b1c-0000", "chatgpt:2"}
        assert report.ignored == ["chat.html", "user.json"]

    def test_one_damaged_file_stops_none_of_the_others(self) -> None:
        content = bytearray(zipped({"a.json": dumped([claude_conversation()]) * 1, "b.md": b"# T\n\nText\n" * 50}))
        content[60:90] = bytes(30)

        records = read(bytes(content), "zip")

        assert len(faults(records)) >= 1
        assert "Text" in texts(records)

    @pytest.mark.parametrize(
        "name", ["../evil.json", "/etc/passwd.json", "a/../../b.json", "C:/x.json", "..\\evil.json", "\\x.json"]
    )
    def test_a_path_that_leads_out_is_refused(self, name: str) -> None:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            info = zipfile.ZipInfo("x")
            info.filename = name
            archive.writestr(info, b"[]")

        with pytest.raises(Invalid):
            read(buffer.getvalue(), "zip")

    def test_a_bomb_by_ratio_is_refused(self) -> None:
        with pytest.raises(PayloadTooLarge):
            read(zipped({"conversations.json": b" " * (11 * 1024 * 1024)}), "zip")

    def test_a_bomb_by_size_is_refused(self, settings: Settings) -> None:
        settings.MAX_IMPORT_BYTES = 1024

        with pytest.raises(PayloadTooLarge):
            read(zipped({f"{n}.json": bytes(10_000) for n in range(3)}), "zip")

    def test_a_member_that_lies_about_its_size_is_cut_off(self) -> None:
        content = zipped({"a.json": dumped([chatgpt_conversation()])})
        real = len(dumped([chatgpt_conversation()])).to_bytes(4, "little")
        lying = content.replace(real, (50).to_bytes(4, "little"))

        records = read(lying, "zip")

        assert len(faults(records)) == len(records) >= 1

    def test_an_encrypted_zip_is_refused(self) -> None:
        content = bytearray(zipped({"a.json": b"[]"}))
        content[content.index(b"PK\x01\x02") + 8] |= 1

        with pytest.raises(Invalid, match="does not fit"):
            read(bytes(content), "zip")

    @pytest.mark.parametrize(
        "content", [b"PK\x03\x04", b"PK\x03\x04" + bytes(100), zipped({}), zipped({"a.png": b"x"})]
    )
    def test_a_zip_with_nothing_in_it_is_refused(self, content: bytes) -> None:
        with pytest.raises(ApiError):
            read(content, "zip")

    def test_many_files_left_aside_are_counted(self) -> None:
        report = Report()

        read(zipped({f"{n:03}.png": b"x" for n in range(130)} | {"a.md": b"Text"}), "zip", report)

        assert len(report.ignored) == 101
        assert report.ignored[-1] == "and 30 more"

    def test_a_zip_in_a_zip_is_named_and_not_opened(self) -> None:
        report = Report()

        read(zipped({"a.zip": zipped({"b.json": b"[]"}), "c.md": b"Text"}), "zip", report)

        assert report.ignored == ["a.zip"]

    def test_a_link_is_named_and_not_followed(self) -> None:
        report = Report()

        assert texts(read(linked(), "zip", report)) == ["I live in Bonn."]
        assert report.ignored == ["secrets.md"]

    def test_a_list_of_a_million_members_is_refused_before_it_is_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(zipfile, "ZipFile", None)

        with pytest.raises(PayloadTooLarge, match="too many"):
            read(crowded(200_000), "zip")
