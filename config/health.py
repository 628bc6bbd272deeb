"""Health: what clients, people and orchestrators ask before anything else (OMP 0.1, section 3.3)."""

from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db import connection, transaction
from django.http import HttpRequest, JsonResponse

from api.errors import error_from, error_response
from api.openviews import safe_only
from apikeys.authentication import credential_from, key_authenticate
from config.valkey import is_up
from memories.models import Memory

OMP_VERSION = "0.1"
COUNT_SECONDS = 15


def server_count() -> int:
    """Return how many memories the server holds, counted at most every few seconds."""

    def count() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT commonplace_memories_count()")
            return int(cursor.fetchone()[0])

    cached = cache.get("health:memories")
    if isinstance(cached, int):
        return cached
    counted = count()
    cache.set("health:memories", counted, COUNT_SECONDS)
    return counted


@safe_only
def health(request: HttpRequest) -> JsonResponse:
    """Answer the state of the service; with a key that may read, the count is of what it may read."""
    key = credential_from(request)
    try:
        with transaction.atomic():
            access = key_authenticate(key, request, channel="rest") if key else None
            reads = access is not None and access.may("memories:read")
            count = Memory.objects.visible_to(access).count() if reads else server_count()
    except Exception as exception:
        error = error_from(exception)
        return error_response(error)
    up = is_up()
    body: dict[str, Any] = {
        "status": "ok" if up else "degraded",
        "version": OMP_VERSION,
        "memories_count": count,
        "compliance": "OMP-Full",
        "server": f"commonplace/{settings.VERSION}",
        "checks": {"database": "ok", "redis": "ok" if up else "unavailable"},
    }
    off = [name for name, on in (("rate_limit", settings.RATE_LIMIT_ON), ("quotas", settings.QUOTAS_ON)) if not on]
    if off:
        body["switched_off"] = off
    return JsonResponse(body)


@safe_only
def livez(request: HttpRequest) -> JsonResponse:
    """Answer 200 while this process serves requests."""
    return JsonResponse({"status": "ok"})


@safe_only
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 200 when the database answers, 503 otherwise."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Exception as exception:
        return error_response(error_from(exception))
    return JsonResponse({"status": "ok"})
