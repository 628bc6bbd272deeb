"""The pages of memories: find, read, write, correct, pin, let in."""

from itertools import groupby
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import Access, space_transaction
from accounts.pageviews import WAITING, PageRequest, page, safe_back
from api.errors import Invalid, MemoryNotFound
from api.schemas import parse
from apikeys.models import ApiKey
from conversations.models import Conversation
from memories import listing as lists
from memories.history import memory_restore as restore
from memories.listing import MODES, TIERS, TYPES, Listing
from memories.models import FROM_CONVERSATION, Memory
from memories.quarantine import waiting_count
from memories.reading import history, marked, readers, why_words
from memories.schemas import MemoryCreate, MemoryUpdate
from memories.search import SearchQuery, search_memories, similar_memories
from memories.services import memory_create, memory_locked, memory_update

FOUND = 50
CLOSE = 8  # as many as are shown for their meaning alone
DASHBOARD = "dashboard"  # the source.tool of what a person writes here
RESTORED = ("content", "type", "tags", "namespace", "metadata", "subject", "tier", "origin", "pinned", "source_ref",
            "expires_at")  # fmt: skip
WAITING["quarantine"] = waiting_count


@require_safe
@page("read", atomic=False)
def memory_list(request: PageRequest) -> HttpResponse:
    """List memories or search them, as a whole page or, for htmx, the results alone."""
    access, listing = request.access, Listing.read(request.GET)
    context: dict[str, Any] = {"listing": listing, "modes": MODES, "may_write": "write" in request.may}
    if listing.q:
        context |= searched(access, listing)
    with space_transaction(access):
        if not listing.q:
            rows, cursor = lists.listed(access, listing)
            context["memories"] = [{"memory": memory, "text": memory.content, "why": []} for memory in rows]
            context["older"] = listing.url(cursor=cursor) if cursor else ""
            context["total"] = "" if listing.waiting else lists.counted(access, listing)
        if listing.view == "timeline":
            context["days"] = days(context["memories"])
        part = request.htmx and not request.htmx.boosted and not request.htmx.history_restore_request
        if part and request.htmx.target == "results":
            return render(request, "memories/_results.html", context)
        context["chips"] = [] if listing.waiting else lists.chips(listing, lists.facets(access))
        return render(request, "memories/list.html", context)


def searched(access: Access, listing: Listing) -> dict[str, Any]:
    """Return the context of a search: memories best first, with the reason for each."""
    query = SearchQuery(
        q=listing.q, mode=listing.mode, limit=FOUND, filters=listing.search_filters(), explain=True
    )  # fmt: skip
    found = search_memories(access, query)
    with space_transaction(access):
        rows = Memory.objects.visible_to(access).filter(id__in=[hit.memory_id for hit in found.hits])
        by_id = {memory.id: memory for memory in rows if memory.pinned or not listing.pinned}
    close = 0
    kept = []
    for hit in found.hits:
        # Everything is a little close in meaning to everything: after the nearest few, only matching words count.
        words = hit.scores.get("keyword") or listing.mode == "semantic"
        close += not words
        if hit.memory_id in by_id and (words or close <= CLOSE):
            kept.append(hit)
    shown = [
        {
            "memory": by_id[hit.memory_id], "text": marked(by_id[hit.memory_id].content, listing.q),
            "why": why_words(hit.scores),
        }
        for hit in kept
    ]  # fmt: skip
    total = "1 memory found" if len(shown) == 1 else f"{len(shown)} memories found"
    if len(shown) == FOUND:
        total = f"The best {FOUND} that were found"
    fallback = listing.mode != "keyword" and found.mode_used == "keyword"
    return {"memories": shown, "older": "", "total": total, "fallback": fallback, "pending": found.pending}


def days(memories: list[dict[str, Any]]) -> list[tuple[Any, list[dict[str, Any]]]]:
    """Return the memories by the day on which they were made, in the space's time zone, newest first."""
    dated = sorted(memories, key=lambda item: item["memory"].created_at, reverse=True)
    return [
        (day, list(items))
        for day, items in groupby(dated, key=lambda item: timezone.localtime(item["memory"].created_at).date())
    ]


def memory_shown(access: Access, memory_id: str) -> Memory:
    """Return a memory that a page may show, a waiting one too. Raises MemoryNotFound."""
    rows = Memory.objects.any_status(access).exclude(status=Memory.Status.SUPERSEDED).unexpired()
    memory = rows.filter(id=memory_id[:20]).first()
    if memory is None:
        raise MemoryNotFound()
    return memory


@require_safe
@page("read")
def memory_detail(request: PageRequest, memory_id: str) -> HttpResponse:
    """Show one memory: its text, where it came from, who read it, what it was before."""
    access = request.access
    memory = memory_shown(access, memory_id)
    key = ApiKey.objects.filter(space_id=access.space_id, pk=memory.apikey_id).first() if memory.apikey_id else None
    context = {
        "memory": memory, "key": key, "history": history(access, memory), "readers": list(readers(access, memory)),
        "tiers": TIERS, "types": TYPES, "waits": memory.status == Memory.Status.QUARANTINED,
        "may_write": "write" in request.may, "conversation": taken_from(access, memory),
    }  # fmt: skip
    return render(request, "memories/detail.html", context)


def taken_from(access: Access, memory: Memory) -> str:
    """Return the id of the conversation that a memory was extracted from, empty when there is none (any more)."""
    ref: str = memory.source_ref.partition("#")[0]
    if not ref.startswith(FROM_CONVERSATION):
        return ""
    return ref if Conversation.objects.visible_to(access).filter(id=ref).exists() else ""


@require_safe
@page("read", atomic=False)
def memory_similar(request: PageRequest, memory_id: str) -> HttpResponse:
    """Show the memories whose meaning is closest to one."""
    access = request.access
    with space_transaction(access):
        memory = memory_shown(access, memory_id)
    found = similar_memories(access, memory.id, 6)
    with space_transaction(access):
        rows = Memory.objects.visible_to(access).filter(id__in=[hit.memory_id for hit in found.hits])
        by_id = {row.id: row for row in rows}
        similar = [by_id[hit.memory_id] for hit in found.hits if hit.memory_id in by_id]
        template = "memories/_similar.html" if request.htmx else "memories/similar.html"
        return render(request, template, {"memory": memory, "similar": similar})


def form_values(request: PageRequest) -> dict[str, Any]:
    """Return what a form of a memory was filled with, as the body of a request."""
    post = request.POST
    tags = [tag.strip() for tag in post.get("tags", "").split(",")]
    return {
        "content": post.get("content", "").replace("\r\n", "\n"), "type": post.get("type", "semantic"),
        "tier": post.get("tier", "long"), "subject": post.get("subject", "").strip(),
        "tags": [tag for tag in tags if tag], "namespace": post.get("namespace", "").strip() or None,
    }  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
@page("write")
def memory_new(request: PageRequest) -> HttpResponse:
    """Write a memory by hand."""
    values: dict[str, Any] = {"type": "semantic", "tier": "long", "tags": []}
    errors: dict[str, list[str]] = {}
    if request.method == "POST":
        values = form_values(request)
        try:
            data = parse(MemoryCreate, values | {"source": {"tool": DASHBOARD}, "origin": "user"})
            memory = memory_create(access=request.access, data=data)
        except Invalid as error:
            errors = error.details.get("fields", {}) or {"content": [error.message]}
        else:
            messages.success(request, "Written down. Your tools find it from now on.")
            return redirect("memory-detail", memory.id)
    context = {"values": values, "errors": errors, "types": TYPES, "tiers": TIERS}
    return render(request, "memories/new.html", context, status=422 if errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@page("write")
def memory_edit(request: PageRequest, memory_id: str) -> HttpResponse:
    """Correct a memory, in its place in the list or on a page of its own."""
    access = request.access
    memory = memory_shown(access, memory_id)
    errors: dict[str, list[str]] = {}
    values: dict[str, Any] = {name: getattr(memory, name) for name in RESTORED}
    if request.method == "POST":
        values |= form_values(request)
        memory = memory_locked(access=access, memory_id=memory.id)
        if request.POST.get("version") != str(memory.version):
            errors = {"content": ["It was changed by somebody else meanwhile. Compare, then save again."]}
        else:
            try:
                data = parse(MemoryUpdate, {name: values[name] for name in form_values(request)})
                memory = memory_update(access=access, memory=memory, data=data)
            except Invalid as error:
                errors = error.details.get("fields", {}) or {"content": [error.message]}
            else:
                if request.htmx:
                    return entry(request, memory)
                messages.success(request, "Changed. What it was before is kept in its history.")
                return redirect("memory-detail", memory.id)
    context = {"memory": memory, "values": values, "errors": errors, "types": TYPES, "tiers": TIERS}
    template = "memories/_edit.html" if request.htmx else "memories/edit.html"
    # htmx swaps only answers of success; a page with a mistake says so with its status.
    return render(request, template, context, status=422 if errors and not request.htmx else 200)


def entry(request: PageRequest, memory: Memory) -> HttpResponse:
    """Return one memory as an entry of the list, for htmx to put in place."""
    item = {"memory": memory, "text": memory.content, "why": []}
    return render(request, "memories/_entry.html", {"item": item, "may_write": "write" in request.may})


@require_safe
@page("read")
def memory_entry(request: PageRequest, memory_id: str) -> HttpResponse:
    """Return one memory as an entry of the list: what "Cancel" puts back."""
    return entry(request, memory_shown(request.access, memory_id))


@require_POST
@page("write")
def memory_mark(request: PageRequest, memory_id: str) -> HttpResponse:
    """Pin or unpin a memory, or move it to another tier."""
    access = request.access
    memory = memory_locked(access=access, memory_id=memory_id)
    changes: dict[str, Any] = {}
    if request.POST.get("pinned") in {"0", "1"}:
        changes["pinned"] = request.POST["pinned"] == "1"
    if request.POST.get("tier"):
        changes["tier"] = request.POST["tier"]
    memory = memory_update(access=access, memory=memory, data=parse(MemoryUpdate, changes))
    if request.htmx:
        return entry(request, memory)
    return redirect(safe_back(request, f"/memories/{memory.id}"))


@require_POST
@page("write")
def memory_restore(request: PageRequest, memory_id: str, version: int) -> HttpResponse:
    """Make a memory again what it was at an earlier version."""
    access = request.access
    memory = memory_locked(access=access, memory_id=memory_id)
    restore(access=access, memory=memory, version=version)
    messages.success(request, f"It is again what it was at version {version}.")
    return redirect("memory-detail", memory.id)
