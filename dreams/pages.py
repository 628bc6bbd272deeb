"""Dreams: what each run changed, as a diff that a person reads, with undo, and the suggestions that wait."""

from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_POST, require_safe

from accounts.access import Access
from accounts.pageviews import WAITING, PageRequest, page
from accounts.templatetags.commonplace import time_words
from api.errors import ApiError, Invalid
from api.schemas import parse
from dreams.models import DreamChange, DreamRun, DreamSuggestion
from dreams.representation import dream_present
from dreams.schemas import SuggestionDecision
from dreams.services import dream_get, dream_undo
from dreams.suggestions import suggestion_decide
from memories.models import Memory
from memories.reading import diff

RUNS = 50
OPS = {
    "add": "Wrote down", "update": "Reworded", "merge": "Merged into one", "set_tier": "Moved", "expire": "Lets expire",
    "suggest": "Suggested",
}  # fmt: skip
SUGGESTED = {
    "core": "Show it to every tool at once (core)", "contradiction": "These contradict each other",
    "delete": "Delete it",
}  # fmt: skip


def open_suggestions(access: Access) -> int:
    """Return how many suggestions wait for the owner."""
    rows = DreamSuggestion.objects.visible_to(access).filter(status=DreamSuggestion.Status.OPEN)
    return int(rows[:1000].count())


WAITING["suggestions"] = open_suggestions


@require_safe
@page("read")
def dream_list(request: PageRequest) -> HttpResponse:
    """Show what waits for a decision, and the runs, newest first."""
    access = request.access
    waiting = list(
        DreamSuggestion.objects.visible_to(access)
        .filter(status=DreamSuggestion.Status.OPEN)
        .order_by("created_at")[:50]
    )
    ids = {memory_id for suggestion in waiting for memory_id in suggestion.memory_ids}
    memories = {memory.id: memory for memory in Memory.objects.visible_to(access).filter(id__in=ids)}
    suggestions = [
        (suggestion, SUGGESTED[suggestion.kind], [memories[i] for i in suggestion.memory_ids if i in memories])
        for suggestion in waiting
    ]
    runs = list(DreamRun.objects.visible_to(access).order_by("-created_at", "-id")[:RUNS])
    changes, suggested = (numbers(model, access, runs) for model in (DreamChange, DreamSuggestion))
    context = {
        "suggestions": suggestions, "decides": "decide" in request.may,
        "enabled": request.membership.space.dreams_enabled,
        "runs": [(run, changes.get(run.id, 0), suggested.get(run.id, 0)) for run in runs],
    }  # fmt: skip
    return render(request, "dreams/list.html", context)


def numbers(model: Any, access: Access, runs: list[DreamRun]) -> dict[str, int]:
    """Return how many rows of a model each run has."""
    rows = model.objects.visible_to(access).filter(run_id__in=[run.id for run in runs])
    return dict(rows.values("run_id").annotate(count=Count("run_id")).values_list("run_id", "count"))


@require_safe
@page("read")
def dream_detail(request: PageRequest, run_id: str) -> HttpResponse:
    """Show one run: each change with the text before and after."""
    access = request.access
    run = dream_get(access=access, run_id=run_id)
    shown = dream_present(access, run)
    undo_open = run.status == DreamRun.Status.APPLIED and bool(run.undo_until and run.undo_until > timezone.now())
    suggested = DreamSuggestion.objects.visible_to(access).filter(run_id=run.id).order_by("created_at", "id")
    context = {
        "run": run, "rejected": shown["rejected"], "changes": [change_words(change) for change in shown["changes"]],
        "suggestions": [(each, SUGGESTED[each.kind]) for each in suggested], "undo_open": undo_open,
        "decides": "decide" in request.may,
    }  # fmt: skip
    return render(request, "dreams/detail.html", context)


def change_words(change: dict[str, Any]) -> dict[str, Any]:
    """Return a change as a person reads it: what was done, and each memory with its diff."""
    memories = []
    for memory_id in change["memory_ids"]:
        before, after = change["before"].get(memory_id), change["after"].get(memory_id)
        memories.append({"id": memory_id, "diff": texts(before, after), "fields": fields(before, after)})
    return change | {"words": OPS.get(change["op"], change["op"]), "memories": memories}


def texts(before: dict[str, Any] | None, after: dict[str, Any] | None) -> Any:
    """Return the diff of two versions' texts; a memory that left is struck out, a new one marked."""
    gone = after is None or after.get("status") == "superseded"
    return diff(before["content"] if before else "", "" if gone or after is None else after["content"])


def fields(before: dict[str, Any] | None, after: dict[str, Any] | None) -> list[str]:
    """Return the other things that changed between two versions, in words."""
    if not before or not after:
        return []
    words = {"tier": "kept as {}", "expires_at": "forgotten {}", "subject": "about {}"}
    changed = {name: after[name] for name in words if before[name] != after[name]}
    if changed.get("expires_at"):
        moment = parse_datetime(changed["expires_at"])
        changed["expires_at"] = time_words(moment, timezone.now()) if moment else ""
    return [
        words[name].format(value or "never" if name == "expires_at" else value or "nothing")
        for name, value in changed.items()
    ]


@require_POST
@page("decide")
def dream_undo_page(request: PageRequest, run_id: str) -> HttpResponse:
    """Undo a run."""
    try:
        result = dream_undo(access=request.access, run_id=run_id)
    except ApiError as error:
        messages.error(request, error.message)
    else:
        skipped = len(result["skipped"])
        left = f" {skipped} had been changed or forgotten since, and were left." if skipped else ""
        messages.success(request, f"The dream is undone: {result['restored']} restored.{left}")
    return redirect("dream-detail", run_id)


@require_POST
@page("decide")
def suggestion_decide_page(request: PageRequest, suggestion_id: str) -> HttpResponse:
    """Accept or dismiss a suggestion."""
    decision = request.POST.get("decision", "")
    if decision not in {"accept", "dismiss"}:
        raise Invalid("Choose whether to accept or to dismiss the suggestion.")
    body = {"decision": decision} | ({"keep_id": request.POST["keep"]} if request.POST.get("keep") else {})
    try:
        suggestion_decide(access=request.access, suggestion_id=suggestion_id, data=parse(SuggestionDecision, body))
    except ApiError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Done as suggested." if decision == "accept" else "Dismissed.")
    return redirect("dream-list")
