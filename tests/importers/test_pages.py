"""The import page with another product's export: find out what it is, tell the cost, extract when asked."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.sessions import SPACE
from aiworker.fake.server import FakeProvider
from aiworker.jobs import job_wait
from tests.aiworker.conftest import found, provider, worker
from tests.factories import People
from tests.importers.files import chatgpt_conversation, dumped, zipped
from tests.importers.hostile import FILES

__all__ = ["provider", "worker"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("worker")]


def job_of(people: People, response: Any) -> str:
    assert response.status_code == 302, response.content
    job_id: str = response.headers["Location"].rstrip("/").rpartition("/")[2]
    job = job_wait(people.access(), job_id, 20)
    assert job.status == "succeeded", job.error
    return job_id


def signed_in(people: People) -> Client:
    client = Client()
    client.force_login(people.owner, backend="allauth.account.auth_backends.AuthenticationBackend")
    session = client.session
    session[SPACE] = people.space.pk
    session.save()
    return client


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("null titles and missing times", "1 of them are conversations"), ("odd times", "brought in"),
        ("JSON that ends early", "stops being JSON"), ("Latin letters", "characters that were no text"),
            ("noise", "neither text"), ("a picture", "neither text"),
        ("white space", "nothing that can be imported"),
        ("a zip in a zip", "inner.zip"), ("links in a zip", "secrets.md"), ("an encrypted zip", "encrypted"),
        ("a path out of a zip", "leads out"), ("a zip bomb", "zip bomb"), ("a zip that is cut off", "damaged"),
        ("twenty thousand empty files in a zip", "too many files"),
    ],
)  # fmt: skip
def test_the_page_says_what_became_of_the_worst_files(people: People, name: str, words: str) -> None:
    client = signed_in(people)
    sent = {"file": SimpleUploadedFile("export", FILES[name]()), "format": "auto", "conflict": "skip"}

    response = client.post("/transfer", sent)
    job_id = response.headers["Location"].rstrip("/").rpartition("/")[2]
    job = job_wait(people.access(), job_id, 20)
    page = client.get(f"/transfer/{job_id}")

    assert job.status in ("succeeded", "failed")
    assert page.status_code == 200
    assert words in page.content.decode()


def test_an_upload_is_found_out_and_extracted_when_asked(people: People, provider: FakeProvider) -> None:
    provider.answer = lambda name, data: {"memories": [found("The user deploys with Docker Compose")]}
    client = signed_in(people)
    content = zipped({"conversations.json": dumped([chatgpt_conversation()])})
    sent = {"file": SimpleUploadedFile("export.zip", content), "format": "auto", "conflict": "skip"}

    imported = job_of(people, client.post("/transfer", sent))
    page = client.get(f"/transfer/{imported}").content.decode()
    assert "Extract memories from them" in page
    assert "1 of them are conversations" in page
    assert provider.requests == [], "nothing is sent before it is asked for"

    extracted = job_of(people, client.post("/transfer/extract"))
    page = client.get(f"/transfer/{extracted}").content.decode()
    assert "1 memories were extracted" in page
    assert people.api().get("/v1/memories").json()["total"] == 1
