"""Approvals: the queue on one page, and each action on its own, where one click decides."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.access import Access
from accounts.pageviews import WAITING, PageRequest, page
from actions.models import Action, ActionStep, Status
from actions.preconditions import ActionPreconditionFailed, preconditions_check
from actions.schemas import ActionList, ActionTransition
from actions.services import action_get, action_transition, actions_list
from api.errors import Conflict, Invalid
from api.schemas import parse

LIVE = ["pending", "approved", "executing"]
ENDED = ["done", "failed", "rejected", "cancelled", "expired"]
DECISIONS = {"approve": "approved", "reject": "rejected", "cancel": "cancelled"}
SAID = {"approved": "approved; a key that may carry it out can take it now", "rejected": "rejected",
        "cancelled": "cancelled"}  # fmt: skip
MAX_REASON = 1_000


def pending_count(access: Access) -> int:
    """Return how many actions wait for a decision."""
    return int(Action.objects.visible_to(access).filter(status=Status.PENDING, deadline__isnull=False).count())


WAITING["actions"] = pending_count


@require_safe
@page("write")
def action_list(request: PageRequest) -> HttpResponse:
    """Show what waits and what is under way, or what has ended."""
    ended = request.GET.get("view") == "ended"
    params = parse(ActionList, {"status": ENDED if ended else LIVE, "limit": 100})
    actions = actions_list(access=request.access, params=params)
    live = [(status, [action for action in actions if action.status == status]) for status in LIVE]
    groups = [("ended", actions)] if ended else live
    context = {"groups": [group for group in groups if group[1]], "ended": ended, "decides": "decide" in request.may}
    return render(request, "actions/list.html", context)


@require_safe
@page("write")
def action_detail(request: PageRequest, action_id: str) -> HttpResponse:
    """Show exactly what would be done, who proposed it and what must hold; whoever may decide decides here."""
    return show(request, action_get(access=request.access, id=action_id))


def show(request: PageRequest, action: Action, error: str = "", status: int = 200) -> HttpResponse:
    """Render the page of one action."""
    access = request.access
    steps = ActionStep.objects.visible_to(access).filter(number=action.number).order_by("seq")
    failed = precondition_failing(access, action) if action.status in LIVE[:2] else None
    context = {
        "action": action, "steps": steps, "decides": "decide" in request.may, "error": error,
        "preconditions": list(enumerate(action.preconditions)), "failed": failed,
    }  # fmt: skip
    return render(request, "actions/detail.html", context, status=status)


def precondition_failing(access: Access, action: Action) -> int | None:
    """Return the place of the first precondition that does not hold now, None when all hold."""
    try:
        preconditions_check(space_id=access.space_id, preconditions=action.preconditions)
    except ActionPreconditionFailed as error:
        return int(error.details["index"])
    return None


@require_POST
@page("decide")
def action_decide(request: PageRequest, action_id: str) -> HttpResponse:
    """Approve, reject or cancel an action as it stood on the page."""
    access = request.access
    to = DECISIONS.get(request.POST.get("decision", ""))
    if to is None:
        raise Invalid("Choose whether to approve or to reject.")
    body: dict[str, Any] = {"id": action_id, "from": request.POST.get("from", ""), "to": to}
    reason = request.POST.get("reason", "").strip()[:MAX_REASON]
    if reason:
        body["receipt"] = {"reason": reason}
    try:
        action, _ = action_transition(access=access, data=parse(ActionTransition, body))
    except Conflict as error:
        return show(request, action_get(access=access, id=action_id), error.message, status=409)
    messages.success(request, f"{action.short_id} is {SAID[to]}.")
    # The next decision comes first; after the last one, what came of it.
    return redirect("action-list") if pending_count(access) else redirect("action-page", action.short_id)
