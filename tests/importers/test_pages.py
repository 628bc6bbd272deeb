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

__all__ = ["provider", "worker"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("worker")]


def job_of(people: People, response: Any) -> str:
    assert response.status_code == 302, response.content
    job_id: str = response.headers["Location"].rstrip("/").rpartition("/")[2]
    job = job_wait(people.access(), job_id, 20)
    assert job.status == "succeeded", job.error
    return job_id


def test_an_upload_is_found_out_and_extracted_when_asked(people: People, provider: FakeProvider) -> None:
    provider.answer = lambda name, data: {"memories": [found("The user deploys with Docker Compose")]}
    client = Client()
    client.force_login(people.owner, backend="allauth.account.auth_backends.AuthenticationBackend")
    session = client.session
    session[SPACE] = people.space.pk
    session.save()
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
