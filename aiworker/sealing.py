"""A request's own AI key on its way to the worker: sealed, short-lived, and gone with the job."""

import base64
import hmac

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

from api.errors import NoApiKey

LIFE_SECONDS = 3_600  # a job that has waited longer asks for the key again


def _seal() -> Fernet:
    # A key of its own, so that nothing else that SECRET_KEY signs can be opened with it.
    secret = hmac.digest(settings.SECRET_KEY.encode(), b"aiworker.sealing", "sha256")
    return Fernet(base64.urlsafe_b64encode(secret))


def key_seal(api_key: str) -> str:
    """Return the key as a token that only this service opens, within LIFE_SECONDS."""
    return _seal().encrypt(api_key.encode()).decode("ascii")


def key_open(token: str) -> str:
    """Return the key of a token. Raises NoApiKey when it has lapsed or SECRET_KEY has changed since."""
    try:
        return _seal().decrypt(token.encode("ascii"), ttl=LIFE_SECONDS).decode()
    except (InvalidToken, ValueError):
        raise NoApiKey("The request's api_key has lapsed before the work began. Send the request again.") from None
