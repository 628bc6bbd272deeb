"""How many memories a space may hold."""

from django.conf import settings

from accounts.access import Access
from api.errors import Forbidden
from config.valkey import breaker, client
from memories.models import Memory

KEPT_SECONDS = 600


def quota_take(access: Access, adding: int) -> None:
    """Count `adding` memories against the space's quota. Raises Forbidden when they do not fit.

    A running count in Redis keeps the database from counting on every write; it is only ever too high (deletes are
    not subtracted), and whenever it says no, the rows are counted. While Redis is away nothing is refused.
    """
    if not settings.QUOTAS_ON:
        return
    key = f"quota:memories:{access.space_id}"
    known = breaker.call(lambda: client().incrby(key, adding))
    absent = known == adding
    if known is None or (not absent and known <= settings.QUOTA_MEMORIES):
        return
    count = Memory.objects.filter(space_id=access.space_id).count() + adding
    breaker.call(lambda: client().set(key, count, ex=KEPT_SECONDS))
    if count > settings.QUOTA_MEMORIES:
        raise Forbidden(
            f"The space is full: it may hold {settings.QUOTA_MEMORIES} memories. Delete some, or ask the operator.",
            {"limit": settings.QUOTA_MEMORIES},
        )
