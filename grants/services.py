"""Making, listing and revoking grants."""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from oauth2_provider.models import Application, RefreshToken

from accounts.access import Access, space_set
from accounts.models import Space, User
from api.timestamps import timestamp_format
from events.services import event_record
from grants.models import Grant


def grant_actor(grant: Grant) -> Access:
    """Return the access under which a grant's own life is written to the event log: its person's."""
    return Access(
        space_id=grant.space_id, user_id=grant.user_id, actor_kind="user", actor_id=str(grant.user_id),
        actor_name=grant.user.name or grant.user.email, scopes=frozenset(), channel="dashboard",
    )  # fmt: skip


@transaction.atomic
def grant_create(
    *,
    space: Space,
    user: User,
    application: Application,
    tool: str,
    scopes: Collection[str],
    code: str,
) -> Grant:
    """Return the grant for a consent just given; `code` is the digest of its authorization code."""
    grant = Grant.objects.create(
        space=space, user=user, application=application, name=(application.name or tool)[:100], tool=tool,
        scopes=sorted(scopes), code=code,
    )  # fmt: skip
    _record(grant, "grant.created", {"scopes": sorted(scopes)})
    return grant


def grant_list(*, access: Access) -> QuerySet[Grant]:
    """Return the usable grants of the access's space, newest first; a member sees their own, owner and admin all."""
    rows = Grant.objects.connected().filter(space_id=access.space_id).select_related("user", "application")
    if access.role not in {"owner", "admin"}:
        rows = rows.filter(user_id=access.user_id or 0)
    return rows.order_by("-created_at", "-pk")


@transaction.atomic
def grant_revoke(*, grant: Grant, access: Access | None = None, reason: str = "asked") -> Grant:
    """Revoke a grant with all of its tokens; the next request that shows one is refused.

    `access` is who asks: a person on the Connections page, or None for the assistant itself and for the service.
    """
    usable = grant.revoke()
    RefreshToken.revoke_family(grant.family)
    if usable:
        _record(grant, "grant.revoked", {"reason": reason}, access)
    return grant


@transaction.atomic
def grant_connected(*, grant: Grant) -> None:
    """Note that the assistant has exchanged its code.

    A client that registered itself is one installation, so its new grant takes the place of its earlier ones.
    """
    Grant.objects.filter(pk=grant.pk).update(connected_at=timezone.now())
    if grant.application.registration_source == Application.RegistrationSource.DCR:
        earlier = Grant.objects.usable().filter(application=grant.application, user=grant.user).exclude(pk=grant.pk)
        for old in earlier.select_related("user"):
            grant_revoke(grant=old, reason="replaced")


def grant_present(grant: Grant) -> dict[str, Any]:
    """Return a grant as the Connections page and exports show it; never a token."""
    return {
        "id": str(grant.pk),
        "name": grant.name,
        "tool": grant.tool,
        "scopes": grant.scopes,
        "created_at": timestamp_format(grant.created_at),
        "last_used_at": timestamp_format(grant.last_used_at) if grant.last_used_at else None,
    }


def _record(grant: Grant, type: str, details: dict[str, Any], access: Access | None = None) -> None:
    space_set(grant.space_id)
    event_record(
        access=access or grant_actor(grant), type=type, object_kind="grant", object_ids=[str(grant.pk)],
        details=details,
    )  # fmt: skip
