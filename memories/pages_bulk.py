"""Pages that change many memories at once: delete with a receipt, put back, let in what waits."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from accounts.pageviews import PageRequest, page, safe_back
from api.errors import Invalid
from memories.derived import derived_from
from memories.models import Memory
from memories.quarantine import memories_release
from memories.receipts import MAX_RECEIPT, receipt_make, receipt_restore
from memories.schemas import MemoryUpdate
from memories.services import memories_delete, memory_update


def chosen(request: PageRequest) -> list[str]:
    """Return the ids of the memories that were ticked, at most as many as a receipt holds."""
    return list(dict.fromkeys(request.POST.getlist("id")))[:MAX_RECEIPT]


@require_POST
@page("write")
def memory_bulk(request: PageRequest) -> HttpResponse:
    """Do what was asked with the memories that were ticked."""
    access, action, ids = request.access, request.POST.get("action", ""), chosen(request)
    back = safe_back(request, "/memories")
    if not ids:
        messages.warning(request, "Tick at least one memory first.")
        return redirect(back)
    if action == "release":
        count = len(memories_release(access=access, memory_ids=ids))
        messages.success(request, f"{count} let in. Your tools find them from now on.")
        return redirect(back)
    locked = Memory.objects.any_status(access).filter(id__in=ids).select_for_update().order_by("id")
    rows = sorted(locked, key=lambda memory: memory.created_at, reverse=True)
    if action in {"pin", "unpin"}:
        for memory in rows:
            if memory.status == Memory.Status.ACTIVE:
                memory_update(access=access, memory=memory, data=MemoryUpdate(pinned=action == "pin"))
        messages.success(request, f"{len(rows)} {'pinned' if action == 'pin' else 'no longer pinned'}.")
        return redirect(back)
    if action != "delete":
        raise Invalid("Choose what to do with the memories that you ticked.")
    derived = derived_from(access, [memory.id for memory in rows])
    context: dict[str, Any] = {"memories": rows, "next": back, "derived": derived}
    if request.POST.get("confirmed") != "yes":
        return render(request, "memories/delete.html", context)
    if not rows:
        return redirect(back)
    also = request.POST.get("derived") == "delete"
    context["receipt"] = receipt_make([*rows, *derived] if also else rows)
    memories_delete(access=access, memories=rows, derived="delete" if also else "flag")
    return render(request, "memories/receipt.html", context)


@require_POST
@page("write")
def memory_put_back(request: PageRequest) -> HttpResponse:
    """Store the memories of a receipt again."""
    restored = receipt_restore(access=request.access, receipt=request.POST.get("receipt", ""))
    if len(restored) == 1:
        messages.success(request, "It is back, as it was.")
        return redirect("memory-detail", restored[0].id)
    if restored:
        messages.success(request, f"{len(restored)} memories are back, as they were.")
    else:
        messages.info(request, "Nothing to put back: they are all here.")
    return redirect("memory-list")
