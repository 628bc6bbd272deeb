"""/v1/jobs: work that outlives a request."""

from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from aiworker.models import Job
from api.errors import NotFound
from api.timestamps import timestamp_format
from api.views import ApiView


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
        job = Job.objects.visible_to(self.access).filter(id=job_id).first()
        if job is None:
            raise NotFound("No job with this id is visible to this key.")
        return Response(job_present(job))
