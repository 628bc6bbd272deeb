"""Making and revoking keys."""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from accounts.access import Access
from accounts.models import Space, User
from accounts.permissions import FULL_SCOPES
from apikeys.keys import key_digest, key_generate, key_prefix
from apikeys.models import ApiKey
from events.services import event_record


@transaction.atomic
def apikey_create(
    *,
    access: Access,
    space: Space,
    user: User,
    name: str,
    scopes: Collection[str] = FULL_SCOPES,
    tool: str | None = None,
    read_tools: Collection[str] | None = None,
    namespaces: Collection[str] | None = None,
    types: Collection[str] | None = None,
    quarantine: bool = False,
    expires_at: datetime | None = None,
    key: str | None = None,
) -> tuple[ApiKey, str]:
    """Return a new key's row and the key itself, which exists nowhere else from then on.

    A limit of None means no limit, an empty one means nothing. `key` is given only for the operator's OMP_API_KEY.
    """
    key = key or key_generate()
    row = ApiKey.objects.create(
        space=space, user=user, name=name, digest=key_digest(key), prefix=key_prefix(key), scopes=sorted(scopes),
        tool=tool, read_tools=None if read_tools is None else sorted(read_tools),
        namespaces=None if namespaces is None else sorted(namespaces),
        types=None if types is None else sorted(types), quarantine=quarantine, expires_at=expires_at,
    )  # fmt: skip
    event_record(access=access, type="apikey.created", object_kind="apikey", object_ids=[str(row.pk)])
    return row, key


@transaction.atomic
def apikey_revoke(*, access: Access, apikey: ApiKey) -> ApiKey:
    """Revoke a key; the next request that shows it is refused."""
    apikey.revoke()
    event_record(access=access, type="apikey.revoked", object_kind="apikey", object_ids=[str(apikey.pk)])
    return apikey
