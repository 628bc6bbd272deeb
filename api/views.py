"""The base of every JSON endpoint: one transaction, authentication, limits, scope, idempotency, envelope."""

import select
from contextlib import nullcontext
from typing import Any, ClassVar, TypeVar, cast
from urllib.parse import unquote_to_bytes

from django.conf import settings
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponseBase
from pydantic import BaseModel
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from accounts.access import Access
from api.body import body_given, json_body
from api.errors import Forbidden, Invalid, MemoryNotFound, NotFound, PreconditionFailed
from api.renderers import JsonOnly, JsonRenderer
from api.schemas import parse
from api.text import text_problem
from apikeys.authentication import KeyAuthentication
from apikeys.throttles import limits_take

ModelT = TypeVar("ModelT", bound=BaseModel)


class ScopePermission(BasePermission):
    """Lets a request pass when its access holds the scope that the view names for the method."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return True, or raise Forbidden with the missing scope."""
        api_view = cast("ApiView", view)
        if request.method == "OPTIONS" or request.method not in api_view.allowed_methods:
            return True
        method = "GET" if request.method == "HEAD" else str(request.method)
        if method not in api_view.scopes:
            raise Forbidden("This method has no scope that a key could hold.")
        scope = api_view.scopes[method]
        if scope is not None:
            api_view.access.require(scope)
        return True


class LimitsThrottle(BaseThrottle):
    """Counts the request against its key and its space."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Return True and note the RateLimit headers, or raise RateLimited."""
        cast("ApiView", view).limit_headers = limits_take(cast("ApiView", view).access)
        return True


class ApiView(APIView):
    """A view that answers JSON to a credential, inside one transaction.

    `scopes` names the scope for each method (None: any valid credential); a method left out is refused.
    A view that waits for something slow sets `atomic` to False and opens its own transactions.
    """

    authentication_classes = (KeyAuthentication,)
    permission_classes = (ScopePermission,)
    throttle_classes = (LimitsThrottle,)
    renderer_classes = (JsonRenderer,)
    parser_classes = ()
    content_negotiation_class = JsonOnly

    scopes: ClassVar[dict[str, str | None]] = {}
    atomic: ClassVar[bool] = True
    query_params: ClassVar[frozenset[str]] = frozenset()
    max_body_bytes: ClassVar[int] = settings.MAX_BODY_BYTES
    limit_headers: dict[str, str]
    _body: tuple[bytes, dict[str, Any]] | None

    @property
    def access(self) -> Access:
        """Return the access of this request's credential."""
        return cast(Access, self.request.auth)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer a request; whatever goes wrong leaves the database as it was."""
        self.limit_headers, self._body = {}, None
        try:
            connection_revive()
            with transaction.atomic() if self.atomic else nullcontext():
                return super().dispatch(request, *args, **kwargs)
        except Exception as exception:
            # Only the transaction itself can fail here (no connection, a failed commit): views answer their own.
            return self.failure(request, exception)

    def failure(self, request: HttpRequest, exception: Exception) -> HttpResponseBase:
        """Return the envelope for an exception outside the view's own handling."""
        if not hasattr(self, "headers"):
            self.headers = self.default_response_headers
        response = self.handle_exception(exception)
        self.response = self.finalize_response(self.request, response)
        return self.response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate, check scope and limits, then the query string."""
        super().initial(request, *args, **kwargs)
        if request.method in self.allowed_methods:
            query_check(request._request)
        if any(text_problem(str(value)) for value in kwargs.values()) and request.method in self.allowed_methods:
            # No row has such a name, and the database would not even look for it.
            raise MemoryNotFound() if "memory_id" in kwargs else NotFound()
        unknown = set(request._request.GET) - self.query_params
        if unknown and request.method in self.allowed_methods:
            raise Invalid(details={"fields": {name[:200]: ["There is no such parameter here."] for name in unknown}})

    def check_permissions(self, request: Request) -> None:
        """Raise the error of the first permission that refuses."""
        for permission in self.get_permissions():
            permission.has_permission(request, self)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add the RateLimit headers."""
        response = super().finalize_response(request, response, *args, **kwargs)
        for name, value in self.limit_headers.items():
            response.headers.setdefault(name, value)
        return response

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        """Answer which methods there are; needs no credential, like a preflight."""
        return Response(status=204, headers={"Allow": ", ".join(self.allowed_methods)})

    def perform_authentication(self, request: Request) -> None:
        """Authenticate before anything else, except for OPTIONS."""
        if request.method == "OPTIONS":
            return
        super().perform_authentication(request)

    def check_throttles(self, request: Request) -> None:
        """Count the request, except for OPTIONS, which has no credential."""
        if request.method != "OPTIONS":
            super().check_throttles(request)

    # What handlers use

    def json(self) -> dict[str, Any]:
        """Return the request's JSON object. Raises Invalid, UnsupportedMediaType, PayloadTooLarge."""
        if self._body is None:
            self._body = json_body(self.request._request, self.max_body_bytes)
        return self._body[1]

    def body(self, model: type[ModelT]) -> ModelT:
        """Return the request's body as a model. Raises Invalid."""
        return parse(model, self.json())

    def query(self, model: type[ModelT]) -> ModelT:
        """Return the query string as a model of strings. Raises Invalid for a repeated parameter."""
        lists = self.request._request.GET.lists()
        repeated = {name: ["It is given more than once."] for name, values in lists if len(values) > 1}
        if repeated:
            raise Invalid(details={"fields": repeated})
        return parse(model, self.request._request.GET.dict())

    def raw_body(self) -> bytes:
        """Return the bytes of the request's JSON body, none when the request has no body."""
        if self._body is None and not body_given(self.request._request):
            return b""
        self.json()
        return self._body[0] if self._body else b""


def query_check(request: HttpRequest) -> None:
    """Raise Invalid for a query string that is no UTF-8.

    The framework would go on with other characters in the place of the broken ones, which some row may have.
    """
    query = str(request.META.get("QUERY_STRING") or "")  # of which WSGI gives the bytes as Latin-1
    try:
        unquote_to_bytes(query.encode("latin-1", "replace")).decode()
    except UnicodeError:
        raise Invalid.field("query", "It is not UTF-8.") from None


def connection_revive() -> None:
    """Close this thread's connection when the database has ended it, so that the request begins on a new one.

    Looks at the socket only: a server that ended the connection has left its farewell there.
    """
    live = connection.connection
    if live is None or connection.in_atomic_block:
        return
    poll = select.poll()
    poll.register(live.fileno(), select.POLLIN)
    if poll.poll(0):
        connection.close()


def if_match(request: Request, version: int) -> None:
    """Raise PreconditionFailed when If-Match is given and names another version (RFC 9110, 13.1.1)."""
    header = request.headers.get("If-Match")
    if header is None or header.strip() == "*":
        return
    if f'"{version}"' not in [tag.strip() for tag in header.split(",")]:
        raise PreconditionFailed(details={"current_version": version})


def none_match(request: Request, version: int) -> bool:
    """Return whether If-None-Match names this version, so that the client has it already (RFC 9110, 13.1.2)."""
    tags = [tag.strip().removeprefix("W/") for tag in request.headers.get("If-None-Match", "").split(",")]
    return "*" in tags or f'"{version}"' in tags


def etag(version: int) -> dict[str, str]:
    """Return the ETag header of a version."""
    return {"ETag": f'"{version}"'}
