"""API keys as the operator sees them: whose, how wide, when used; never the key nor its digest."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.access import Access, space_transaction
from accounts.admin import Reader
from apikeys.models import ApiKey
from apikeys.services import apikey_revoke


@admin.register(ApiKey)
class ApiKeyAdmin(Reader):
    """Keys of all spaces; they can be revoked."""

    list_display = ("prefix", "name", "user", "space", "created_at", "last_used_at", "expires_at", "revoked_at")
    search_fields = ("prefix", "name", "user__email")
    list_select_related = ("user", "space")
    ordering = ("-created_at",)
    fields = readonly_fields = (*list_display, "scopes", "tool", "read_tools", "namespaces", "types", "quarantine")
    actions = ("revoke",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: a revoked key stays, so that the event log can name it."""
        return False

    @admin.action(description="Revoke")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """Revoke the keys that were ticked."""
        for key in queryset.filter(revoked_at=None):
            system = Access.system(key.space_id)
            with space_transaction(system):
                apikey_revoke(access=system, apikey=key)
