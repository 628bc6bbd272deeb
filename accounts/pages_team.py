"""The pages of a space's people and settings."""

from typing import Any

from allauth.account.adapter import get_adapter
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import team as services
from accounts.forms import InvitationForm, SettingsForm
from accounts.models import Invitation, Membership, Role, Space, User
from accounts.pageviews import PageRequest, page
from accounts.services import space_update
from accounts.sessions import SPACE, space_open
from api.errors import ApiError, Conflict, Forbidden, Invalid
from config.mail import mail_is_printed
from memories.model_changes import space_models

ROLE_WORDS = {
    "owner": "Everything, and the end of the space",
    "admin": "Everything but handing over or deleting the space",
    "member": "Reads, writes and makes own keys; does not approve",
    "viewer": "Only reads",
}


@require_http_methods(["GET", "HEAD", "POST"])
@page("read")
def team(request: PageRequest) -> HttpResponse:
    """Show who shares the space; owner and admins invite."""
    access = request.access
    may_invite = "team" in request.may
    form = InvitationForm(request.POST or None, roles=services.roles_given_by(access.role))
    if request.method == "POST":
        if not may_invite:
            raise Forbidden("The owner and admins invite people.")
        if form.is_valid():
            try:
                link = request.build_absolute_uri(reverse("invitation", args=["TOKEN"])).replace("TOKEN", "{token}")
                invited = services.invitation_create(access=access, address=link, **form.cleaned_data)
                where = " It is printed in the service's terminal: no mail server is set up." * mail_is_printed()
                messages.success(request, f"An invitation is on its way to {invited.email}.{where}")
                return redirect("team")
            except (Conflict, Forbidden) as error:
                form.add_error("email", error.message)
    places = Membership.objects.filter(space_id=access.space_id).select_related("user").order_by("created_at", "pk")
    context: dict[str, Any] = {
        "places": places[:500], "form": form, "roles": ROLE_WORDS, "given": services.roles_given_by(access.role),
        "invitations": Invitation.objects.filter(space_id=access.space_id).open().order_by("-created_at")
        if may_invite else [],
        "may_invite": may_invite, "personal": request.membership.space.kind == Space.Kind.PERSONAL,
    }  # fmt: skip
    return render(request, "team/list.html", context, status=422 if form.errors else 200)


@require_POST
@page("team")
def member_role(request: PageRequest, membership_id: int) -> HttpResponse:
    """Give a member another role."""
    role = request.POST.get("role", "")
    if role not in Role.values:
        raise Invalid("There is no such role.")
    place = services.member_role_change(access=request.access, membership_id=membership_id, role=role)
    messages.success(request, f"{place.user.name or place.user.email} is now {role}.")
    return redirect("team")


@require_POST
@page("team")
def member_remove(request: PageRequest, membership_id: int) -> HttpResponse:
    """Remove a member."""
    user = services.member_remove(access=request.access, membership_id=membership_id)
    messages.success(request, f"{user.name or user.email} is no longer a member; their keys are refused from now on.")
    return redirect("team")


@require_POST
@page("team")
def invitation_revoke(request: PageRequest, invitation_id: int) -> HttpResponse:
    """Withdraw an invitation."""
    services.invitation_revoke(access=request.access, invitation_id=invitation_id)
    messages.success(request, "The invitation is withdrawn.")
    return redirect("team")


@require_POST
@page("read")
def space_leave(request: PageRequest) -> HttpResponse:
    """Leave the space."""
    name = request.membership.space.name
    services.space_leave(access=request.access)
    request.session.pop(SPACE, None)
    messages.success(request, f"You have left {name}.")
    return redirect("home")


@require_POST
@page("transfer")
def space_transfer(request: PageRequest) -> HttpResponse:
    """Hand the space over to another member."""
    chosen = request.POST.get("member", "")
    if not chosen.isdecimal() or len(chosen) > 18:
        raise Invalid("Choose the member who takes the space over.")
    heir = services.space_transfer(access=request.access, membership_id=int(chosen))
    messages.success(request, f"{heir.name or heir.email} owns the space now; you are an admin.")
    return redirect("team")


@require_http_methods(["GET", "HEAD", "POST"])
@page("settings")
def settings_page(request: PageRequest) -> HttpResponse:
    """Show and change the settings of the space."""
    space = request.membership.space
    initial = {name: getattr(space, name) for name in SettingsForm.base_fields if hasattr(space, name)}
    current, coming = space_models(space.pk)
    initial["embedding_model"] = coming or current
    initial["context_namespaces"] = ", ".join(space.context_namespaces)
    form = SettingsForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        space_update(access=request.access, changes=form.changes())
        messages.success(request, "Saved.")
        return redirect("settings")
    may_delete = "delete_space" in request.may
    context = {"form": form, "space": space, "may_delete": may_delete}
    return render(request, "accounts/settings.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@page("delete_space")
def space_delete(request: PageRequest) -> HttpResponse:
    """Delete the space, after its name was typed."""
    error = ""
    if request.method == "POST":
        try:
            services.space_delete(access=request.access, name=request.POST.get("name", ""))
        except Invalid as problem:
            error = problem.details["fields"]["name"][0]
        else:
            request.session.pop(SPACE, None)
            messages.success(request, "The space is deleted, with everything in it.")
            return redirect("landing")
    context = {"space": request.membership.space, "error": error}
    return render(request, "accounts/space_delete.html", context, status=422 if error else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation to whoever has its link; the person it was sent to accepts it with one click."""
    found = Invitation.objects.open().with_token(token).select_related("space", "invited_by").first()
    if found is None:
        return render(request, "team/invitation_closed.html", status=404)
    user = request.user if isinstance(request.user, User) else None
    if request.method == "POST" and user is not None:
        try:
            place = services.invitation_accept(user=user, token=token)
        except ApiError as error:
            return render(request, "error.html", {"message": error.message}, status=error.status)
        space_open(request, place.space_id)
        request.session.pop("invitation", None)
        messages.success(request, f"Welcome to the space {found.space.name}.")
        return redirect("home")
    if user is None:
        # The link came by e-mail, so who signs up with it has that address: no second message is needed.
        request.session["invitation"] = True
        get_adapter().stash_verified_email(request, found.email)
    return render(request, "team/invitation.html", {"invitation": found, "fits": user and user.email == found.email})


@require_safe
@page("read")
def leave_confirm(request: PageRequest) -> HttpResponse:
    """Ask once more before the person leaves the space."""
    return render(request, "team/leave.html", {"space": request.membership.space})
