"""GET /v1/jobs/{id} and POST /v1/jobs/{id}/cancel."""

from __future__ import annotations

from typing import Any

import pytest

from aiworker import jobs
from aiworker.jobs import Kind, job_create
from aiworker.models import Job
from tests.factories import People


@pytest.fixture(autouse=True)
def kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(jobs.KINDS, "import", Kind("nowhere", "import", "import"))


def make(people: People, by: str = "owner") -> Job:
    return job_create(access=people.access(by), kind="import", params={})


def test_shows_a_job(people: People) -> None:
    job = make(people)

    body: dict[str, Any] = people.api("member").get(f"/v1/jobs/{job.id}").json()

    created_at = body.pop("created_at")
    assert created_at.endswith("Z")
    assert body == {
        "id": job.id, "kind": "import", "status": "queued", "progress": {"done": 0, "total": None}, "result": None,
        "error": None, "finished_at": None,
    }  # fmt: skip


def test_hides_a_job_from_an_outsider(people: People) -> None:
    job = make(people)

    seen = people.api("outsider").get(f"/v1/jobs/{job.id}")
    missing = people.api("outsider").get("/v1/jobs/job_0000000000000000")

    assert (seen.status_code, seen.content) == (404, missing.content)


@pytest.mark.parametrize("kind_of_key", ["tool", "write", "nothing"])
def test_a_limited_key_sees_its_own_jobs_only(people: People, kind_of_key: str) -> None:
    other, own = make(people), make(people, kind_of_key)
    api = people.api(kind_of_key)

    assert api.get(f"/v1/jobs/{other.id}").status_code == 404
    assert api.get(f"/v1/jobs/{own.id}").status_code == 200


def test_cancels_a_job_once(people: People) -> None:
    job = make(people)
    api = people.api()

    assert api.post(f"/v1/jobs/{job.id}/cancel").json()["status"] == "cancelled"
    again = api.post(f"/v1/jobs/{job.id}/cancel")
    assert (again.status_code, again.json()["details"]) == (409, {"current_status": "cancelled"})


def test_cancelling_needs_the_scope_of_the_kind(people: People) -> None:
    job = make(people)

    assert people.api("read").post(f"/v1/jobs/{job.id}/cancel").status_code == 403
    assert people.api("outsider").post(f"/v1/jobs/{job.id}/cancel").status_code == 404
