"""The addresses of OAuth: below /oauth, and the two documents at the places that clients know."""

from django.urls import path

from grants.metadata import resource_metadata, server_metadata
from grants.registration import register
from grants.views import AuthorizeView, RevokeView, TokenView

urlpatterns = [
    path("oauth/authorize", AuthorizeView.as_view(), name="oauth-authorize"),
    path("oauth/token", TokenView.as_view(), name="oauth-token"),
    path("oauth/revoke", RevokeView.as_view(), name="oauth-revoke"),
    path("oauth/register", register, name="oauth-register"),
    path(".well-known/oauth-protected-resource", resource_metadata, name="resource-metadata"),
    path(".well-known/oauth-protected-resource/mcp", resource_metadata, name="resource-metadata-mcp"),
    path(".well-known/oauth-authorization-server", server_metadata, name="server-metadata"),
    # For clients that look for the server's document under the resource's path.
    path(".well-known/oauth-authorization-server/mcp", server_metadata, name="server-metadata-mcp"),
]
