"""How the authorization server treats codes and tokens: hashed, tied to a grant, for this resource only."""

import hashlib
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

import redis
from django.conf import settings
from django.db import transaction
from oauth2_provider.models import AccessToken, RefreshToken
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.oauth2.rfc6749 import errors

from grants.authentication import token_checksum
from grants.models import Grant
from grants.scopes import GRANT_SCOPES
from grants.services import grant_connected, grant_create, grant_revoke

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
MAX_CLIENT_ID = 255


def code_digest(code: str) -> str:
    """Return the SHA-256 digest, in hexadecimal, under which an authorization code is stored."""
    return hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()


class GrantValidator(OAuth2Validator):  # type: ignore[misc]
    """django-oauth-toolkit's validator, with what this service asks for on top.

    A grant's family is that of its refresh tokens, so every token is found from the grant and the grant from every
    token, and no column of the toolkit's tables has a second meaning.
    """

    def _load_application(self, client_id: Any, request: Any) -> Any:
        """Return the client, None for an unknown one; an id that no database can hold is unknown."""
        if not isinstance(client_id, str) or "\x00" in client_id or len(client_id) > MAX_CLIENT_ID:
            return None
        try:
            return super()._load_application(client_id, request)
        except redis.RedisError:
            # A metadata document that would have to be fetched waits until the cache of failures is back.
            return None

    def validate_redirect_uri(self, client_id: str, redirect_uri: str, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Return whether a redirect is registered; plain http goes to this machine only (RFC 8252, section 7.3)."""
        return redirect_allowed(redirect_uri) and bool(
            super().validate_redirect_uri(client_id, redirect_uri, request, *args, **kwargs)
        )

    def validate_scopes(
        self, client_id: str, scopes: Collection[str], client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """Return whether any of the scopes is known here; the consent page leaves the others out (RFC 6749, 3.3)."""
        return not scopes or not GRANT_SCOPES.keys().isdisjoint(scopes)

    def validate_code(self, client_id: str, code: str, client: Any, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Return whether a code is good; a code that comes a second time ends the grant (RFC 6749, 4.1.2)."""
        # From here on the request carries the digest, under which every later step finds the code.
        request.code = code_digest(code)
        if super().validate_code(client_id, request.code, client, request, *args, **kwargs):
            return True
        used = Grant.objects.filter(code=request.code, application=client, connected_at__isnull=False).first()
        if used is not None:
            grant_revoke(grant=used, reason="code_reused")
        return False

    def _create_authorization_code(self, request: Any, code: dict[str, str], expires: Any = None) -> Any:
        """Store a code's digest and the grant that the person has just given."""
        consent = getattr(request, "consent", None)
        if consent is None:
            raise errors.AccessDeniedError(request=request)
        digest = code_digest(code["code"])
        with transaction.atomic():
            row = super()._create_authorization_code(request, {"code": digest}, expires)
            grant_create(
                space=consent.space, user=request.user, application=request.client, tool=consent.tool,
                scopes=request.scopes, code=digest,
            )  # fmt: skip
        return row

    def _create_refresh_token(
        self, request: Any, refresh_token_code: str, access_token: Any, previous_refresh_token: Any
    ) -> Any:
        """Store a refresh token; the first one of a grant takes the grant's family."""
        token = super()._create_refresh_token(request, refresh_token_code, access_token, previous_refresh_token)
        if previous_refresh_token is None:
            grant = Grant.objects.usable().get(code=request.code, application=request.client)
            RefreshToken.objects.filter(pk=token.pk).update(token_family=grant.family)
            grant_connected(grant=grant)
        return token

    def validate_refresh_token(self, refresh_token: str, client: Any, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Return whether a refresh token is good; one that comes a second time ends the grant (RFC 9700, 4.14.2)."""
        if super().validate_refresh_token(refresh_token, client, request, *args, **kwargs):
            family = request.refresh_token_instance.token_family
            return Grant.objects.usable().filter(family=family, user__is_active=True).exists()
        old = RefreshToken.objects.filter(
            token_checksum=token_checksum(refresh_token), revoked__isnull=False, application=client
        ).first()
        grant = Grant.objects.usable().filter(family=old.token_family).first() if old else None
        if grant is not None:
            grant_revoke(grant=grant, reason="token_reused")
        return False

    def revoke_token(self, token: str, token_type_hint: str, request: Any, *args: Any, **kwargs: Any) -> None:
        """Revoke a token of the client that asks, and with it the grant (RFC 7009)."""
        checksum, client = token_checksum(token), request.client
        family = RefreshToken.objects.filter(token_checksum=checksum, application=client).values_list("token_family")
        through = AccessToken.objects.filter(token_checksum=checksum, application=client)
        grant = (
            Grant.objects.usable().filter(family__in=family).first()
            or Grant.objects.usable()
            .filter(family__in=RefreshToken.objects.filter(access_token__in=through).values("token_family"))
            .first()
        )
        if grant is not None:
            grant_revoke(grant=grant, reason="by_assistant")


def redirect_allowed(uri: str) -> bool:
    """Return whether a redirect may leave for this address: https, this machine, or an application's own scheme."""
    try:
        parts = urlsplit(uri)
        host = parts.hostname
    except ValueError:
        return False
    if parts.scheme == "http":
        return host in LOOPBACK_HOSTS
    if parts.scheme == "https":
        return bool(host)
    return parts.scheme in settings.OAUTH_APP_SCHEMES
