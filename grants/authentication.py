"""From an OAuth access token to its Access, in one statement that also opens the space to the transaction."""

import hashlib
import json
import secrets
from datetime import UTC, datetime
from typing import Any

from django.db import connection
from django.http import HttpRequest

from accounts.access import Access
from accounts.permissions import ROLE_SCOPES
from apikeys.authentication import USE_WRITTEN_EVERY, client_ip
from grants.addresses import same_resource
from grants.scopes import scopes_of

ACCESS_PREFIX = "cpa_"
REFRESH_PREFIX = "cpr_"
LOOKUP = """
SELECT g.id, g.space_id, g.user_id, g.name, g.tool, g.scopes, g.last_used_at, t.scope, t.resource::text, m.role,
       p.requests_per_minute,
       set_config('commonplace.space_id', g.space_id::text, true),
       set_config('synchronous_commit', %s, true)
FROM oauth2_provider_accesstoken t
JOIN oauth2_provider_refreshtoken r ON r.access_token_id = t.id AND r.revoked IS NULL
JOIN grants_grant g ON g.family = r.token_family AND g.revoked_at IS NULL
JOIN accounts_membership m ON m.space_id = g.space_id AND m.user_id = g.user_id
JOIN accounts_user u ON u.id = g.user_id
JOIN accounts_space s ON s.id = g.space_id
LEFT JOIN accounts_plan p ON p.id = s.plan_id
WHERE t.token_checksum = %s AND t.expires > now() AND u.is_active
"""
TOUCH = """
UPDATE grants_grant SET last_used_at = now()
WHERE id = (SELECT id FROM grants_grant WHERE id = %s FOR UPDATE SKIP LOCKED)
"""


def access_token_generate(request: Any) -> str:
    """Return a new access token: 256 random bits behind a prefix that tells it from a key."""
    return ACCESS_PREFIX + secrets.token_urlsafe(32)


def refresh_token_generate(request: Any) -> str:
    """Return a new refresh token."""
    return REFRESH_PREFIX + secrets.token_urlsafe(32)


def is_grant_token(credential: str) -> bool:
    """Return whether a credential has the form of an OAuth access token."""
    return credential.startswith(ACCESS_PREFIX)


def token_checksum(token: str) -> str:
    """Return the SHA-256 digest, in hexadecimal, under which a token is stored and found."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def grant_authenticate(token: str, request: HttpRequest, *, durable: bool = True) -> Access | None:
    """Return the access of a live token for this resource, None when there is no such token.

    A token that was issued for no resource, or for another one, is refused (RFC 8707). Must run inside a
    transaction, like apikeys.authentication.key_authenticate.
    """
    with connection.cursor() as cursor:
        cursor.execute(LOOKUP, ["on" if durable else "off", token_checksum(token)])
        row = cursor.fetchone()
        if row is None:
            return None
        (grant_id, space_id, user_id, name, tool, granted, used, scope, resource, role, per_minute, *_) = row
        if not any(same_resource(url, request) for url in json.loads(resource)):
            return None
        if used is None or datetime.now(UTC) - used > USE_WRITTEN_EVERY:
            cursor.execute(TOUCH, [grant_id])
    steps = set(granted) & set(scope.split())
    return Access(
        space_id=space_id, user_id=user_id, actor_kind="grant", actor_id=str(grant_id), actor_name=name,
        scopes=scopes_of(steps) & ROLE_SCOPES[role], channel="mcp", role=role, write_tool=tool,
        ip=client_ip(request), request_id=getattr(request, "request_id", ""), credential=f"grant {grant_id}",
        requests_per_minute=per_minute,
    )  # fmt: skip
