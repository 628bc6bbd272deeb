"""The index beside every page: where a person can go in their space."""

from typing import Any, NamedTuple

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse


class Place(NamedTuple):
    """A line of the index: the page's name in the URLconf, its label, and the action that opens it."""

    name: str
    label: str
    action: str = "read"
    waiting: str = ""


INDEX: list[tuple[str, list[Place]]] = [
    ("", [Place("home", "Home")]),
    (
        "What is remembered",
        [
            Place("memory-list", "Memories", waiting="quarantine"),
            Place("journal", "Journal"),
            Place("record-collections", "Records"),
            Place("kv", "Key-value"),
            Place("conversation-list", "Conversations"),
        ],
    ),
    (
        "What waits",
        [
            Place("action-list", "Approvals", "write", waiting="actions"),
            Place("dream-list", "Dreams", waiting="suggestions"),
        ],
    ),
    (
        "The space",
        [
            Place("connection-list", "Connections", "keys"),
            Place("transfer", "Import and export", "export"),
            Place("team", "Team"),
            Place("usage-page", "Usage"),
            Place("event-list", "Events"),
            Place("settings", "Settings", "settings"),
        ],
    ),
]

BELOW = {"action-list": ("/a/",), "connection-list": ("/connect",)}  # pages whose address is not below their list's


def index_for(request: HttpRequest, may: frozenset[str], waiting: dict[str, int]) -> list[tuple[str, list[Any]]]:
    """Return the index for a person who may do `may`: groups of {url, label, current, count}."""
    groups: list[tuple[str, list[Any]]] = []
    for heading, places in INDEX:
        items = []
        for place in places:
            if place.action not in may:
                continue
            try:
                url = reverse(place.name)
            except NoReverseMatch:
                continue
            current = request.path == url or request.path.startswith((url + "/", *BELOW.get(place.name, ())))
            items.append({"url": url, "label": place.label, "current": current, "count": waiting.get(place.waiting, 0)})
        if items:
            groups.append((heading, items))
    return groups
