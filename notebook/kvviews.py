"""/v1/kv: namespaces and the values in them."""

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import PreconditionFailed
from api.pagination import next_link
from api.schemas import parse
from api.views import ApiView, etag, if_match
from notebook.kv import kv_delete, kv_set, namespace_page, namespaces_list, value_get, value_locked
from notebook.representation import kv_present
from notebook.schemas import KvAddress, KvDeleteParams, KvGet, KvListParams, KvPut, KvSet


class NamespacesView(ApiView):
    """/v1/kv."""

    scopes: ClassVar = {"GET": "kv:read"}

    def get(self, request: Request) -> Response:
        """List the namespaces with the number of their keys."""
        return Response({"namespaces": namespaces_list(access=self.access)})


class NamespaceView(ApiView):
    """/v1/kv/{ns}."""

    scopes: ClassVar = {"GET": "kv:read"}
    query_params = frozenset(KvListParams.model_fields)

    def get(self, request: Request, ns: str) -> Response:
        """Return the values of a namespace, 200 keys at a time."""
        params, address = self.query(KvListParams), parse(KvGet, {"ns": ns})
        values, cursor = namespace_page(access=self.access, ns=address.ns, cursor=params.cursor)
        headers = {"Link": next_link(request._request, cursor)} if cursor else {}
        return Response({"ns": address.ns, "values": values, "next_cursor": cursor}, headers=headers)


class ValueView(ApiView):
    """/v1/kv/{ns}/{key}."""

    scopes: ClassVar = {"GET": "kv:read", "PUT": "kv:write", "DELETE": "kv:write"}
    query_params = frozenset(KvDeleteParams.model_fields)

    def get(self, request: Request, ns: str, key: str) -> Response:
        """Return one value."""
        address = parse(KvAddress, {"ns": ns, "key": key})
        value = value_get(access=self.access, ns=address.ns, key=address.key)
        return Response(kv_present(value), headers=etag(value.version))

    def put(self, request: Request, ns: str, key: str) -> Response:
        """Set a value; 201 when there was none."""
        self.body(KvPut)  # its errors name its own fields
        data = parse(KvSet, self.json() | {"ns": ns, "key": key})
        current = value_locked(access=self.access, ns=data.ns, key=data.key)
        if "If-Match" in request.headers:
            if current is None:
                raise PreconditionFailed("If-Match is given and there is no value under this key.")
            if_match(request, current.version)
        value = kv_set(access=self.access, data=data)
        return Response(kv_present(value), status=200 if current else 201, headers=etag(value.version))

    def delete(self, request: Request, ns: str, key: str) -> Response:
        """Delete a value."""
        params, address = self.query(KvDeleteParams), parse(KvAddress, {"ns": ns, "key": key})
        current = value_locked(access=self.access, ns=address.ns, key=address.key)
        if current is not None:
            if_match(request, current.version)
        kv_delete(access=self.access, ns=address.ns, key=address.key, expected_version=params.expected_version)
        return Response(status=204)
