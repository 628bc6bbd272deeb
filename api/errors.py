"""The errors of every JSON endpoint: one envelope (OMP 0.1, section 4), one class a code."""

import logging
from typing import Any

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import InterfaceError, OperationalError, connection, transaction
from django.http import Http404, HttpRequest, JsonResponse
from rest_framework import exceptions as drf
from rest_framework.response import Response

from config.logs import without_text

logger = logging.getLogger(__name__)


class ApiError(Exception):
    """An error that a client can act on; services raise it, REST and MCP show it."""

    code = "internal_error"
    status = 500
    default = "Something failed on our side. The request id helps us to find it."

    def __init__(
        self, message: str = "", details: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> None:
        self.message = message or self.default
        self.details = details or {}
        self.headers = headers or {}
        super().__init__(self.message)

    def envelope(self) -> dict[str, Any]:
        """Return the body {"error", "message", "details"}."""
        return {"error": self.code, "message": self.message, "details": self.details}


class Unauthorized(ApiError):
    """401: no valid credential."""

    code, status = "unauthorized", 401
    default = "Send a valid API key as 'Authorization: Bearer om_…'. Keys are made on the Connections page."


class Forbidden(ApiError):
    """403: a valid credential that may not do this."""

    code, status = "forbidden", 403
    default = "This key is not allowed to do that."


class NotFound(ApiError):
    """404: nothing visible has this address."""

    code, status = "not_found", 404
    default = "There is nothing here. The paths are listed at /v1/openapi.json."


class MemoryNotFound(NotFound):
    """404: no visible memory has this id."""

    code = "memory_not_found"
    default = "No memory with this id is visible to this key."


class MethodNotAllowed(ApiError):
    """405: the address exists, the method does not."""

    code, status = "method_not_allowed", 405
    default = "This address does not take that method; the Allow header lists those it takes."


class Conflict(ApiError):
    """409: the object is in another state."""

    code, status = "conflict", 409
    default = "The object is in another state by now."


class VersionConflict(Conflict):
    """409: the object is at another version; details {current_version}."""

    code = "version_conflict"
    default = "The object has moved on. Read it again and repeat with its current version."


class IdempotencyInProgress(Conflict):
    """409: the first request with this Idempotency-Key still runs."""

    code = "idempotency_in_progress"
    default = "The first request with this Idempotency-Key is still running; repeat this one in a moment."


class PreconditionFailed(ApiError):
    """412: If-Match names another version."""

    code, status = "precondition_failed", 412
    default = "The version named by If-Match is not the current one. Read the object again."


class PayloadTooLarge(ApiError):
    """413: the body, or a value in it, is too large."""

    code, status = "payload_too_large", 413
    default = "The request body is too large."


class UnsupportedMediaType(ApiError):
    """415: the body is not of a type or encoding that this address reads."""

    code, status = "unsupported_media_type", 415
    default = "Send the body as application/json, without Content-Encoding."


class Invalid(ApiError):
    """422: the request does not fit; details {"fields": {path: [sentence]}}."""

    code, status = "validation_error", 422
    default = "The request does not fit. The fields that are wrong are in details.fields."

    @classmethod
    def field(cls, path: str, sentence: str) -> "Invalid":
        """Return the error for one wrong field."""
        return cls(details={"fields": {path: [sentence]}})


class IdempotencyConflict(ApiError):
    """422: this Idempotency-Key was used with another body."""

    code, status = "idempotency_conflict", 422
    default = "This Idempotency-Key was used before with another request. Use a new key for a new request."


class NoApiKey(ApiError):
    """422: no key for an AI provider is configured (OMP 0.1, section 3.3)."""

    code, status = "no_api_key", 422
    default = "No AI API key is configured. Send api_key in the request, or have the operator set OMP_AI_API_KEY."


class RateLimited(ApiError):
    """429: too many requests."""

    code, status = "rate_limited", 429
    default = "Too many requests. Wait for the seconds in Retry-After."


class AiError(ApiError):
    """502: the AI provider failed (OMP 0.1, section 3.3)."""

    code, status = "ai_error", 502
    default = "The AI provider returned an error."


class Unavailable(ApiError):
    """503: the database is away."""

    code, status = "unavailable", 503
    default = "The service is briefly unavailable. Repeat the request in a few seconds."

    def __init__(self, message: str = "", details: dict[str, Any] | None = None) -> None:
        super().__init__(message, details, {"Retry-After": "5"})


# The framework's own exceptions, raised before or beside our code.
FRAMEWORK_ERRORS: dict[type[Exception], type[ApiError]] = {
    Http404: NotFound,
    drf.NotFound: NotFound,
    drf.MethodNotAllowed: MethodNotAllowed,
    drf.NotAuthenticated: Unauthorized,
    drf.AuthenticationFailed: Unauthorized,
    drf.PermissionDenied: Forbidden,
    PermissionDenied: Forbidden,
    drf.ParseError: Invalid,
    drf.UnsupportedMediaType: UnsupportedMediaType,
}


def error_from(exception: Exception) -> ApiError:
    """Return the error to show for any exception; an unknown one is logged by its type, never by its text."""
    if isinstance(exception, ApiError):
        return exception
    if isinstance(exception, OperationalError | InterfaceError):
        logger.error("database unavailable: %s", type(exception).__name__)
        return Unavailable()
    known = FRAMEWORK_ERRORS.get(type(exception))
    if known:
        return known()
    if isinstance(exception, SuspiciousOperation):  # such as more parameters than the framework reads
        return Invalid("The request is not one that this service reads.")
    # The traceback holds no values; the exception's text may quote a row, so only its type is written.
    logger.error("unhandled %s", type(exception).__name__, exc_info=without_text(exception))
    return ApiError()


def exception_handler(exception: Exception, context: dict[str, Any]) -> Response:
    """Turn any exception of an API view into its envelope and undo the transaction (DRF's hook)."""
    error = error_from(exception)
    if connection.in_atomic_block and getattr(context["view"], "atomic", True):
        transaction.set_rollback(True)
    headers = dict(error.headers)
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = ", ".join(context["view"].allowed_methods)
    if isinstance(error, Unauthorized):
        headers.setdefault("WWW-Authenticate", 'Bearer realm="commonplace"')
    return Response(error.envelope(), status=error.status, headers=headers)


def error_response(error: ApiError) -> JsonResponse:
    """Return the envelope outside a view of the API: unknown routes and failures of the framework."""
    return JsonResponse(error.envelope(), status=error.status, headers=error.headers)


def api_request(request: HttpRequest) -> bool:
    """Return whether the request came by a door that speaks JSON."""
    return request.path.startswith(("/v1", "/mcp"))
