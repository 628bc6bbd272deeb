"""/v1/space/export and /v1/space/import: a whole space as one file, out and in."""

from typing import Any, ClassVar

from django.http import HttpResponseBase, StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access import space_transaction
from api.idempotency import idempotent
from api.views import ApiView
from context.archive import archive_allowed, archive_id_generate, archive_stream
from context.restoring import archive_import
from context.schemas import SpaceImportParams
from events.services import event_record
from memories.transfer.views import ImportView


class SpaceExportView(ApiView):
    """/v1/space/export. What the key may not read is left out, and the manifest says so."""

    scopes: ClassVar = {"GET": "export"}

    def get(self, request: Request) -> HttpResponseBase:
        """Stream everything in the space as a zip of NDJSON files with a manifest."""
        archive_allowed(self.access)
        archive_id = archive_id_generate()
        event_record(
            access=self.access, type="space.exported", object_kind="space", object_ids=[str(self.access.space_id)],
            details={"archive": archive_id},
        )  # fmt: skip
        return StreamingHttpResponse(
            archive_stream(self.access, archive_id),
            content_type="application/zip",
            headers={"Content-Disposition": 'attachment; filename="commonplace-space.zip"'},
        )


class SpaceImportView(ImportView):
    """/v1/space/import. Needs `import` and space:write. The body goes to a file first."""

    scopes: ClassVar = {"POST": "import"}
    query_params = frozenset(SpaceImportParams.model_fields)

    @idempotent
    def post(self, request: Request) -> Response:
        """Add everything of an archive to the space; what is there already stays."""
        params = self.query(SpaceImportParams)
        with space_transaction(self.access):
            restored = archive_import(access=self.access, file=self.spooled(), with_settings=params.settings)
        body: dict[str, Any] = {
            "imported": restored.imported, "skipped": restored.skipped, "errors": restored.errors,
            "left_out": restored.left_out,
        }  # fmt: skip
        return Response(body)
