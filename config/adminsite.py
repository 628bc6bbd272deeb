"""The operator's console: what it shows is named here, so that no tenant's content and no secret ever joins in."""

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import Any

from csp.constants import SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.decorators import csp_update
from django.apps import apps
from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Model
from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from unfold.sites import UnfoldAdminSite

# What may be registered. Memories and all else that a tenant stores, tokens, second steps and sessions are not here.
SHOWN = frozenset(
    {
        "accounts.user", "accounts.space", "accounts.invitation", "accounts.plan", "accounts.switch", "apikeys.apikey",
        "account.emailaddress", "oauth2_provider.application",
    }
)  # fmt: skip
GROWTH_DAYS = 30
# The console's theme evaluates its attributes and styles elements; the pages of people allow neither.
console_csp = csp_update({"script-src": [SELF, UNSAFE_EVAL], "style-src": [SELF, UNSAFE_INLINE]})


class OperatorSite(UnfoldAdminSite):  # type: ignore[misc]  # the library has no types
    """The admin site; only models of SHOWN can be registered."""

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Register what may be shown and pass over the rest, which installed packages bring."""
        models: Iterable[type[Model]] = (
            [model_or_iterable] if isinstance(model_or_iterable, type) else model_or_iterable
        )
        shown = [model for model in models if model._meta.label_lower in SHOWN]
        if shown:
            super().register(shown, admin_class, **options)

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Callable[..., Any]:
        """Let the console's theme run under its own content policy."""
        guarded: Callable[..., Any] = console_csp(super().admin_view(view, cacheable))
        return guarded

    def extra_urls(self) -> list[URLPattern]:
        """Return the console's own pages."""
        return [path("jobs/", self.admin_view(self.jobs), name="jobs")]

    def jobs(self, request: HttpRequest) -> HttpResponse:
        """List the dead letters; POST tries one again or throws it away."""
        from aiworker.deadletters import dead_letter_discard, dead_letter_retry, jobs_dead, jobs_open

        if not request.user.has_perm("aiworker.change_job"):
            return TemplateResponse(request, "403.html", {}, status=403)
        if request.method == "POST":
            space, _, job_id = request.POST.get("job", "").partition(":")
            act = dead_letter_discard if request.POST.get("act") == "discard" else dead_letter_retry
            operator = getattr(request.user, "email", "")
            done = space.isdecimal() and len(space) < 18 and act(
                space_id=int(space), job_id=job_id[:20], operator=operator
            )  # fmt: skip
            if done:
                messages.success(request, "It is thrown away." if act is dead_letter_discard else "It is queued again.")
            else:
                messages.warning(request, "It is no dead letter any more.")
            return redirect("admin:jobs")
        context = self.each_context(request) | {
            "title": "Jobs", "open": jobs_open(), "jobs": jobs_dead(), "queues": queue_lengths(),
        }  # fmt: skip
        return TemplateResponse(request, "admin/jobs.html", context)


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sidebar."""

    def item(title: str, icon: str, name: str) -> dict[str, Any]:
        return {"title": title, "icon": icon, "link": reverse(name)}

    return [
        {"items": [item("Health and growth", "monitoring", "admin:index")]},
        {
            "title": "People", "separator": True,
            "items": [
                item("Users", "person", "admin:accounts_user_changelist"),
                item("Spaces", "groups", "admin:accounts_space_changelist"),
                item("Invitations", "mail", "admin:accounts_invitation_changelist"),
            ],
        },
        {
            "title": "Access", "separator": True,
            "items": [
                item("API keys", "key", "admin:apikeys_apikey_changelist"),
                item("OAuth clients", "apps", "admin:oauth2_provider_application_changelist"),
            ],
        },
        {
            "title": "Operation", "separator": True,
            "items": [
                item("Jobs and dead letters", "report", "admin:jobs"),
                item("Plans", "sell", "admin:accounts_plan_changelist"),
                item("Switches", "toggle_on", "admin:accounts_switch_changelist"),
            ],
        },
    ]  # fmt: skip


def queue_lengths() -> list[tuple[str, int | None]]:
    """Return how many messages wait in each queue, None while Redis or Valkey is away."""
    from config.valkey import breaker, client

    prefix = settings.CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"]
    return [
        (name, breaker.call(lambda name=name: client().llen(f"{prefix}{name}")))  # type: ignore[misc]
        for name in ("default", "ai", "embed", "import")
    ]


def growth(label: str, field: str) -> list[tuple[date, int]]:
    """Return how many rows of a model were made on each of the last days."""
    since = timezone.now() - timedelta(days=GROWTH_DAYS)
    rows = apps.get_model(label)._default_manager.filter(**{f"{field}__gte": since})
    counts = rows.annotate(day=TruncDate(field)).values("day").annotate(count=Count("pk")).values_list("day", "count")
    by_day: dict[date, int] = {day: count for day, count in counts if day is not None}
    today = timezone.localdate()
    days = [today - timedelta(days=back) for back in range(GROWTH_DAYS - 1, -1, -1)]
    return [(day, by_day.get(day, 0)) for day in days]


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add what the first page of the console shows: health, totals and growth."""
    from aiworker.deadletters import jobs_dead
    from config.health import server_count
    from config.valkey import is_up
    from events.charts import chart

    def drawn(name: str, label: str, field: str) -> Any:
        days = growth(label, field)
        return chart(name, [day for day, _ in days], [count for _, count in days])

    totals = [("Users", "accounts.User"), ("Spaces", "accounts.Space"), ("API keys", "apikeys.ApiKey")]
    return context | {
        "health": [("Database", True), ("Redis or Valkey", is_up())], "queues": queue_lengths(),
        "dead": len(jobs_dead()), "memories": server_count(), "version": settings.VERSION,
        "totals": [(name, apps.get_model(label)._default_manager.count()) for name, label in totals],
        "charts": [
            drawn("New users", "accounts.User", "date_joined"), drawn("New spaces", "accounts.Space", "created_at"),
            drawn("New keys", "apikeys.ApiKey", "created_at"),
        ],
    }  # fmt: skip
