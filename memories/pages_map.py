"""The map of memories."""

from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.pageviews import PageRequest, page
from memories.mapping import map_draw
from memories.models import Memory

NEWEST = 240  # as many as a picture can show


@require_safe
@page("read")
def memory_map(request: PageRequest) -> HttpResponse:
    """Draw the newest memories by topic; `tag` or `subject` narrows it to one topic and what meets it."""
    tag = request.GET.get("tag", "")
    subject = request.GET.get("subject", "")
    rows = Memory.objects.visible_to(request.access)
    if tag:
        rows = rows.filter(tags__contains=[tag])
    if subject:
        rows = rows.filter(subject=subject)
    with_topic = rows.exclude(Q(tags=[]) & Q(subject=""))
    memories = list(with_topic.order_by("-created_at", "-id")[:NEWEST])
    return render(
        request, "memories/map.html", {"map": map_draw(memories), "tag": tag, "subject": subject, "shown": memories}
    )
