"""/mcp: one JSON-RPC message in, one JSON answer out, in one transaction (Streamable HTTP without sessions)."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from accounts.access import Access
from api.errors import ApiError, RateLimited, error_from
from api.middleware import log_details
from api.renderers import json_text
from apikeys.authentication import credential_from, key_authenticate
from apikeys.throttles import limits_take
from grants.addresses import resource_metadata_url
from grants.authentication import grant_authenticate, is_grant_token
from grants.scopes import GRANT_SCOPES
from mcpserver.envelope import Message, body_read, era_of, message_read, modern_check
from mcpserver.methods import METHODS, Call
from mcpserver.protocol import (
    FORBIDDEN_ORIGIN,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MODERN_STATUS,
    RATE_LIMITED,
    UNAUTHORIZED,
    UNAVAILABLE,
    JsonText,
    ProtocolError,
    json_response,
)

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


@csrf_exempt
def mcp(request: HttpRequest) -> HttpResponse:
    """Answer one message; whatever goes wrong leaves the database as it was."""
    headers: dict[str, str] = {}
    try:
        origin_check(request)
        with transaction.atomic():
            access = authenticate(request)
            headers |= limits_take(access)
            outcome = serve(request, access)
        # A tool that waits for the work of others opens its own transactions.
        response = outcome if isinstance(outcome, HttpResponse) else outcome()
    except ProtocolError as error:
        response = error.response()
    except Exception as exception:
        response = failure(error_from(exception))
    for name, value in headers.items():
        response.headers.setdefault(name, value)
    return response


def origin_check(request: HttpRequest) -> None:
    """Refuse a web page of another site, which could have been sent here by a changed DNS answer.

    Pages of this service, of this machine and of the origins in OMP_MCP_ORIGINS pass, and so does a request
    without Origin, which no browser's page has sent. Raises ProtocolError with status 403.
    """
    origin = request.headers.get("Origin")
    if origin is None or origin in settings.MCP_ORIGINS or "*" in settings.MCP_ORIGINS:
        return
    try:
        parts = urlsplit(origin)
        local = parts.scheme in {"http", "https"} and parts.hostname in LOOPBACK_HOSTS
    except ValueError:
        local = False
    if not local and origin != settings.PUBLIC_URL:
        raise ProtocolError(FORBIDDEN_ORIGIN, "Pages of this origin may not call this server.", 403)


def authenticate(request: HttpRequest) -> Access:
    """Return the access of the request's key or OAuth token. Raises ProtocolError with status 401."""
    credential = credential_from(request)
    access = None
    if credential and is_grant_token(credential):
        access = grant_authenticate(credential, request, durable=False)
    elif credential:
        access = key_authenticate(credential, request, channel="mcp", durable=False)
    if access is None:
        parts = [f'resource_metadata="{resource_metadata_url(request)}"', f'scope="{" ".join(GRANT_SCOPES)}"']
        if credential:
            parts.insert(0, 'error="invalid_token"')
        challenge = f'Bearer realm="commonplace", {", ".join(parts)}'
        sentence = "Send a valid API key or OAuth token as 'Authorization: Bearer …'."
        raise ProtocolError(
            UNAUTHORIZED, sentence, 401, {"error": "unauthorized"}, headers={"WWW-Authenticate": challenge}
        )
    request.access = access  # type: ignore[attr-defined]  # for the log line of the middleware
    return access


def serve(request: HttpRequest, access: Access) -> HttpResponse | Callable[[], HttpResponse]:
    """Return the answer to an authenticated request, or a function that makes it after the transaction."""
    if request.method != "POST":
        raise ProtocolError(
            INVALID_REQUEST, "Messages come by POST; there is no stream to open.", 405, headers={"Allow": "POST"}
        )
    message = message_read(body_read(request))
    if message.notification:
        return HttpResponse(status=202)
    era = era_of(request, message)
    if era == "modern":
        modern_check(request, message)
    handler = METHODS[era].get(message.method)
    log_details(request, mcp_method=message.method if handler else "unknown", mcp_era=era)
    try:
        if handler is None:
            raise ProtocolError(METHOD_NOT_FOUND, "This server has no such method.")
        result = handler(Call(access, message, era, request))
    except ProtocolError as error:
        error.id = message.id
        error.status = MODERN_STATUS.get(error.code, 400) if era == "modern" else 200
        raise
    if not isinstance(result, dict | JsonText):
        return lambda: answer(message, result())
    return answer(message, result)


def answer(message: Message, result: dict[str, Any] | JsonText) -> HttpResponse:
    """Return the HTTP answer with a method's result."""
    text = result if isinstance(result, JsonText) else json_text(result)
    return json_response(f'{{"jsonrpc":"2.0","id":{json_text(message.id)},"result":{text}}}')


def failure(error: ApiError) -> HttpResponse:
    """Return the answer for an error outside a tool: limits, and a database that is away."""
    code = RATE_LIMITED if isinstance(error, RateLimited) else UNAVAILABLE
    data = {"error": error.code, "details": error.details}
    return ProtocolError(code, error.message, error.status, data, headers=error.headers).response()
