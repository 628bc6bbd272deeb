"""Every address of the service."""

import sys

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import include, path
from django.views.defaults import bad_request
from django.views.generic import RedirectView

from accounts.social import social_urls
from api.errors import ApiError, Invalid, NotFound, api_request, error_from, error_response
from config import health
from mcpserver.pages import ConnectView
from mcpserver.transport import mcp

urlpatterns = [
    path("v1/", include("api.urls")),
    path("mcp", mcp, name="mcp"),
    path("connect", ConnectView.as_view(), name="connect"),
    path("", include("grants.urls")),
    path("livez", health.livez, name="livez"),
    path("readyz", health.readyz, name="readyz"),
    path("admin/login/", RedirectView.as_view(url="/accounts/login/?next=/admin/")),  # second steps hold there too
    path("admin/", admin.site.urls),
    *social_urls(settings.SOCIAL_SIGN_IN),
    path("accounts/", include("allauth.urls")),
    path("", include("accounts.urls")),
    path("", include("memories.urls")),
    path("", include("apikeys.urls")),
    path("", include("events.urls")),
    path("", include("aiworker.urls")),
    path("", include("notebook.urls")),
    path("", include("conversations.urls")),
    path("", include("actions.urls")),
    path("", include("dreams.urls")),
]
TOKEN_PATHS = frozenset({"/oauth/token", "/oauth/revoke", "/oauth/register"})


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse | JsonResponse:
    """Answer an unknown address in the language of its door."""
    if api_request(request):
        return error_response(NotFound())
    return render(request, "404.html", status=404)


def failed(request: HttpRequest) -> HttpResponse | JsonResponse:
    """Answer a failure that no view has met, and log it; that the database is away is one for a while only."""
    exception = sys.exception()
    error = error_from(exception) if isinstance(exception, Exception) else ApiError()
    if api_request(request):
        return error_response(error)
    page = render(request, "500.html", {"version": settings.VERSION}, status=error.status)
    for name, value in error.headers.items():
        page.headers[name] = value
    return page


def refused(request: HttpRequest, exception: Exception) -> HttpResponse | JsonResponse:
    """Answer a request that the framework reads no further, such as one for another host."""
    if api_request(request):
        return error_response(Invalid("The request is not one that this service reads. Is its Host header right?"))
    if request.path in TOKEN_PATHS:  # whose clients read nothing but the errors of RFC 6749, section 5.2
        return JsonResponse({"error": "invalid_request", "error_description": "The form cannot be read."}, status=400)
    return bad_request(request, exception)


handler400 = refused
handler404 = not_found
handler500 = failed
