"""/v1/records: collections and the records in them."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import ApiError
from api.idempotency import idempotent
from api.pagination import next_link
from api.schemas import parse
from api.views import ApiView, etag, if_match
from events.services import event_record
from notebook.records import (
    collections_list,
    record_delete,
    record_get,
    record_locked,
    record_put,
    record_update,
    records_query,
)
from notebook.representation import record_present
from notebook.schemas import (
    RecordAddress,
    RecordBatch,
    RecordChanges,
    RecordFields,
    RecordFilters,
    RecordPut,
    RecordQuery,
    RecordUpdate,
)


class CollectionsView(ApiView):
    """/v1/records."""

    scopes: ClassVar = {"GET": "records:read"}

    def get(self, request: Request) -> Response:
        """List the collections with their counts."""
        return Response({"collections": collections_list(access=self.access)})


class RecordsView(ApiView):
    """/v1/records/{collection}."""

    scopes: ClassVar = {"GET": "records:read", "POST": "records:write"}
    query_params = frozenset(RecordFilters.model_fields)

    def get(self, request: Request, collection: str) -> Response:
        """List the records of a collection, the earliest due first."""
        self.query(RecordFilters)
        query = parse(RecordQuery, self.request._request.GET.dict() | {"collection": collection})
        page, cursor = records_query(access=self.access, params=query)
        headers = {"Link": next_link(request._request, cursor)} if cursor else {}
        body = {"records": [record_present(record) for record in page], "next_cursor": cursor}
        return Response(body, headers=headers)

    @idempotent
    def post(self, request: Request, collection: str) -> Response:
        """Create a record, or update the one that has the key."""
        self.body(RecordFields)  # its errors name its own fields
        record, new = record_put(access=self.access, data=parse(RecordPut, self.json() | {"collection": collection}))
        return Response(record_present(record), status=201 if new else 200, headers=etag(record.version))


class RecordsBatchView(ApiView):
    """/v1/records/{collection}/batch."""

    scopes: ClassVar = {"POST": "records:write"}
    max_body_bytes = settings.MAX_BATCH_BYTES

    @idempotent
    def post(self, request: Request, collection: str) -> Response:
        """Create or update up to 500 records; each one that fails says why and stops no other."""
        results: list[dict[str, Any]] = []
        for index, item in enumerate(self.body(RecordBatch).records):
            try:
                parse(RecordFields, item)
                with transaction.atomic():
                    data = parse(RecordPut, item | {"collection": collection})
                    record, new = record_put(access=self.access, data=data)
                results.append({"index": index, "status": 201 if new else 200, "record": record_present(record)})
            except ApiError as error:
                results.append({"index": index, "status": error.status} | error.envelope())
        return Response({"results": results})


class RecordView(ApiView):
    """/v1/records/{collection}/{id}."""

    scopes: ClassVar = {"GET": "records:read", "PATCH": "records:write", "DELETE": "records:write"}

    def get(self, request: Request, collection: str, id: str) -> Response:
        """Return one record."""
        address = parse(RecordAddress, {"collection": collection, "id": id})
        record = record_get(access=self.access, collection=address.collection, id=address.id)
        event_record(access=self.access, type="record.read", object_kind="record", object_ids=[record.id])
        return Response(record_present(record), headers=etag(record.version))

    def patch(self, request: Request, collection: str, id: str) -> Response:
        """Change status, due date or data of a record."""
        self.body(RecordChanges)  # its errors name its own fields
        data = parse(RecordUpdate, self.json() | {"collection": collection, "id": id})
        if "If-Match" in request.headers:
            if_match(request, record_locked(access=self.access, collection=data.collection, id=data.id).version)
        record = record_update(access=self.access, data=data)
        return Response(record_present(record), headers=etag(record.version))

    def delete(self, request: Request, collection: str, id: str) -> Response:
        """Delete a record for good."""
        address = parse(RecordAddress, {"collection": collection, "id": id})
        record = record_locked(access=self.access, collection=address.collection, id=address.id)
        if_match(request, record.version)
        record_delete(access=self.access, record=record)
        return Response(status=204)
