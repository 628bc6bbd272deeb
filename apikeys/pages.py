"""Connections: keys and grants, made, watched and revoked by people."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import Access
from accounts.models import Role, Space
from accounts.pageviews import PageRequest, page
from api.errors import NotFound
from apikeys.forms import KeyForm
from apikeys.models import ApiKey
from apikeys.services import apikey_create, apikey_revoke
from events.models import Event
from grants.addresses import public_url
from grants.services import grant_list, grant_revoke
from mcpserver.snippets import KEY, key_snippets

KEYS_SHOWN = 200


def keys_of(access: Access) -> QuerySet[ApiKey]:
    """Return the keys that a person may see: all of the space for owner and admins, else their own."""
    keys = ApiKey.objects.filter(space_id=access.space_id).select_related("user")
    if access.role not in {Role.OWNER, Role.ADMIN}:
        keys = keys.filter(user_id=access.user_id or 0)
    return keys


def key_of(access: Access, key_id: int) -> ApiKey:
    """Return one key that the person may see. Raises NotFound."""
    key = keys_of(access).filter(pk=key_id).first()
    if key is None:
        raise NotFound()
    return key


@require_safe
@page("keys")
def connection_list(request: PageRequest) -> HttpResponse:
    """List the keys of the space, those in use first, and the assistants that were let in by signing in."""
    keys = list(keys_of(request.access).order_by("-created_at")[:KEYS_SHOWN])
    usable = set(ApiKey.objects.usable().filter(pk__in=[key.pk for key in keys]).values_list("pk", flat=True))
    context = {
        "keys": [key for key in keys if key.pk in usable],
        "ended": [key for key in keys if key.pk not in usable],
        "grants": grant_list(access=request.access)[:KEYS_SHOWN],
    }
    return render(request, "apikeys/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@page("keys")
def connection_new(request: PageRequest) -> HttpResponse:
    """Make a key; the answer to the form is the only page that ever shows it."""
    access = request.access
    form = KeyForm(request.POST or None, role=access.role, initial={"preset": "full"})
    if request.method == "POST" and form.is_valid():
        space = Space.objects.get(pk=access.space_id)
        row, key = apikey_create(access=access, space=space, user=request.user, **form.arguments())
        context = {"apikey": row, "key": key, "client": client_of(row)} | connect_context(request, key)
        return render(request, "apikeys/made.html", context)
    return render(request, "apikeys/new.html", {"form": form}, status=422 if form.errors else 200)


def connect_context(request: PageRequest, key: str) -> dict[str, Any]:
    """Return what the instructions for connecting a tool need: the address, and each tool's text with the key in it."""
    base = public_url(request)
    filled = [replace(snippet, text=snippet.text.replace(KEY, key)) for snippet in key_snippets(base)]
    return {"base": base, "snippets": filled}


def client_of(apikey: ApiKey) -> str:
    """Return the slug of the client whose name is in the key's name or tool; Claude Code's, which is first, else."""
    words = f"{apikey.name} {apikey.tool or ''}".lower()
    slugs = {snippet.client.lower().removesuffix(" cli"): snippet.slug for snippet in key_snippets("")}
    return next((slug for name, slug in slugs.items() if name in words), next(iter(slugs.values())))


@require_safe
@page("keys")
def connection_detail(request: PageRequest, key_id: int) -> HttpResponse:
    """Show what a key may do and what it did last, without the key."""
    key = key_of(request.access, key_id)
    return render(request, "apikeys/detail.html", {"apikey": key, "last": last_event(request.access, key)})


@require_safe
@page("keys")
def connection_check(request: PageRequest, key_id: int) -> HttpResponse:
    """Say whether the key has been used yet; the page asks every two seconds until it has."""
    key = key_of(request.access, key_id)
    return render(request, "apikeys/_check.html", {"apikey": key, "last": last_event(request.access, key)})


def last_event(access: Access, key: ApiKey) -> Event | None:
    """Return the last thing that a key did, None before its first call."""
    if key.last_used_at is None:
        return None
    events = Event.objects.visible_to(access).filter(actor_kind="key", actor_id=str(key.pk))
    event: Event | None = events.order_by("-id").first()
    return event


@require_POST
@page("keys")
def connection_revoke(request: PageRequest, key_id: int) -> HttpResponse:
    """Revoke a key."""
    key = key_of(request.access, key_id)
    apikey_revoke(access=request.access, apikey=key)
    messages.success(request, f"{key.name} is revoked. It is refused from now on.")
    return redirect("connection-list")


@require_POST
@page("keys")
def grant_end(request: PageRequest, grant_id: int) -> HttpResponse:
    """End the connection of an assistant that was let in by signing in."""
    grant = grant_list(access=request.access).filter(pk=grant_id).first()
    if grant is None:
        raise NotFound()
    grant_revoke(grant=grant, access=request.access)
    messages.success(request, f"{grant.name} is disconnected. It is refused from now on.")
    return redirect("connection-list")
