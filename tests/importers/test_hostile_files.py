"""Whatever is uploaded, the answer says what came in and what did not, and the same file again adds nothing."""

from __future__ import annotations

from typing import Any

import pytest

from aiworker.jobruns import job_run
from tests.factories import People
from tests.importers.hostile import FILES

pytestmark = pytest.mark.django_db


def answer_of(people: People, content: bytes, content_type: str, **query: Any) -> tuple[int, Any]:
    """Return the status and the body of an import, or those that its job came to."""
    response = people.api().post("/v1/import", content, content_type=content_type, **query)
    body = response.json()
    if response.status_code != 202:
        return response.status_code, body
    job_run(space_id=people.space.pk, job_id=body["id"])
    done = people.api().get(f"/v1/jobs/{body['id']}").json()
    assert done["status"] in ("succeeded", "failed"), done
    return (200, done["result"]) if done["status"] == "succeeded" else (422, done["error"])


@pytest.mark.parametrize("name", FILES)
def test_is_answered_with_what_became_of_it(people: People, name: str) -> None:
    content, content_type = FILES[name](), "application/json" if "JSON" in name else "application/octet-stream"

    status, answer = answer_of(people, content, content_type)
    total = people.api().get("/v1/memories", include_expired="true", limit=1).json()["total"]
    status_again, again = answer_of(people, content, content_type)

    assert status in (200, 413, 422), answer
    assert status_again == status
    if status != 200:
        assert set(answer) == {"error", "message", "details"}
        assert total == 0
        return
    assert all(set(error) == {"index", "id", "error", "message"} and error["message"] for error in answer["errors"])
    assert answer["imported"] or answer["skipped"] or answer["errors"] or answer.get("ignored"), "something is said"
    assert (again["imported"], again["errors"]) == (0, answer["errors"])
    assert again["skipped"] == answer["imported"] + answer["skipped"]
