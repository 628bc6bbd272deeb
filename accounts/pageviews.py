"""What every page of the dashboard shares: who may open it, the transaction it runs in, and its errors in words."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Protocol, cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import cache_control
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from accounts.access import Access, space_transaction
from accounts.index import index_for
from accounts.models import Membership, User
from accounts.permissions import ROLE_ACTIONS
from accounts.sessions import session_access
from api.errors import ApiError, Invalid, NotFound
from api.text import text_problem

PAGE_ACTIONS: dict[str, str] = {}  # name of the view function -> action of ROLE_ACTIONS, for the permission matrix


class PageRequest(HttpRequest):
    """A request of a signed-in person with a current space."""

    access: Access
    membership: Membership
    spaces: list[Membership]
    htmx: HtmxDetails
    may: frozenset[str]
    user: User


class PageView(Protocol):
    """A view that takes a PageRequest and the parts of its address."""

    __name__: str

    def __call__(self, request: PageRequest, /, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer the request."""
        ...


def page(action: str, *, atomic: bool = True) -> Callable[[PageView], Callable[..., HttpResponseBase]]:
    """Let only people whose role allows `action` into a view, inside a transaction of their current space.

    Strangers go to the sign-in page and come back afterwards. A view that searches, and so waits for a model,
    sets `atomic` to False and opens its own transactions.
    """

    def decorate(view: PageView) -> Callable[..., HttpResponseBase]:
        PAGE_ACTIONS[f"{view.__module__}.{view.__name__}"] = action

        @wraps(view)
        @cache_control(private=True, no_store=True)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return to_sign_in(request)
            access = session_access(request)
            if access is None:
                return redirect("space-new")
            if action not in ROLE_ACTIONS[access.role]:
                return refused(request, access.role)
            page_request = cast(PageRequest, request)
            page_request.may = ROLE_ACTIONS[access.role]
            try:
                text_check(request, kwargs)
                # Times are shown and read in the space's own zone.
                with timezone.override(page_request.membership.space.timezone):
                    if not atomic:
                        return view(page_request, *args, **kwargs)
                    with space_transaction(access):
                        return view(page_request, *args, **kwargs)
            except ApiError as error:
                return failed(request, error)

        guarded.page_action = action  # type: ignore[attr-defined]
        return guarded

    return decorate


def text_check(request: HttpRequest, parts: Mapping[str, Any]) -> None:
    """Raise NotFound for a part of the address, Invalid for a value of query or form, that the database cannot hold."""
    if any(text_problem(str(part)) for part in parts.values()):
        raise NotFound()
    for query in (request.GET, request.POST):
        for _, values in query.lists():
            if problem := next(filter(None, map(text_problem, values)), None):
                raise Invalid(f"A value that was sent cannot be kept. {problem}")


def to_sign_in(request: HttpRequest) -> HttpResponse:
    """Send a stranger to the sign-in page, from where they come back to what they asked for."""
    back = request.get_full_path() if request.method in {"GET", "HEAD"} else "/"
    if getattr(request, "htmx", False):
        # A part of a page was asked for: the whole page has to go, back to the page that asked.
        back = cast(PageRequest, request).htmx.current_url_abs_path or "/"
        return HttpResponseClientRedirect(f"{settings.LOGIN_URL}?{urlencode({'next': back})}")
    return redirect(f"{settings.LOGIN_URL}?{urlencode({'next': back})}")


def refused(request: HttpRequest, role: str) -> HttpResponse:
    """Say that the role does not allow this, and who can help."""
    return render(request, "403.html", {"role": role}, status=403)


def failed(request: HttpRequest, error: ApiError) -> HttpResponse:
    """Show an error of a service as a page."""
    if isinstance(error, NotFound):
        return render(request, "404.html", status=404)
    return render(request, "error.html", {"message": error.message}, status=error.status)


def safe_back(request: HttpRequest, default: str) -> str:
    """Return the address in the field `next` when it leads to this site, else the default."""
    back = request.POST.get("next") or request.GET.get("next") or ""
    secure = request.is_secure()
    return back if url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=secure) else default


class Shell:
    """What the frame around every page shows; each part is looked up when the template asks for it."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.access = session_access(request)

    @property
    def membership(self) -> Membership | None:
        """Return the person's place in the current space."""
        return getattr(self.request, "membership", None)

    @property
    def spaces(self) -> list[Membership]:
        """Return every space of the person."""
        return getattr(self.request, "spaces", [])

    @property
    def may(self) -> frozenset[str]:
        """Return the actions that the person's role allows here."""
        return ROLE_ACTIONS[self.access.role] if self.access else frozenset()

    @property
    def waiting(self) -> dict[str, int]:
        """Return how many things wait for the person, by the page that shows them."""
        if self.access is None or connection.needs_rollback:
            return {}
        return waiting_counts(self.access)

    @property
    def index(self) -> list[tuple[str, list[Any]]]:
        """Return the index of pages that the person's role opens."""
        return index_for(self.request, self.may, self.counts)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Return `waiting`, counted once for the page."""
        return self.waiting

    @property
    def in_account(self) -> bool:
        """Return whether the page is one of the person's own account."""
        return self.request.path.startswith(("/account/", "/accounts/")) or self.request.path == "/account"


WAITING: dict[str, Callable[[Access], int]] = {}  # page -> count of what waits there; apps add theirs


def waiting_counts(access: Access) -> dict[str, int]:
    """Return the counts of what waits in the access's space."""
    with space_transaction(access):
        return {name: count(access) for name, count in WAITING.items()}


def shell(request: HttpRequest) -> dict[str, Any]:
    """Return the context that the frame needs (a context processor)."""
    if not hasattr(request, "user") or isinstance(request.user, AnonymousUser) or not request.user.is_authenticated:
        return {}
    return {"shell": Shell(request)}
