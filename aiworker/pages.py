"""How much a space is used: what its tools wrote and read, what it stores, what AI models did for it."""

from datetime import date, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Sum
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.access import Access
from accounts.models import Space
from accounts.pageviews import PageRequest, page
from aiworker.models import AiUsage
from events.charts import chart
from events.usage import stored, usage

DRAWN = {"writes": "Writes", "searches": "Searches", "recalls": "Reads and recalls"}


def ai_usage(access: Access, days: list[date]) -> tuple[list[int], list[dict[str, Any]]]:
    """Return the tokens of each day, and what each model came to: calls, tokens, cost in US dollars or None."""
    rows = AiUsage.objects.visible_to(access).filter(day__gte=days[0] - timedelta(days=1))
    tokens = F("input_tokens") + F("output_tokens")
    by_day = dict(rows.values("day").annotate(sum=Sum(tokens)).values_list("day", "sum"))
    models = rows.values("provider", "model", "purpose").annotate(
        all_calls=Sum("calls"), tokens=Sum(tokens), micros=Sum("cost_micros")
    )
    listed = [
        row | {"dollars": None if row["micros"] is None else row["micros"] / 1_000_000}
        for row in models.order_by("-tokens")[:20]
    ]
    return [int(by_day.get(day, 0)) for day in days], listed


def limits_of(space: Space) -> dict[str, Any] | None:
    """Return what a space may hold and ask for, as its plan or the settings say; None where nothing is limited."""
    if not settings.QUOTAS_ON:
        return None
    plan = space.plan
    return {
        "plan": plan.name if plan else "",
        "memories": settings.QUOTA_MEMORIES if plan is None or plan.memories is None else plan.memories,
        "requests": (plan and plan.requests_per_minute) or settings.QUOTA_REQUESTS_PER_MINUTE,
    }


@require_safe
@page("read")
def usage_page(request: PageRequest) -> HttpResponse:
    """Draw how much the space was used in the last thirty days, by day, by tool and by model."""
    access = request.access
    found = usage(access)
    held = stored(access, found.days)
    tokens, models = ai_usage(access, found.days)
    charts = [chart(words, found.days, found.series[name]) for name, words in DRAWN.items()]
    context = {
        "charts": [*charts, chart("AI tokens", found.days, tokens)], "actors": found.actors, "models": models,
        "storage": chart("Memories stored", found.days, held.curve), "memories": held.memories, "size": held.size,
        "tools": held.tools, "limits": limits_of(request.membership.space),
        "totals": [*((words, found.total(name)) for name, words in DRAWN.items()), ("AI tokens", sum(tokens))],
    }  # fmt: skip
    return render(request, "events/usage.html", context)
