"""The pages of a person's own account."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.forms import NameForm
from accounts.models import Role, SupportVisit
from accounts.pageviews import safe_back
from accounts.places import places_of
from accounts.support import VISIT, support_allow, support_end
from accounts.team import user_delete
from api.errors import Conflict

THEMES = [("", "As this device"), ("light", "Light"), ("dark", "Dark")]
YEAR = 365 * 24 * 3600


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Show and change how a person is called; the way to address, password, second step and sessions."""
    user: Any = request.user
    form = NameForm(request.POST or None, initial={"name": user.name})
    if request.method == "POST" and form.is_valid():
        user.name = form.cleaned_data["name"]
        user.save(update_fields=["name"])
        messages.success(request, "Saved.")
        return redirect("account")
    context = {
        "form": form,
        "others": settings.SOCIAL_SIGN_IN,
        "second_step": is_mfa_enabled(user),
        "visit": SupportVisit.objects.filter(user=user).open().first(),
        "theme": request.COOKIES.get("theme", ""),
        "themes": THEMES,
    }
    return render(request, "accounts/account.html", context, status=422 if form.errors else 200)


@require_POST
@login_required
def support(request: HttpRequest) -> HttpResponse:
    """Let the operator look in for an hour, take that back, or, for the operator, end the visit."""
    user: Any = request.user
    if request.POST.get("visit") == "leave":
        request.session.pop(VISIT, None)
        return redirect("admin:index")
    if request.POST.get("visit") == "allow":
        support_allow(user=user)
        messages.success(request, "The operator may look in for an hour. They can read, and change nothing.")
    else:
        support_end(user=user)
        messages.success(request, "Nobody may look in any more.")
    return redirect("account")


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Remember on this device whether pages are light or dark; anything else means as the device says."""
    response = redirect(safe_back(request, "/account"))
    chosen = request.POST.get("theme", "")
    if chosen in {"light", "dark"}:
        response.set_cookie("theme", chosen, max_age=YEAR, httponly=True, samesite="Lax", secure=request.is_secure())
    else:
        response.delete_cookie("theme", samesite="Lax")
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@reauthentication_required  # type: ignore[untyped-decorator]
def account_delete(request: HttpRequest) -> HttpResponse:
    """Delete the person and every space of theirs, after the address was typed and the password given again."""
    user: Any = request.user
    owned = [place for place in places_of(user) if place.role == Role.OWNER]
    error = ""
    if request.method == "POST":
        if request.POST.get("email", "").strip().lower() != user.email:
            error = "Type your own e-mail address."
        else:
            try:
                user_delete(user=user)
            except Conflict as problem:
                error = problem.message
            else:
                logout(request)
                messages.success(request, "Your account is deleted, with everything in it.")
                return redirect("landing")
    context = {"owned": owned, "error": error}
    return render(request, "accounts/account_delete.html", context, status=422 if error else 200)
