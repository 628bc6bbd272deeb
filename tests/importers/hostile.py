"""The worst files that could be uploaded: damaged, disguised, oversized and malicious ones, each with its name."""

from __future__ import annotations

import io
import json
import stat
import zipfile
from collections.abc import Callable
from itertools import pairwise

from tests.importers import files
from tests.importers.files import chatgpt_conversation, claude_conversation, dumped, spoken, zipped


def linked() -> bytes:
    """Return a zip with a symbolic link beside a note."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("secrets.md")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("note.md", "I live in Bonn.")
    return buffer.getvalue()


def named(name: str) -> bytes:
    """Return a zip whose only member has this name, whatever it leads to."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        member = zipfile.ZipInfo("x")
        member.filename = name
        archive.writestr(member, "I live in Bonn.")
    return buffer.getvalue()


def encrypted() -> bytes:
    """Return a zip that says that its member is encrypted."""
    content = bytearray(zipped({"a.json": b"[]"}))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


def crowded(count: int) -> bytes:
    """Return a zip of so many empty members, written by hand: zipfile would take minutes."""
    name = b"%07d.md"
    local = b"PK\x03\x04" + bytes(22) + (10).to_bytes(2, "little") + bytes(2)
    entry = b"PK\x01\x02" + bytes(24) + (10).to_bytes(2, "little") + bytes(16)
    members = b"".join(local + name % n for n in range(count))
    directory = b"".join(entry + name % n for n in range(count))
    end = b"PK\x05\x06" + bytes(4) + (min(count, 65_535)).to_bytes(2, "little") * 2
    return (
        members + directory + end + len(directory).to_bytes(4, "little") + len(members).to_bytes(4, "little") + bytes(2)
    )


def unfolding() -> str:
    """Return YAML in which each line holds the one before it eight times."""
    lines = ["a: &a [x, x, x, x, x, x, x, x]\n"]
    for last, name in pairwise("abcdefghijklm"):
        lines.append(f"{name}: &{name} [{', '.join([f'*{last}'] * 8)}]\n")
    return "".join(lines)


def nested(depth: int) -> str:
    """Return a JSON list in a list in a list."""
    return "[" * depth + "]" * depth


CONVERSATION = chatgpt_conversation()
ODD_TIMES = [
    "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2025-13-45", "1e400", "", " ", -1, 1e300, 10**30, True,
    {}, [], "٢٠٢٥-٠١-٠١", 253402300800, "2025-01-01T00:00:00+99:99",
]  # fmt: skip
MEM0_OF_EVERY_TIME = {"results": [{"memory": f"Fact {n}", "created_at": at} for n, at in enumerate(ODD_TIMES)]}

FILES: dict[str, Callable[[], bytes]] = {
    "white space": lambda: b" \n\t\r\n",
    "a byte order mark alone": lambda: b"\xef\xbb\xbf",
    "a UTF-16 mark alone": lambda: b"\xff\xfe",
    "half a UTF-16 character": lambda: b"\xff\xfeI\x00 \x00\xd8",
    "zeros": lambda: bytes(10_000),
    "Latin letters": lambda: "Das Café öffnet früh\n".encode("latin-1"),
    "noise": lambda: bytes(range(256)) * 200,
    "a picture": lambda: b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
    "null titles and missing times": lambda: dumped(
        [chatgpt_conversation(title=None, create_time=None, update_time=None, id=None, conversation_id=None)]
    ),
    "odd times": lambda: dumped(MEM0_OF_EVERY_TIME),
    "odd times of conversations": lambda: dumped(
        [chatgpt_conversation(id=str(n), conversation_id=str(n), create_time=at) for n, at in enumerate(ODD_TIMES)]
    ),
    "odd times of messages": lambda: dumped(
        [claude_conversation(uuid=str(n), chat_messages=[{"sender": "human", "text": "Hi", "created_at": at}])
         for n, at in enumerate(ODD_TIMES)]
    ),
    "bad UTF-8": lambda: b'[{"memory": "caf\xe9 \xc3\x28 \xf0\x9f\x92"}]',
    "bad UTF-8 as text": lambda: b"- caf\xe9\n- \xc3\x28\n",
    "UTF-8 with a mark": lambda: b"\xef\xbb\xbf" + dumped(files.MEM0),
    "UTF-16": lambda: dumped(files.MEM0).decode().encode("utf-16"),
    "UTF-16 table": lambda: "text,tags\nLikes tea,drinks\n".encode("utf-16"),
    "UTF-32": lambda: dumped(files.MEM0).decode().encode("utf-32"),
    "lines of Windows": lambda: files.CSV.replace(b"\n", b"\r\n"),
    "lines of an old Macintosh": lambda: b"text,tags\rLikes tea,drinks\rLikes hills,\r",
    "lone surrogates": lambda: b'[{"memory": "half \\ud83d", "id": "\\udc00", "user_id": "\\ud800"}]',
    "NUL in every field": lambda: dumped(
        [{"memory": "a\x00b", "id": "\x00", "user_id": "\x00", "categories": ["\x00"]}]
    ),
    "no numbers": lambda: b'[{"text": "a", "x": NaN, "y": Infinity, "z": -Infinity}]',
    "numbers beyond a float": lambda: b'[{"text": "a", "x": 1e999, "y": -1e999}]',
    "no numbers, one a line": lambda: b'{"text": "a", "x": NaN}\n{"text": "b", "x": 1e999}\n',
    "numbers beyond 64 bits": lambda: dumped([{"text": "a", "x": 2**63, "y": -(2**200), "id": 2**70}]),
    "a number of five thousand digits": lambda: b'[{"text": "a", "x": ' + b"9" * 5_000 + b"}]",
    "a number of a million digits": lambda: b'[{"text": "a"}, ' + b"9" * 1_000_000 + b"]",
    "a key twice": lambda: b'[{"memory": "one", "memory": "two"}]',
    "a list twice": lambda: b'{"memories": [{"content": "a"}], "memories": [{"content": "b"}]}',
    "deep in a field": lambda: f'[{{"text": "a", "deep": {nested(900)}}}]'.encode(),
    "deeper than can be read": lambda: f'[{{"text": "a", "deep": {nested(100_000)}}}]'.encode(),
    "deep in a line": lambda: f'{{"text": "a", "deep": {nested(900)}}}\n{{"text": "b"}}\n'.encode(),
    "deep in an OMP export": lambda: (
        f'{{"memories": [{{"content": "a", "metadata": {{"d": {nested(900)}}}}}]}}'.encode()
    ),
    "nothing but brackets": lambda: b"[" * 300_000,
    "a string that never ends": lambda: b'["' + b"x" * 1_000_000,
    "JSON that ends early": lambda: dumped([CONVERSATION, CONVERSATION])[:-50],
    "JSON with more behind it": lambda: dumped([CONVERSATION]) + b"]]",
    "things of every kind in a list": lambda: b'[null, true, 1, "text", [], {}, [1], {"text": null}, {"text": {}}]',
    "things of every kind in an OMP export": lambda: b'{"memories": [null, true, 1, "a", [], {}, {"content": 5}]}',
    "messages of every kind": lambda: dumped(
        [claude_conversation(chat_messages=[None, 1, "x", [], {}, {"sender": 5, "text": 7}, {"content": {"a": 1}}])]
    ),
    "a mapping of every kind": lambda: dumped(
        [chatgpt_conversation(mapping={"a": None, "b": 1, "c": {"message": [], "children": 5, "parent": {}}},
                              current_node=["c"])]
    ),
    "blocks of every kind": lambda: dumped(
        {"agents": [None, {"messages": [None, 5, {"role": "user", "content": 5}], "memory": [], "name": 5}],
         "blocks": [None, {"label": None, "value": {}}], "passages": [{"text": []}], "tools": [{"name": "x"}]}
    ),
    "facts of every kind": lambda: dumped(
        {"edges": [None, {"fact": None}, {"fact": 5}, {"uuid": 1}], "messages": [{"content": []}, {"role": {}}],
         "x": [1]}
    ),
    "documents of every kind": lambda: dumped(
        {"memories": [None, {"memoryEntries": [None, {"memory": 5}]}, {"containerTags": {}, "content": "a"}],
         "y": {"z": 1}}
    ),
    "columns without a name": lambda: b",,,\n1,2,3,4\n",
    "a column twice": lambda: b"text,text,text\na,b,c\n",
    "a quote that never closes": lambda: b'text\n"' + b"xyz\n" * 262_200,
    "a field of two megabytes": lambda: b"text,tags\n" + b"x" * 2_000_000 + b",a\nok,b\n",
    "a row of a hundred thousand fields": lambda: b"text\n" + b"," * 100_000 + b"x\n",
    "a line of a megabyte": lambda: b"- " + b"word " * 215_000,
    "a fence that never closes": lambda: b"# T\n\n```\n" + b"x = 1\n" * 10_000,
    "a head that never ends": lambda: b"---\n" + (b"title: " + b"x" * 93 + b"\n") * 700,
    "a head that unfolds to gigabytes": lambda: f"---\n{unfolding()}---\nText\n".encode(),
    "a head with dates that are none": lambda: b"---\ntitle: 2025-02-30\ncreated: 2025-99-99\ntags: 5\n---\nText\n",
    "headings alone": lambda: b"# A\n## B\n### C\n",
    "lines drawn alone": lambda: b"---\n***\n===\n",
    "text that begins like a zip": lambda: b"PK is what my friends call me.\n",
    "a zip in a zip": lambda: zipped({"inner.zip": zipped({"a.md": b"Text"}), "b.md": b"Text"}),
    "a zip that is cut off": lambda: zipped({"a.json": dumped([CONVERSATION] * 50)})[:-200],
    "the beginning of a zip": lambda: b"PK\x03\x04" + bytes(100),
    "a zip with a byte changed": lambda: damaged(zipped({"a.md": b"I live in Bonn. " * 500, "b.md": b"I like tea."})),
    "an encrypted zip": encrypted,
    "links in a zip": linked,
    "a path out of a zip": lambda: named("../../etc/cron.d/x.md"),
    "an absolute path in a zip": lambda: named("/etc/passwd.md"),
    "a drive in a zip": lambda: named("C:\\x.md"),
    "a name of a zip that is none": lambda: named("\x00\x1b[2J\n.md"),
    "the same name twice in a zip": lambda: zipped_twice(),
    "a zip bomb": lambda: zipped({"conversations.json": b" " * 20_000_000}),
    "a million empty files in a zip": lambda: crowded(1_000_000),
    "twenty thousand empty files in a zip": lambda: crowded(20_001),
    "a zip of nothing": lambda: zipped({}),
    "a zip of pictures": lambda: zipped({"a.png": b"PNG", "b.jpg": b"JPG"}),
    "wrong endings in a zip": lambda: zipped(
        {"a.csv": dumped(files.MEM0), "b.json": b"# Title\n\nText\n", "c.md": files.CSV, "d.jsonl": b"\x89PNG",
         "e.txt": b""}
    ),
    "an archive with a manifest that is none": lambda: zipped({"manifest.json": b"[" * 100_000, "a.md": b"Text"}),
    "an archive without its files": lambda: zipped(
        {"manifest.json": json.dumps({"format": "commonplace-space", "format_version": 1, "id": "x", "space": {},
                                      "files": {}}).encode()}
    ),
    "an archive of rows that are none": lambda: zipped(
        {"manifest.json": json.dumps({"format": "commonplace-space", "format_version": 1, "id": "y", "space": {},
                                      "files": {}}).encode(),
         "memories.ndjson": b'null\n{}\n{"id": 5}\nnot json\n\xff\n', "conversations.ndjson": b'{"id": "conv_1"}\n'}
    ),
    "hidden and spoken by tools alone": lambda: dumped(
        [chatgpt_conversation(mapping={"a": {"message": spoken("a", "tool", "x"), "children": [], "parent": None}},
                              current_node="a")]
    ),
}  # fmt: skip


def damaged(content: bytes) -> bytes:
    """Return a zip of which one byte in the first member's packed text is another."""
    place = content.index(b"a.md") + 20
    return content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]


def zipped_twice() -> bytes:
    """Return a zip that holds two files of one name."""
    first = zipped({"a.md": b"One", "b.md": b"Two"})
    return first.replace(b"b.md", b"a.md")
