"""What the few addresses that need no credential share."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from api.errors import MethodNotAllowed, error_response

SAFE = ("GET", "HEAD", "OPTIONS")


def safe_only(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let GET and HEAD reach a view; answer OPTIONS with the methods and every other method with the 405 envelope."""

    @csrf_exempt  # otherwise a POST would get the page about a missing form token
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method in {"GET", "HEAD"}:
            return view(request, *args, **kwargs)
        allow = {"Allow": ", ".join(SAFE)}
        if request.method == "OPTIONS":
            return HttpResponse(status=204, headers=allow)
        return error_response(MethodNotAllowed(headers=allow))

    return wrapped
