"""Walking the addresses of the API."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern

from api.urls import urlpatterns
from api.views import ApiView

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True)
class Route:
    """One address: its template as in the OpenAPI document, and what answers there."""

    name: str
    path: str
    callback: Any

    @property
    def view(self) -> type[ApiView] | None:
        """Return the view's class when it is an ApiView."""
        found = getattr(self.callback, "view_class", None)
        return found if found is not None and issubclass(found, ApiView) else None

    @property
    def methods(self) -> list[str]:
        return [method for method in METHODS if hasattr(self.view, method.lower())]

    @property
    def parameters(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.path)

    def address(self, values: dict[str, str]) -> str:
        return self.path.format(**{name: values.get(name, "x") for name in self.parameters})


def routes() -> list[Route]:
    """Return every address of /v1."""
    found = []
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern), "nested patterns would escape the policy tests"
        path = re.sub(r"<\w+:(\w+)>", r"{\1}", f"/v1/{pattern.pattern}")
        found.append(Route(str(pattern.name), path, pattern.callback))
    return found


API_ROUTES = [route for route in routes() if route.view is not None]
EACH = [(route, method) for route in API_ROUTES for method in route.methods]
IDS = [f"{method} {route.path}" for route, method in EACH]
