"""The addresses by which OAuth knows this service: issuer, resource and metadata."""

from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.http import HttpRequest

MCP_PATH = "/mcp"
RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource"
SERVER_METADATA_PATH = "/.well-known/oauth-authorization-server"


def public_url(request: HttpRequest) -> str:
    """Return the service's own address: OMP_PUBLIC_URL, or the one that the request came to."""
    if settings.PUBLIC_URL_GIVEN:
        return settings.PUBLIC_URL
    return f"{request.scheme}://{request.get_host()}"


def only_local(url: str) -> bool:
    """Return whether an address is one that servers elsewhere cannot reach: of this machine or of a private network."""
    host = urlsplit(url).hostname or ""
    try:
        return not ip_address(host).is_global
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".local", ".internal")) or "." not in host


def resource_url(request: HttpRequest) -> str:
    """Return the identifier of the one protected resource (RFC 8707): the MCP endpoint."""
    return public_url(request) + MCP_PATH


def resource_metadata_url(request: HttpRequest) -> str:
    """Return the address of the resource's metadata (RFC 9728, section 3.1)."""
    return public_url(request) + RESOURCE_METADATA_PATH + MCP_PATH


def same_resource(given: str, request: HttpRequest) -> bool:
    """Return whether a resource indicator names this service's MCP endpoint."""
    return _normal(given) == _normal(resource_url(request))


def _normal(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        port = {"http": 80, "https": 443}.get(parts.scheme.lower())
        host = parts.hostname or ""
        netloc = host if parts.port in (None, port) else f"{host}:{parts.port}"
    except ValueError:
        return None
    if parts.username is not None or "#" in url or "?" in url:
        return None
    return urlunsplit((parts.scheme.lower(), netloc, parts.path.rstrip("/"), "", ""))
