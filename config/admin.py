"""People, spaces, keys, plans and switches, as the operator sees them: no secret, nothing of what is stored."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.forms import AdminPasswordChangeForm
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import action

from accounts.access import Access, space_transaction
from accounts.models import Invitation, Membership, Plan, Role, Space, SupportVisit, Switch, User
from accounts.support import VISIT, support_enter
from accounts.switches import switches_forget
from api.errors import Forbidden
from apikeys.models import ApiKey
from apikeys.services import apikey_revoke
from memories.quota import quota_forget


class Reader(ModelAdmin):  # type: ignore[misc]  # the library has no types
    """A list that the operator reads and changes only where a subclass says so."""

    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: people make these themselves."""
        return False


class Memberships(TabularInline):  # type: ignore[misc]
    """The spaces of a person, or the people of a space."""

    model = Membership
    extra = 0
    fields = readonly_fields = ("space", "user", "role", "created_at")
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: people join by invitation."""
        return False


@admin.register(User)
class UserAdmin(Reader):
    """People: switched off and on, made operators, visited with their consent."""

    list_display = ("email", "name", "is_active", "is_staff", "date_joined", "last_login")
    list_filter = ("is_active", "is_staff")
    search_fields = ("email", "name")
    ordering = ("-date_joined",)
    fields = ("email", "name", "is_active", "is_staff", "is_superuser", "date_joined", "last_login")
    readonly_fields = ("email", "name", "date_joined", "last_login")
    inlines = (Memberships,)
    change_password_form = AdminPasswordChangeForm
    actions_detail = ("look_in",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: people delete themselves; the operator switches them off."""
        return False

    @action(description="Look in, with their consent", url_path="look-in")  # type: ignore[untyped-decorator]
    def look_in(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Open the person's spaces as a viewer, when they have allowed it."""
        user = User.objects.get(pk=object_id)
        operator: Any = request.user
        if request.method != "POST":
            open_visit = SupportVisit.objects.filter(user=user).open().first()
            context = self.admin_site.each_context(request) | {"title": "Look in", "person": user, "visit": open_visit}
            return TemplateResponse(request, "admin/look_in.html", context)
        try:
            visit: SupportVisit = support_enter(operator=operator, user=user)
        except Forbidden as error:
            messages.error(request, error.message)
            return redirect(reverse("admin:accounts_user_change", args=[object_id]))
        request.session[VISIT] = visit.pk
        return redirect("home")


@admin.register(Space)
class SpaceAdmin(Reader):
    """Spaces: who owns them and which plan they are on, nothing of what they hold."""

    list_display = ("name", "owner", "kind", "plan", "created_at")
    list_filter = ("kind", "plan")
    search_fields = ("name", "memberships__user__email")
    ordering = ("-created_at",)
    fields = ("name", "kind", "plan", "timezone", "language", "dreams_enabled", "events_kept_days", "created_at")
    readonly_fields = tuple(name for name in fields if name != "plan")
    inlines = (Memberships,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Space]:
        """Return the spaces with the address of each one's owner."""
        owners = Membership.objects.filter(space_id=OuterRef("pk"), role=Role.OWNER)
        spaces: QuerySet[Space] = super().get_queryset(request)
        return spaces.annotate(owner=Subquery(owners.values("user__email")[:1]))

    @admin.display(ordering="owner")
    def owner(self, space: Any) -> str:
        """Return the address of the owner."""
        address: str = space.owner
        return address

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: the owner deletes a space."""
        return False

    def save_model(self, request: HttpRequest, obj: Space, form: Any, change: bool) -> None:
        """Store the plan, which holds from the next write on."""
        super().save_model(request, obj, form, change)
        quota_forget(obj.pk)


@admin.register(Invitation)
class InvitationAdmin(Reader):
    """Invitations, without their secrets."""

    list_display = ("email", "space", "role", "created_at", "expires_at", "accepted_at", "revoked_at")
    fields = readonly_fields = list_display
    ordering = ("-created_at",)


class Setting(ModelAdmin):  # type: ignore[misc]
    """Something that the operator sets; it holds at once in this process and within seconds in the others."""

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Store the change."""
        super().save_model(request, obj, form, change)
        switches_forget()

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Remove the row."""
        super().delete_model(request, obj)
        switches_forget()


@admin.register(Plan)
class PlanAdmin(ModelAdmin):  # type: ignore[misc]
    """Plans."""

    list_display = ("name", "memories", "requests_per_minute")

    def save_model(self, request: HttpRequest, obj: Plan, form: Any, change: bool) -> None:
        """Store the plan, which holds from the next request of its spaces on."""
        super().save_model(request, obj, form, change)
        for space_id in obj.spaces.values_list("pk", flat=True):
            quota_forget(space_id)


@admin.register(Switch)
class SwitchAdmin(Setting):
    """Switches."""

    list_display = ("name", "on")


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
