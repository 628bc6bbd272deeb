"""The access of a job: kept as ids and limits, rebuilt from what its credential may do when the job runs."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from accounts.access import Access, space_set
from accounts.models import Membership
from accounts.permissions import key_scopes
from api.errors import Unauthorized
from apikeys.models import ApiKey
from grants.models import Grant

SETS = ("scopes", "read_tools", "namespaces", "types")


def access_save(access: Access) -> dict[str, Any]:
    """Return the access as JSON: ids, names and limits, and no secret."""
    saved = asdict(access)
    for name in SETS:
        saved[name] = None if saved[name] is None else sorted(saved[name])
    return saved


def access_load(saved: dict[str, Any]) -> Access:
    """Return the access that the credential of `saved` gives at this moment.

    Must run inside a transaction, in which the space is set for row-level security from then on. Raises
    Unauthorized when the key is revoked or expired, or its person has left the space or is switched off.
    """
    then = Access(**saved | {name: None if saved[name] is None else frozenset(saved[name]) for name in SETS})
    space_set(then.space_id)
    if then.actor_kind == "system":
        return then
    members = Membership.objects.filter(space_id=then.space_id, user__is_active=True)
    member = members.filter(user_id=then.user_id).first() if then.user_id else None
    now = RELOADERS[then.actor_kind](then) if member else None
    if member is None or now is None:
        raise Unauthorized("The key or sign-in that asked for this job is no longer valid.")
    scopes = key_scopes(now.scopes, member.role, quarantine=now.quarantine)
    return replace(now, role=member.role, scopes=scopes)


def _key(then: Access) -> Access | None:
    """Return the access with the scopes and limits that its key has now, None for a key that is over."""
    key = ApiKey.objects.usable().filter(pk=int(then.actor_id), space_id=then.space_id).first()
    if key is None:
        return None

    def limit(values: list[str] | None) -> frozenset[str] | None:
        return None if values is None else frozenset(values)

    return replace(
        then, scopes=frozenset(key.scopes), write_tool=key.tool, read_tools=limit(key.read_tools),
        namespaces=limit(key.namespaces), types=limit(key.types), quarantine=key.quarantine,
    )  # fmt: skip


def _grant(then: Access) -> Access | None:
    """Return the access unchanged while the assistant's grant stands: a new consent is a new grant."""
    stands = Grant.objects.usable().filter(pk=int(then.actor_id), space_id=then.space_id).exists()
    return then if stands else None


# How the access of each kind of credential is brought up to date; each gives None when the credential is over.
RELOADERS: dict[str, Callable[[Access], Access | None]] = {"key": _key, "user": lambda then: then, "grant": _grant}
