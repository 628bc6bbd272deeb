"""From a request's key to its Access, in one statement that also opens the space to the transaction."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from django.conf import settings
from django.db import connection
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.access import Access, Channel
from accounts.permissions import key_scopes
from api.errors import Unauthorized
from apikeys.keys import key_digest

LOOKUP = """
SELECT k.id, k.space_id, k.user_id, k.name, k.prefix, k.scopes, k.tool, k.read_tools, k.namespaces, k.types,
       k.quarantine, k.last_used_at, m.role, p.requests_per_minute,
       set_config('commonplace.space_id', k.space_id::text, true),
       set_config('synchronous_commit', %s, true)
FROM apikeys_apikey k
JOIN accounts_membership m ON m.space_id = k.space_id AND m.user_id = k.user_id
JOIN accounts_user u ON u.id = k.user_id
JOIN accounts_space s ON s.id = k.space_id
LEFT JOIN accounts_plan p ON p.id = s.plan_id
WHERE k.digest = %s AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()) AND u.is_active
"""
TOUCH = """
UPDATE apikeys_apikey SET last_used_at = now()
WHERE id = (SELECT id FROM apikeys_apikey WHERE id = %s FOR UPDATE SKIP LOCKED)
"""
USE_WRITTEN_EVERY = timedelta(minutes=1)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def credential_from(request: HttpRequest) -> str | None:
    """Return the credential of `Authorization: Bearer …` (any case) or `X-API-Key`, None without one."""
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and value.strip():
        return value.strip()
    return request.headers.get("X-Api-Key", "").strip() or None


def client_ip(request: HttpRequest) -> str | None:
    """Return the peer's address; behind proxies that the operator counts, the one they saw.

    What is no address, such as one with a port behind it, is none: the event log takes nothing else.
    """
    found = _address(request)
    try:
        # A zone (fe80::1%eth0) means nothing to another machine, and PostgreSQL has no place for it.
        return str(ip_address(found.partition("%")[0])) if found else None
    except ValueError:
        return None


def _address(request: HttpRequest) -> str | None:
    hops = settings.TRUSTED_PROXIES
    if hops:
        forwarded = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",") if part.strip()]
        if len(forwarded) >= hops:
            return forwarded[-hops]
    return request.META.get("REMOTE_ADDR") or None


def key_authenticate(key: str, request: HttpRequest, *, channel: Channel, durable: bool | None = None) -> Access | None:
    """Return the access of a usable key, None when there is no such key.

    Must run inside a transaction: the statement that finds the key sets the space for row-level security until
    the transaction ends. A request that only reads commits its audit event without waiting for the disk; the
    method tells which do, unless `durable` does.
    """
    if durable is None:
        durable = request.method not in SAFE_METHODS
    with connection.cursor() as cursor:
        cursor.execute(LOOKUP, ["on" if durable else "off", key_digest(key)])
        row = cursor.fetchone()
        if row is None:
            return None
        (key_id, space_id, user_id, name, prefix, scopes, tool, read_tools, namespaces, types, quarantine, used,
         role, per_minute, *_) = row  # fmt: skip
        if used is None or datetime.now(UTC) - used > USE_WRITTEN_EVERY:
            cursor.execute(TOUCH, [key_id])
    return Access(
        space_id=space_id, user_id=user_id, actor_kind="key", actor_id=str(key_id), actor_name=name,
        scopes=key_scopes(scopes, role, quarantine=quarantine), channel=channel, role=role, write_tool=tool,
        read_tools=None if read_tools is None else frozenset(read_tools),
        namespaces=None if namespaces is None else frozenset(namespaces),
        types=None if types is None else frozenset(types), quarantine=quarantine, ip=client_ip(request),
        request_id=getattr(request, "request_id", ""), credential=prefix,
        requests_per_minute=per_minute,
    )  # fmt: skip


class KeyAuthentication(BaseAuthentication):
    """DRF authentication by API key: request.auth becomes the Access, and there is no request.user."""

    def authenticate(self, request: Request) -> tuple[None, Access]:
        """Return (None, access). Raises Unauthorized without a valid key."""
        key = credential_from(request._request)
        access = key_authenticate(key, request._request, channel="rest") if key else None
        if access is None:
            raise Unauthorized()
        request._request.access = access  # type: ignore[attr-defined]  # for the log line of the middleware
        return None, access

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401."""
        return 'Bearer realm="commonplace"'
