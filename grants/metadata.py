"""The two documents by which a client that knows only /mcp finds its way in (RFC 9728 and RFC 8414)."""

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from grants.addresses import public_url, resource_url
from grants.scopes import GRANT_SCOPES

AUTH_METHODS = ["none", "client_secret_post", "client_secret_basic"]


@require_safe
def resource_metadata(request: HttpRequest) -> JsonResponse:
    """Answer which authorization server guards /mcp."""
    return _document(
        {
            "resource": resource_url(request),
            "authorization_servers": [public_url(request)],
            "scopes_supported": list(GRANT_SCOPES),
            "bearer_methods_supported": ["header"],
            "resource_name": "Commonplace",
            "resource_documentation": public_url(request) + reverse("connect"),
        }
    )


@require_safe
def server_metadata(request: HttpRequest) -> JsonResponse:
    """Answer what the authorization server can do and where."""
    base = public_url(request)
    return _document(
        {
            "issuer": base,
            "authorization_endpoint": base + reverse("oauth-authorize"),
            "token_endpoint": base + reverse("oauth-token"),
            "registration_endpoint": base + reverse("oauth-register"),
            "revocation_endpoint": base + reverse("oauth-revoke"),
            "scopes_supported": list(GRANT_SCOPES),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": AUTH_METHODS,
            "revocation_endpoint_auth_methods_supported": AUTH_METHODS,
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": True,
            "service_documentation": base + reverse("connect"),
        }
    )


def _document(body: dict[str, Any]) -> JsonResponse:
    return JsonResponse(body, headers={"Cache-Control": "public, max-age=300", "Vary": "Host"})
