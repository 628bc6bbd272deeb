"""GET /v1/export and POST /v1/import (OMP 0.1, section 3.3)."""

import hashlib
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, ClassVar, cast

from django.conf import settings
from django.http import HttpResponseBase, StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access import space_transaction
from accounts.models import Switch
from accounts.switches import switch_require
from aiworker.jobs import job_create
from aiworker.views import accepted, prefers_async
from api.body import body_chunks
from api.errors import Invalid
from api.idempotency import idempotent
from api.views import ApiView
from events.services import event_record
from memories.importers.zips import size_unpacked
from memories.schemas import ExportParams, query_params
from memories.transfer.archives import archive_is, archive_take
from memories.transfer.export import export_stream
from memories.transfer.importing import Outcome, chunks, import_chunk
from memories.transfer.jobs import import_answer
from memories.transfer.readers import AUTO, NAMES, READERS, format_found, source_open
from memories.transfer.schemas import IMPORT_TYPES, ImportParams

CONTENT_TYPES = {"json": "application/json", "ndjson": "application/x-ndjson"}
IN_MEMORY = 1024 * 1024
IN_REQUEST = 8 * 1024 * 1024  # bytes of another product's file that are read while the client waits


class ExportView(ApiView):
    """/v1/export."""

    scopes: ClassVar = {"GET": "export"}
    query_params = query_params(ExportParams)

    def get(self, request: Request) -> HttpResponseBase:
        """Stream every memory that matches the filters; an export that fails half-way ends without its last bracket."""
        params = self.query(ExportParams)
        event_record(
            access=self.access, type="memory.exported", object_kind="memory",
            details={"format": params.format, "filters": sorted(params.applied())},
        )  # fmt: skip
        return StreamingHttpResponse(
            export_stream(self.access, params),
            content_type=CONTENT_TYPES[params.format],
            headers={"Content-Disposition": f'attachment; filename="commonplace-export.{params.format}"'},
        )


class ImportView(ApiView):
    """/v1/import. The body goes to a file first, outside of any transaction, hence `atomic` is off."""

    scopes: ClassVar = {"POST": "import"}
    query_params = query_params(ImportParams)
    atomic = False
    file: BinaryIO | None = None

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Let go of the file."""
        if self.file is not None:
            self.file.close()
        return super().finalize_response(request, response, *args, **kwargs)

    def spooled(self) -> BinaryIO:
        """Return the request's body as a file. Raises UnsupportedMediaType and PayloadTooLarge."""
        if self.file is None:
            self.file = cast(BinaryIO, SpooledTemporaryFile(max_size=IN_MEMORY))  # noqa: SIM115 - closed with the answer
            for chunk in body_chunks(self.request._request, settings.MAX_IMPORT_BYTES, IMPORT_TYPES):
                self.file.write(chunk)
        self.file.seek(0)
        return self.file

    def raw_body(self) -> bytes:
        """Return a digest that stands for the body where its repetition is recognised."""
        digest = hashlib.sha256()
        for piece in _pieces(self.spooled()):
            digest.update(piece)
        return digest.digest()

    @idempotent
    def post(self, request: Request) -> Response:
        """Import a file: all its records in one transaction, or, with `Prefer: respond-async`, as a job.

        A file of another product with more than 8 MiB, unpacked, always becomes a job and is answered 202; the
        protocol's own export is answered 200 whatever its size, unless the client asks for a job. The format is found
        out by looking at the file; `format` names it where that is not wanted.
        """
        switch_require(Switch.Name.IMPORTS)
        params = self.query(ImportParams)
        if params.format is not None and params.format not in NAMES:
            raise Invalid.field("format", f"It must be one of: {', '.join(NAMES)}.")
        file = self.spooled()
        content_type = request._request.content_type or ""
        archive = params.format in (None, AUTO) and archive_is(file)
        foreign = archive or format_found(file, params.format, content_type) not in READERS
        if prefers_async(request) or (foreign and size_unpacked(file) > IN_REQUEST):
            file.seek(0)
            with space_transaction(self.access):
                return accepted(
                    job_create(
                        access=self.access, kind="import", inputs=_pieces(file),
                        params={"conflict": params.conflict, "format": params.format, "content_type": content_type},
                    )
                )  # fmt: skip
        if archive:
            return Response(archive_take(self.access, file))
        source = source_open(file, params.format, content_type)
        outcome = Outcome()
        with space_transaction(self.access):
            for chunk in chunks(source.records):
                conflict = params.conflict or source.conflict or "skip"
                outcome.add(import_chunk(access=self.access, conflict=conflict, chunk=chunk))
            return Response(import_answer(self.access, outcome, source))


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(64 * 1024):
        yield piece
