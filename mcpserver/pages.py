"""/connect: how each client is connected to this server."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import View

from grants.addresses import only_local, public_url
from mcpserver.snippets import key_snippets, snippets


class ConnectView(View):
    """The page of snippets; it holds nothing of anybody's, so it needs no sign-in."""

    http_method_names = ["get", "head", "options"]

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the snippets."""
        base = public_url(request)
        context: dict[str, Any] = {"base": base, "local": only_local(base)}
        context |= {"snippets": snippets(base), "key_snippets": key_snippets(base)}
        return render(request, "mcpserver/connect.html", context)
