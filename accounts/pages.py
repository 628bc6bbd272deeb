"""Landing, home, spaces and the account's own pages."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.forms import SpaceForm
from accounts.models import Space
from accounts.pageviews import PageRequest, page, safe_back
from accounts.services import space_create
from accounts.sessions import SPACE, session_access, space_open
from apikeys.pages import keys_of
from events.charts import chart
from events.usage import usage
from memories.models import Memory


@require_safe
def landing(request: HttpRequest) -> HttpResponse:
    """Say what this is to a stranger; a signed-in person goes home."""
    if request.user.is_authenticated:
        return redirect("home")
    return render(request, "accounts/landing.html", {"base": request.build_absolute_uri("/").rstrip("/")})


@require_safe
@page("read")
def home(request: PageRequest) -> HttpResponse:
    """Show what the tools remembered lately, what waits for the person, and the last days in numbers."""
    access = request.access
    newest = Memory.objects.visible_to(access).order_by("-created_at", "-id")[:8]
    week = usage(access, days=14)
    keys = list(keys_of(access).order_by("-created_at")[:50]) if "keys" in request.may else []
    context = {
        "memories": newest, "chart": chart("Writes", week.days, week.series["writes"]),
        "totals": {name: week.total(name) for name in week.series}, "keys": keys[:5],
        "connected": any(key.last_used_at for key in keys),
    }  # fmt: skip
    return render(request, "accounts/home.html", context)


@require_POST
@login_required
def space_switch(request: HttpRequest, space_id: int) -> HttpResponse:
    """Open another of the person's spaces."""
    if not space_open(request, space_id):
        return render(request, "404.html", status=404)
    return redirect(safe_back(request, "/home"))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def space_new(request: HttpRequest) -> HttpResponse:
    """Make a space and open it."""
    form = SpaceForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        user: Any = request.user
        space = space_create(owner=user, name=form.cleaned_data["name"], kind=Space.Kind.TEAM)
        request.session[SPACE] = space.pk
        messages.success(request, f"{space.name} is open. Invite the people who share it.")
        return redirect("team")
    return render(request, "accounts/space_new.html", {"form": form, "first": session_access(request) is None})
