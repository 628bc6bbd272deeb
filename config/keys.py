"""Keys for one purpose each, derived from SECRET_KEY."""

import base64
import hashlib
import hmac

from django.conf import settings


def derived_key(purpose: str) -> bytes:
    """Return 32 bytes for one purpose as URL-safe base64, the form that Fernet takes."""
    return base64.urlsafe_b64encode(hmac.digest(settings.SECRET_KEY.encode(), purpose.encode(), hashlib.sha256))
