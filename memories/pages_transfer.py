"""Import and export: upload a file, watch it go in, read what happened to each record; download everything."""

from collections.abc import Iterator
from typing import Any, Literal

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import Switch
from accounts.pageviews import PageRequest, page
from accounts.switches import switched_on
from aiworker.bulk import extract_many_create
from aiworker.jobs import job_cancel, job_create, job_get
from aiworker.models import Job
from api.errors import Conflict, NoApiKey
from conversations.schemas import ExtractMany
from events.services import event_record
from memories.schemas import ExportParams
from memories.transfer.export import export_stream
from memories.transfer.readers import NAMES

CONFLICTS = {
    "skip": "Keep what is here and skip it",
    "overwrite": "Take the file’s; what was here stays in the history",
    "duplicate": "Keep both",
}
KIND = "import"
ERRORS_SHOWN = 200
UPLOAD_ROOM = 1024 * 1024  # what a form adds around its file


@require_http_methods(["GET", "HEAD", "POST"])
@page("export")
def transfer(request: PageRequest) -> HttpResponse:
    """Take a file to import as a job; show earlier imports and the ways to export."""
    error = ""
    if request.method == "POST":
        error = upload_problem(request)
        if not error:
            job = job_create(
                access=request.access, kind=KIND, inputs=pieces(request.FILES["file"]),
                params={"conflict": request.POST["conflict"], "format": request.POST["format"]},
            )  # fmt: skip
            return redirect("import-detail", job.id)
    jobs = Job.objects.visible_to(request.access).filter(kind=KIND).order_by("-created_at")[:10]
    context = {
        "error": error, "formats": formats(), "conflicts": CONFLICTS, "jobs": jobs,
        "megabytes": settings.MAX_IMPORT_BYTES // 1024 // 1024, "may_import": "import" in request.may,
        "open": switched_on(Switch.Name.IMPORTS),
    }  # fmt: skip
    return render(request, "memories/transfer.html", context, status=422 if error else 200)


def formats() -> list[tuple[str, str]]:
    """Return the formats that can be read, with their names in words."""
    words = {
        "auto": "Find out from the file",
        "omp": "Commonplace or another Open Memory Protocol export (JSON)", "ndjson": "One record a line (NDJSON)",
        "chatgpt": "ChatGPT data export (zip or JSON)", "chatgpt-memory": "ChatGPT saved memories (text)",
        "claude": "Claude data export (zip or JSON)", "claude-memories": "Claude memories (JSON)",
        "claude-memory": "Claude memory (text)", "mem0": "mem0", "letta": "Letta", "zep": "Zep",
        "supermemory": "supermemory", "basic-memory": "basic-memory (Markdown notes)", "markdown": "Markdown",
        "csv": "CSV", "jsonl": "JSON lines", "json": "A JSON list",
    }  # fmt: skip
    return [(name, words.get(name, name)) for name in NAMES]


def upload_problem(request: PageRequest) -> str:
    """Return in words why an upload cannot be taken, empty when it can."""
    if "import" not in request.may:
        return "Your role does not allow imports."
    if not switched_on(Switch.Name.IMPORTS):
        return "The operator has switched imports off for now."
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile) or not file.size:
        return "Choose a file that is not empty."
    if file.size > settings.MAX_IMPORT_BYTES:
        return f"The file is larger than {settings.MAX_IMPORT_BYTES // 1024 // 1024} MB. Split it."
    if request.POST.get("format") not in NAMES or request.POST.get("conflict") not in CONFLICTS:
        return "Choose what kind of file it is."
    return ""


def pieces(file: Any) -> Iterator[bytes]:
    """Yield the bytes of an upload."""
    yield from file.chunks()


def import_context(request: PageRequest, job_id: str) -> dict[str, Any]:
    """Return the context of one import."""
    job = job_get(request.access, job_id)
    errors = (job.result or {}).get("errors", []) if isinstance(job.result, dict) else []
    return {
        "job": job, "open": job.status in {Job.Status.QUEUED, Job.Status.RUNNING}, "errors": errors[:ERRORS_SHOWN],
        "more_errors": max(0, len(errors) - ERRORS_SHOWN), "error_count": len(errors), "reason": reason_of(job),
    }  # fmt: skip


def reason_of(job: Job) -> str:
    """Return in words why an import failed."""
    error = job.error or {}
    fields = error.get("details", {}).get("fields", {})
    sentences = [
        sentence if name in ("", "body") else f"{name}: {sentence}"
        for name, found in fields.items()
        for sentence in found
    ]
    return " ".join(sentences) or str(error.get("message", ""))


@require_safe
@page("export")
def import_detail(request: PageRequest, job_id: str) -> HttpResponse:
    """Show how far an import is, and afterwards what happened to each record."""
    template = "memories/_import.html" if request.htmx else "memories/import.html"
    return render(request, template, import_context(request, job_id))


@require_POST
@page("import")
def import_cancel(request: PageRequest, job_id: str) -> HttpResponse:
    """Stop an import; what is in stays in."""
    try:
        job_cancel(access=request.access, job_id=job_id)
        messages.success(request, "The import is stopped. What it had brought in stays.")
    except Conflict:
        messages.info(request, "It had ended already.")
    return redirect("import-detail", job_id)


@require_POST
@page("import")
def import_extract(request: PageRequest) -> HttpResponse:
    """Begin to extract memories from the conversations that nothing was extracted from yet."""
    try:
        job = extract_many_create(access=request.access, data=ExtractMany(dry_run=False))
    except NoApiKey:
        messages.error(request, "No AI provider is set up here. The operator sets OMP_AI_API_KEY.")
        return redirect("transfer")
    return redirect("import-detail", job.id)


@require_safe
@page("export")
def export(request: PageRequest) -> StreamingHttpResponse:
    """Stream every memory of the space as a file."""
    wanted: Literal["json", "ndjson"] = "ndjson" if request.GET.get("format") == "ndjson" else "json"
    access = request.access
    event_record(access=access, type="memory.exported", object_kind="memory", details={"format": wanted})
    response = StreamingHttpResponse(
        export_stream(access, ExportParams(format=wanted)),
        content_type="application/json",
    )
    response.headers["Content-Disposition"] = f'attachment; filename="commonplace-export.{wanted}"'
    return response
