"""What the open endpoints of OAuth take from one address, and how large a request may be."""

from django.conf import settings
from django.http import HttpRequest

from apikeys.authentication import client_ip
from apikeys.throttles import Rule, buckets_take

MAX_BODY_BYTES = 64 * 1024


def address_take(request: HttpRequest, name: str, per_minute: int) -> None:
    """Count one request of the peer's address against a rule. Raises RateLimited."""
    if settings.RATE_LIMIT_ON:
        buckets_take([(Rule(name, per_minute, per_minute), client_ip(request) or "unknown")])


def too_large(request: HttpRequest) -> bool:
    """Return whether a form is larger than any that OAuth needs."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    return length.isdigit() and int(length) > MAX_BODY_BYTES
