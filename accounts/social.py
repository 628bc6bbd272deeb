"""Sign-in by other services: the page that leads there may send its form on to them."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from allauth.socialaccount.adapter import get_adapter
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

View = Callable[..., HttpResponse]


def social_urls(names: list[str]) -> list[URLPattern]:
    """Return the sign-in address of each of these providers; they go before those of django-allauth."""
    modules = [(name, import_module(f"allauth.socialaccount.providers.{name}.views")) for name in names]
    found = [(name, module.oauth2_login) for name, module in modules if hasattr(module, "oauth2_login")]
    return [path(f"accounts/{name}/login/", leaving(view, name)) for name, view in found]


def leaving(view: View, name: str) -> View:
    """Return the view with a content policy that lets its form be answered by a redirection to the provider.

    Browsers hold redirections after a form to `form-action` as well.
    """

    @wraps(view)
    def shown(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        provider = get_adapter(request).get_provider(request, name)
        target = urlsplit(provider.get_oauth2_adapter(request).authorize_url)
        response._csp_update = {"form-action": [f"{target.scheme}://{target.netloc}"]}  # type: ignore[attr-defined]
        return response

    return shown
