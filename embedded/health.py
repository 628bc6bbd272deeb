"""Asking the running service whether it is well; as a script, a container's health check."""

from __future__ import annotations

import http.client
import os
import sys
from urllib.parse import urlsplit

from embedded.errors import StartError


def listen_address() -> tuple[str, int]:
    """Return the host and port that OMP_HOST and PORT name, by default 127.0.0.1 and 8000.

    Raises StartError when PORT is not a port number.
    """
    host, port = os.environ.get("OMP_HOST") or "127.0.0.1", os.environ.get("PORT") or "8000"
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise StartError(f"PORT must be a number from 1 to 65535, not {port!r}.")
    return host, int(port)


def whole_number(name: str, default: int) -> int:
    """Return the whole number in an environment variable, at least 1; raise StartError otherwise."""
    value = os.environ.get(name) or str(default)
    if not value.isascii() or not value.isdigit() or int(value) < 1:
        raise StartError(f"{name} must be a whole number of at least 1, not {value!r}.")
    return int(value)


def healthy(host: str, port: int) -> bool:
    """Tell whether GET /v1/health at an address of this machine answers 200 within two seconds."""
    wildcard = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - translated, not bound
    # Asked as through the proxy in front, or host names and redirection to https get in the way.
    public = urlsplit(os.environ.get("OMP_PUBLIC_URL") or f"http://localhost:{port}")
    headers = {"Host": public.netloc, "X-Forwarded-Proto": public.scheme}
    connection = http.client.HTTPConnection(wildcard.get(host, host), port, timeout=2)
    try:
        connection.request("GET", "/v1/health", headers=headers)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(0 if healthy(*listen_address()) else 1)
