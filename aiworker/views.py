"""/v1/jobs: work that outlives a request."""

from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from aiworker.jobs import job_cancel, job_get
from aiworker.models import Job
from api.idempotency import idempotent
from api.timestamps import timestamp_format
from api.views import ApiView


def accepted(job: Job) -> Response:
    """Return the 202 that leads to a job."""
    return Response(job_present(job), status=202, headers={"Location": f"/v1/jobs/{job.id}"})


def prefers_async(request: Request) -> bool:
    """Return whether the client asks not to wait (RFC 7240)."""
    preferences = request.headers.get("Prefer", "").split(",")
    return any(part.partition(";")[0].strip().lower() == "respond-async" for part in preferences)


def job_present(job: Job) -> dict[str, Any]:
    """Return {id, kind, status, progress {done, total}, result, error, created_at, finished_at}."""
    return {
        "id": job.id,
        "kind": job.kind,
        "status": job.status,
        "progress": {"done": job.done, "total": job.total},
        "result": job.result,
        "error": job.error,
        "created_at": timestamp_format(job.created_at),
        "finished_at": timestamp_format(job.finished_at) if job.finished_at else None,
    }


class JobView(ApiView):
    """/v1/jobs/{id}."""

    scopes: ClassVar = {"GET": None}

    def get(self, request: Request, job_id: str) -> Response:
        """Return one job of the space."""
        return Response(job_present(job_get(self.access, job_id)))


class JobCancelView(ApiView):
    """/v1/jobs/{id}/cancel."""

    scopes: ClassVar = {"POST": None}

    @idempotent
    def post(self, request: Request, job_id: str) -> Response:
        """Stop a job that has not ended; needs the scope that its kind needs. What it has done stays."""
        return Response(job_present(job_cancel(access=self.access, job_id=job_id)))
