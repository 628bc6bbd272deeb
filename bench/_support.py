"""What the benchmarks share: a service of their own with real servers, collections to search, tables of results."""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
DATA = Path(os.environ.get("OMP_BENCH_DATA", ROOT.parent / "shared" / "data"))
SNOWBALL_OF = {"en": "english", "de": "german", "es": "spanish", "ru": "russian", "ar": "arabic", "hi": "hindi"}


@contextmanager
def service(name: str) -> Iterator[None]:
    """Run a block with Django set up on embedded servers of its own, in OMP_BENCH_DIR (default .data/bench)."""
    folder = Path(os.environ.get("OMP_BENCH_DIR", ROOT / ".data" / "bench")).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    os.environ |= {
        "OMP_DATA_DIR": str(folder),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "OMP_LOG_LEVEL": "WARNING",
        "OMP_RATE_LIMIT": "off",
        "OMP_QUOTAS": "off",
    }
    for variable in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL"):
        os.environ.pop(variable, None)
    from embedded.servers import running

    with running(folder):
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        print(f"# {name}: {machine()}", flush=True)
        yield


def machine() -> str:
    """Describe the machine in one line, with what else it is busy with."""
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, load {load:.1f}"


def noise_ms() -> float:
    """Measure the machine's noise: how much longer the 95th of 100 equal pieces of work takes than the median, ms."""
    taken = []
    for _ in range(100):
        started = time.perf_counter()
        sum(range(60_000))
        taken.append((time.perf_counter() - started) * 1000)
    taken.sort()
    return taken[95] - taken[50]


def space_new(name: str, language: str = "en") -> Any:
    """Create a space with an owner, and give the access of the service's own work in it."""
    from accounts.access import Access
    from accounts.models import User
    from accounts.services import space_create

    owner = User.objects.create_user(f"{name}-{time.time_ns()}@bench.example")
    space = space_create(owner=owner, name=name[:100])
    if language != space.language:
        space.language = language
        space.save(update_fields=["language"])
    return Access.system(space.pk)


def space_kept(name: str) -> Any:
    """Give the access to the space of this name that an earlier run left behind, or to a new one."""
    from accounts.access import Access
    from accounts.models import Space

    space = Space.objects.filter(name=name[:100]).order_by("-pk").first()
    return Access.system(space.pk) if space else space_new(name)


def memories_add(access: Any, texts: Sequence[str], **fields: Any) -> list[str]:
    """Store texts as memories, 200 a transaction, and give their ids in order. They are not embedded yet."""
    from accounts.access import space_transaction
    from memories.schemas import MemoryCreate
    from memories.services import memories_create, memory_build

    ids: list[str] = []
    for start in range(0, len(texts), 200):
        bodies = [
            {"content": text[:10_000], "type": "semantic", "source": {"tool": "bench"}} | fields
            for text in texts[start : start + 200]
        ]
        with space_transaction(access):
            rows = [memory_build(access=access, data=MemoryCreate.model_validate(body)) for body in bodies]
            ids += [memory.id for memory in memories_create(access=access, memories=rows)]
    return ids


def space_delete(access: Any) -> None:
    """Remove everything that a space holds."""
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        for table in ("memories_memoryvector", "memories_searchentry", "memories_memory", "memories_searchspace"):
            cursor.execute(f"DELETE FROM {table} WHERE space_id = %s", [access.space_id])


def forget_pending() -> None:
    """Drop what earlier runs left to be embedded, so that it is not taken for work of this one."""
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        cursor.execute("DELETE FROM memories_embeddingpending")


def embed_all() -> float:
    """Embed everything that waits, in this process, and give the seconds that it took."""
    from memories.embeddings import embed_pending

    started = time.perf_counter()
    while embed_pending(60):
        pass
    return time.perf_counter() - started


@dataclass(frozen=True)
class Collection:
    """Texts, questions and for each question the graded answers (index of the text -> grade)."""

    name: str
    language: str
    texts: list[str]
    questions: list[str]
    answers: list[dict[int, int]]


def cranfield() -> Collection:
    """Load 1,399 abstracts on aerodynamics and 225 questions with graded judgements."""
    raw = gzip.open(DATA / "cranfield.all.1400.gz", "rt").read()
    texts: dict[str, str] = {}
    for record in re.split(r"(?m)^\.I ", raw)[1:]:
        number, rest = record.split("\n", 1)
        fields = re.split(r"(?m)^\.([TABW])\n", rest)
        named = dict(zip(fields[1::2], fields[2::2], strict=True))
        texts[number.strip()] = " ".join((named.get("W") or named.get("T") or "").split()) or "empty"
    raw = gzip.open(DATA / "cranfield.qry.gz", "rt").read()
    questions = [" ".join(record.split(".W\n", 1)[1].split()) for record in re.split(r"(?m)^\.I ", raw)[1:]]
    place = {number: index for index, number in enumerate(texts)}
    answers: list[dict[int, int]] = [{} for _ in questions]
    for line in gzip.open(DATA / "cranfield.qrels.trec.gz", "rt"):
        question, _, number, grade = line.split()
        if number in place and int(grade) > 0:
            answers[int(question) - 1][place[number]] = int(grade)
    return Collection("cranfield", "en", list(texts.values()), questions, answers)


def xquad(language: str) -> Collection:
    """Load 240 paragraphs and 1,190 questions: find the paragraph that answers."""
    articles = json.load(gzip.open(DATA / f"xquad.{language}.json.gz"))["data"]
    texts, questions, answers = [], [], []
    for paragraph in (paragraph for article in articles for paragraph in article["paragraphs"]):
        for question in paragraph["qas"]:
            questions.append(question["question"])
            answers.append({len(texts): 1})
        texts.append(paragraph["context"])
    return Collection(f"xquad-{language}", language, texts, questions, answers)


def xquad_sentences() -> Collection:
    """Load the English paragraphs' 1,219 sentences, as short as memories are: find the one that answers."""
    articles = json.load(gzip.open(DATA / "xquad.en.json.gz"))["data"]
    texts: list[str] = []
    questions, answers = [], []
    for paragraph in (paragraph for article in articles for paragraph in article["paragraphs"]):
        spans = []
        for match in re.finditer(r'.+?(?:[.!?]["”)]*(?=\s+[A-Z"“(\[])|$)', paragraph["context"], re.DOTALL):
            if match.group().strip():
                spans.append((match.start(), match.end(), len(texts)))
                texts.append(match.group().strip())
        for question in paragraph["qas"]:
            at = question["answers"][0]["answer_start"]
            questions.append(question["question"])
            answers.append({next(index for start, end, index in spans if start <= at < end): 1})
    return Collection("xquad-en-sentences", "en", texts, questions, answers)


def dialogues() -> list[Collection]:
    """Load three conversations of 70 to 80 turns, each with 40 questions: find the turns that answer.

    They were written for this benchmark. A turn stands as "Name: text", a line ": date" begins a sitting.
    """
    found = []
    for part in (Path(__file__).parent / "data" / "dialogues.txt").read_text().split("# ")[1:]:
        name, *lines = part.splitlines()
        texts: list[str] = []
        questions, answers = [], []
        for line in lines:
            mark, rest = line.split(" ", 1)
            if mark == "?":
                question, turns = rest.rsplit(" = ", 1)
                questions.append(question)
                answers.append({int(turn) - 1: 1 for turn in turns.split()})
            elif mark.isdigit():
                texts.append(rest)
        found.append(Collection(f"dialogue of {name}", "en", texts, questions, answers))
    return found


@dataclass(frozen=True)
class Timings:
    """Milliseconds of each round, and processor milliseconds of a round: this process and its database session.

    Processor time hardly depends on what else the machine is busy with, unlike the clock.
    """

    values: list[float]
    processor: float

    def at(self, share: float) -> float:
        """Give the milliseconds below which a share (0..1) of the rounds lies."""
        return percentile(self.values, share)


def timed(action: Callable[[], Any], rounds: int, session: Any = None) -> Timings:
    """Run an action so many times. ``session`` is the psycopg connection it uses, by default Django's own."""
    import psutil

    if session is None:
        from django.db import connection

        connection.ensure_connection()
        session = connection.connection
    server = psutil.Process(session.info.backend_pid)

    def spent() -> float:
        times = server.cpu_times()
        return time.process_time() + float(times.user + times.system)

    taken, before = [], spent()
    for _ in range(rounds):
        started = time.perf_counter()
        action()
        taken.append((time.perf_counter() - started) * 1000)
    return Timings(taken, (spent() - before) * 1000 / rounds)


def processor_seconds(root: Any) -> float:
    """Give the processor time that a process (psutil) and its descendants have used so far."""
    total = 0.0
    for process in [root, *root.children(recursive=True)]:
        used = process.cpu_times()
        total += used.user + used.system
    return total


def database_process() -> Any:
    """Give PostgreSQL's first process (psutil), whose descendants serve the connections."""
    import psutil

    found = Path(os.environ["OMP_DATA_DIR"]) / "postgres" / "postmaster.pid"
    return psutil.Process(int(found.read_text().split()[0]))


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table with aligned columns."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    for number, row in enumerate(cells):
        print("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                        for column, (cell, width) in enumerate(zip(row, widths, strict=True))))  # fmt: skip
        if number == 0:
            print("  ".join("-" * width for width in widths))
    sys.stdout.flush()


def percentile(values: Sequence[float], share: float) -> float:
    """Give the value below which a share (0..1) of the values lies."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def finish(name: str, result: dict[str, Any]) -> None:
    """Print the result once more as one line of JSON."""
    print(json.dumps({"bench": name} | result), flush=True)
