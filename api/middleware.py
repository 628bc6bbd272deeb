"""What happens around every request: an id, one log line without content, and the envelope for what no view met."""

import logging
import re
import time
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse
from django.urls import Resolver404, resolve

from api.errors import NotFound, api_request, error_response

logger = logging.getLogger("commonplace.request")
PAGES = frozenset({"docs"})  # under /v1, and yet for people
WITHOUT_BODY = frozenset({204, 304})  # no length either (RFC 9110, section 8.6)
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")


def log_details(request: HttpRequest, **details: str) -> None:
    """Add fields to the request's log line: names of ours, never what a client sent."""
    request.log_details = getattr(request, "log_details", {}) | details  # type: ignore[attr-defined]


class RequestIdMiddleware:
    """Gives every request an id, which its answer carries as X-Request-Id, and writes its log line.

    The line holds method, route, status, time and the key's display prefix: no query string, no body.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        given = request.headers.get("X-Request-Id", "")
        request.request_id = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex  # type: ignore[attr-defined]
        started = time.perf_counter()
        response = self.get_response(request)
        response.headers["X-Request-Id"] = request.request_id  # type: ignore[attr-defined]
        match = request.resolver_match
        access = getattr(request, "access", None)
        logger.info(
            "request",
            extra={
                "method": request.method, "route": match.route if match else "unknown",
                "status": response.status_code, "ms": round((time.perf_counter() - started) * 1000, 1),
                "request_id": request.request_id,  # type: ignore[attr-defined]
                "key": access.credential if access else None,
            }
            | getattr(request, "log_details", {}),
        )  # fmt: skip
        return response


class ApiMiddleware:
    """Answers what comes by a door that speaks JSON; all middleware behind it (sessions, CSRF, …) is for pages."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        if not api_request(request):
            return self.get_response(request)
        request.get_host()  # raises for a host that is not ours
        try:
            match = resolve(request.path_info)
        except Resolver404:
            return finished(error_response(NotFound()))
        if match.url_name in PAGES:
            return self.get_response(request)
        request.resolver_match = match
        return finished(match.func(request, *match.args, **match.kwargs))


def finished(response: HttpResponse) -> HttpResponse:
    """Return an answer of the API written out, with its length, and a policy: a browser that opens it runs nothing."""
    if isinstance(response, SimpleTemplateResponse):  # the framework's name for one that is written out last
        response = response.render()
    if not response.streaming and response.status_code not in WITHOUT_BODY:
        response.headers.setdefault("Content-Length", str(len(response.content)))
    response.headers["Content-Security-Policy"] = "default-src 'none'; frame-ancestors 'none'"
    return response
