"""Client-id metadata documents: fetched from a client's own address, never from inside this network."""

import http.client
import ssl
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from oauth2_provider.cimd import CIMDError, SafeMetadataFetcher
from oauth2_provider.settings import oauth2_settings

from api.text import text_problem


class DocumentFetcher(SafeMetadataFetcher):  # type: ignore[misc]
    """The toolkit's guarded fetcher, which may also reach this machine when a developer has said so.

    It takes https only, resolves the host once, refuses addresses that are not public, follows no redirect and
    reads a few KiB within seconds. OMP_OAUTH_LOCAL_CLIENTS, refused in production, opens the loopback interface.
    """

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        """Return a client's metadata and the seconds for which it holds. Raises CIMDError."""
        parts = urlsplit(client_id)
        if settings.OAUTH_LOCAL_CLIENTS and parts.hostname == "localhost":
            metadata, seconds = self._local(
                parts.port or 443, f"{parts.path}?{parts.query}" if parts.query else parts.path
            )
        else:
            metadata, seconds = super().fetch(client_id)
        if not _storable(metadata):
            raise CIMDError("client_id document holds characters that cannot be stored")
        return metadata, seconds

    def _local(self, port: int, path: str) -> tuple[dict[str, Any], int]:
        context = ssl.create_default_context()
        timeout = oauth2_settings.CIMD_FETCH_TIMEOUT_SECONDS
        connection = http.client.HTTPSConnection("localhost", port, timeout=timeout, context=context)
        try:
            connection.request("GET", path, headers={"Accept": "application/json"})
            read: tuple[dict[str, Any], int] = self._read_document(connection.getresponse())
            return read
        except (OSError, http.client.HTTPException) as error:
            raise CIMDError(f"could not fetch client_id document: {type(error).__name__}") from None
        finally:
            connection.close()


def _storable(value: Any) -> bool:
    """Return whether no string in a JSON value holds what PostgreSQL cannot."""
    if isinstance(value, str):
        return text_problem(value) is None
    if isinstance(value, dict):
        return all(_storable(item) for item in value.values())
    return not isinstance(value, list) or all(_storable(item) for item in value)
