"""Idempotency-Key: the repetition of a POST gets the first one's answer and does nothing."""

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import wraps
from typing import Any

from cryptography.fernet import Fernet
from django.conf import settings
from django.db import connection
from django.http import HttpRequest
from django.utils import timezone
from rest_framework.response import Response

from accounts.access import Access, space_transaction
from api import clock
from api.errors import Conflict, IdempotencyConflict, IdempotencyInProgress, Invalid
from api.models import IdempotentRequest
from api.renderers import json_text

KEPT = timedelta(hours=settings.IDEMPOTENCY_HOURS)
RESERVED = timedelta(minutes=10)
HEADERS = ("ETag", "Location", "Link")


def ids_in(data: Any) -> Iterator[str]:
    """Yield the id of every object in an answer."""
    if isinstance(data, dict):
        if isinstance(data.get("id"), str):
            yield data["id"]
        for value in data.values():
            yield from ids_in(value)
    elif isinstance(data, list):
        for value in data:
            yield from ids_in(value)


class Idempotency:
    """One request's key: look for the stored answer before, store the answer after, in the same transaction.

    A lock that lives as long as the transaction stands for "still running", so a crash leaves nothing behind.
    """

    def __init__(self, access: Access, key: str, fingerprint: bytes) -> None:
        self.access, self.fingerprint = access, fingerprint
        self.actor = f"{access.actor_kind}:{access.actor_id}"
        self.digest = hashlib.sha256(key.encode()).digest()
        secret = hmac.digest(settings.SECRET_KEY.encode(), f"idempotency:{key}".encode(), "sha256")
        self.seal = Fernet(base64.urlsafe_b64encode(secret))

    @classmethod
    def of(cls, request: HttpRequest, access: Access, raw: bytes) -> "Idempotency | None":
        """Return the request's idempotency, None without the header. Raises Invalid for an unusable key."""
        key = request.headers.get("Idempotency-Key")
        if key is None:
            return None
        if not 1 <= len(key) <= 255 or not key.isprintable() or not key.isascii():
            raise Invalid.field("Idempotency-Key", "Use 1 to 255 printable ASCII characters, such as a UUID.")
        line = f"{request.method} {request.get_full_path()}\n".encode("utf-8", "surrogatepass")
        return cls(access, key, hashlib.sha256(line + raw).digest())

    def replay(self) -> Response | None:
        """Return the stored answer, or None when this is the first request.

        Raises IdempotencyInProgress while the first one runs, IdempotencyConflict when it was another request,
        Conflict when what it made has been deleted since.
        """
        name = f"{self.access.space_id}:{self.actor}:".encode() + self.digest
        lock = int.from_bytes(hashlib.sha256(name).digest()[:8], signed=True)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [lock])
            if not cursor.fetchone()[0]:
                raise IdempotencyInProgress()
        stored = self._rows().first()
        if stored is not None and timezone.now() - stored.created_at > (KEPT if stored.status else RESERVED):
            self._rows().delete()
            stored = None
        if stored is None:
            return None
        if bytes(stored.fingerprint) != self.fingerprint:
            raise IdempotencyConflict()
        if stored.status is None:
            raise IdempotencyInProgress()
        if not stored.sealed_body:
            raise Conflict("What the first request with this Idempotency-Key answered has been deleted since.")
        response = Response(status=stored.status, headers={**stored.headers, "Idempotency-Replayed": "true"})
        response.stored_body = self.seal.decrypt(bytes(stored.sealed_body))  # type: ignore[attr-defined]
        return response

    def _rows(self) -> Any:
        return IdempotentRequest.objects.visible_to(self.access).filter(actor=self.actor, digest=self.digest)

    def reserve(self) -> None:
        """Note that the first request runs, for a view that has no transaction around it."""
        IdempotentRequest.objects.create(
            space_id=self.access.space_id, actor=self.actor, digest=self.digest, fingerprint=self.fingerprint
        )

    def release(self) -> None:
        """Take the reservation back: the request failed and may be sent again."""
        self._rows().filter(status=None).delete()

    def store(self, response: Response) -> None:
        """Keep the answer of a request that succeeded; errors are not kept, so that they can be mended.

        It goes with any object whose id it holds, or whose id the view names in `response.shows`.
        """
        if response.status_code >= 400:
            return
        body = json_text(response.data).encode() if response.data is not None else b""
        IdempotentRequest.objects.update_or_create(
            space_id=self.access.space_id, actor=self.actor, digest=self.digest,
            defaults={
                "fingerprint": self.fingerprint, "status": response.status_code,
                "headers": {name: response[name] for name in HEADERS if name in response},
                "sealed_body": self.seal.encrypt(body),
                "object_ids": sorted({*ids_in(response.data), *getattr(response, "shows", ())}),
            },
        )  # fmt: skip


def answers_forget(access: Access, ids: Iterable[str]) -> None:
    """Remove the stored answers that show any of these objects; their repetitions answer `conflict` from then on."""
    IdempotentRequest.objects.visible_to(access).filter(object_ids__overlap=list(ids)).update(
        sealed_body=b"", object_ids=[]
    )


def answers_purge(access: Access) -> None:
    """Remove the stored answers of a space that are older than they are kept."""
    IdempotentRequest.objects.visible_to(access).filter(created_at__lt=clock.now() - KEPT).delete()


@contextmanager
def _transaction(access: Access) -> Iterator[None]:
    """Use the view's transaction; a view without one gets a short one of its own."""
    if connection.in_atomic_block:
        yield
    else:
        with space_transaction(access):
            yield


def idempotent(handler: Callable[..., Response]) -> Callable[..., Response]:
    """Give a POST handler of an ApiView its Idempotency-Key.

    In an atomic view a lock stands for "still running"; a view without a transaction leaves a reservation, which
    a crash may leave behind and which therefore lapses.
    """

    @wraps(handler)
    def wrapped(self: Any, request: Any, *args: Any, **kwargs: Any) -> Response:
        once = Idempotency.of(request._request, self.access, self.raw_body())
        if once is None:
            return handler(self, request, *args, **kwargs)
        atomic = connection.in_atomic_block
        with _transaction(self.access):
            stored = once.replay()
            if stored is not None:
                return stored
            if not atomic:
                once.reserve()
        try:
            response = handler(self, request, *args, **kwargs)
        except Exception:
            if not atomic:
                with _transaction(self.access):
                    once.release()
            raise
        with _transaction(self.access):
            once.store(response)
        return response

    wrapped.idempotent = True  # type: ignore[attr-defined]
    return wrapped
