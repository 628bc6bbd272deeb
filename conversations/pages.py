"""The pages of conversations: list them, read one with what was remembered from it, delete it."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import Access
from accounts.pageviews import PageRequest, page
from api.pagination import cursor_decode, cursor_encode
from conversations.models import Conversation
from conversations.services import conversation_delete, conversation_get, extracted_from, turns
from memories.models import Memory

PAGE = 30
MODELS_FROM = 500  # the newest conversations, from which the models on offer are taken
TURNS = 100
REMEMBERED = 500
SPEAKERS = {"user": "You", "assistant": "The assistant", "system": "Instructions", "tool": "A tool"}


@require_safe
@page("read")
def conversation_list(request: PageRequest) -> HttpResponse:
    """List the conversations, newest first, of one model or of all."""
    access, model = request.access, request.GET.get("model", "")[:100]
    rows = Conversation.objects.visible_to(access).defer("messages")
    newest = rows.order_by("-created_at", "-id")[:MODELS_FROM].values_list("model", flat=True)
    models = sorted({*newest, model} - {""})
    filters = {"model": model} if model else {}
    rows = rows.filter(**filters)
    if request.GET.get("cursor"):
        at, last = cursor_decode(request.GET["cursor"], filters, (datetime, str))
        rows = rows.filter(Q(created_at__lt=at) | Q(created_at=at, id__lt=last))
    found = list(rows.order_by("-created_at", "-id")[: PAGE + 1])
    older = ""
    if len(found) > PAGE:
        found = found[:PAGE]
        older = "?" + urlencode(
            filters | {"cursor": cursor_encode([found[-1].created_at.isoformat(), found[-1].id], filters)}
        )
    context = {
        "conversations": found, "models": models, "model": model, "older": older,
        "first": not request.GET.get("cursor"),
    }  # fmt: skip
    return render(request, "conversations/list.html", context)


@require_safe
@page("read")
def conversation_detail(request: PageRequest, conversation_id: str) -> HttpResponse:
    """Show one conversation turn by turn, each with the memories that were taken from it."""
    access = request.access
    conversation = conversation_get(access, conversation_id[:21])
    number = request.GET.get("from", "")
    start = min(int(number), conversation.message_count) - 1 if number.isdecimal() and 0 < len(number) < 6 else 0
    start = max(0, start - start % TURNS)
    shown, others = remembered(access, conversation)
    taken = [
        {"number": index + 1, "speaker": SPEAKERS.get(message["role"], message["role"]), "message": message,
         "memories": shown.get(index, [])}
        for index, message in enumerate(conversation.messages)
    ]  # fmt: skip
    context = {
        "conversation": conversation, "turns": taken[start : start + TURNS], "others": others,
        "remembered": sum(map(len, shown.values())) + len(others), "may_write": "write" in request.may,
        "earlier": start - TURNS + 1 if start else 0,
        "later": start + TURNS + 1 if start + TURNS < len(taken) else 0,
    }  # fmt: skip
    return render(request, "conversations/detail.html", context)


def remembered(access: Access, conversation: Conversation) -> tuple[dict[int, list[Memory]], list[Memory]]:
    """Return the memories taken from a conversation by the index of the turn, and those that belong to none."""
    places = turns(conversation.messages)
    by_turn: dict[int, list[Memory]] = {}
    others = []
    for memory in extracted_from(access, conversation.id).order_by("created_at", "id")[:REMEMBERED]:
        start = memory.source_ref.partition("#")[2].partition("-")[0]
        place = int(start) if start.isdecimal() and len(start) < 10 else -1
        turn = next((index for index, begin, end in places if begin <= place < end), None)
        if turn is None:
            others.append(memory)
        else:
            by_turn.setdefault(turn, []).append(memory)
    return by_turn, others


@require_http_methods(["GET", "HEAD", "POST"])
@page("write")
def conversation_remove(request: PageRequest, conversation_id: str) -> HttpResponse:
    """Ask, then delete a conversation, alone or with the memories that were taken from it."""
    access = request.access
    conversation = conversation_get(access, conversation_id[:21])
    taken = extracted_from(access, conversation.id)
    if request.POST.get("delete") in {"alone", "all"}:
        everything = request.POST["delete"] == "all"
        conversation_delete(access=access, conversation_id=conversation.id, memories=everything)
        told = "The conversation is deleted" + (", with what was remembered from it." if everything else ".")
        messages.success(request, told)
        return redirect("conversation-list")
    context: dict[str, Any] = {"conversation": conversation, "remembered": taken.count()}
    return render(request, "conversations/delete.html", context, status=422 if request.method == "POST" else 200)
