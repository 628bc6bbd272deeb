"""What the page of memories was asked for, as an address and as rows."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db import connection
from django.db.models import Q
from django.http import QueryDict

from accounts.access import Access
from api.errors import Invalid
from api.pagination import cursor_decode, cursor_encode
from memories.models import Memory
from memories.schemas import MAX_QUERY
from memories.search import SearchFilters

PAGE = 30
COUNT_UP_TO = 10_000
FACETS_FROM = 2_000  # the newest memories, from which the filters on offer are taken: bounded however many there are
MODES = {"hybrid": "Words and meaning", "keyword": "Words", "semantic": "Meaning"}
TYPES = {"semantic": "Facts", "episodic": "Events", "procedural": "How-to"}
TIERS = {"core": "Core", "long": "For good", "scratch": "Scratch"}

FACETS = """
WITH newest AS (
  SELECT source_tool, tags, subject FROM memories_memory
  WHERE space_id = %(space)s AND status = 'active' AND (expires_at IS NULL OR expires_at > now())
  ORDER BY created_at DESC LIMIT %(rows)s
)
SELECT * FROM (SELECT 'tool', source_tool, count(*) FROM newest GROUP BY 2 ORDER BY 3 DESC, 2 LIMIT 8) tools
UNION ALL
SELECT * FROM (SELECT 'tag', tag, count(*) FROM newest, unnest(tags) tag GROUP BY 2 ORDER BY 3 DESC, 2 LIMIT 14) tags
UNION ALL
SELECT * FROM (SELECT 'subject', subject, count(*) FROM newest WHERE subject <> '' GROUP BY 2 ORDER BY 3 DESC, 2
  LIMIT 8) subjects
"""


@dataclass(frozen=True, slots=True)
class Listing:
    """One view of the memories: a search or a list, its filters and its place."""

    q: str = ""
    mode: Any = "hybrid"
    view: str = "list"
    type: str = ""
    tool: str = ""
    tags: tuple[str, ...] = ()
    subject: str = ""
    namespace: str = ""
    tier: str = ""
    pinned: bool = False
    waiting: bool = False
    cursor: str = ""

    @classmethod
    def read(cls, query: QueryDict) -> "Listing":
        """Return what a query string asks for; raises Invalid for a value that is none, since it would widen."""
        listing = cls(
            q=query.get("q", "").strip()[:MAX_QUERY], mode=query.get("mode") or "hybrid",
            view=query.get("view") or "list", type=query.get("type", ""), tool=query.get("tool", ""),
            tags=tuple(dict.fromkeys(tag for tag in query.getlist("tag") if tag)), subject=query.get("subject", ""),
            namespace=query.get("namespace", ""), tier=query.get("tier", ""), pinned=query.get("pinned") == "1",
            waiting=query.get("waiting") == "1", cursor=query.get("cursor", ""),
        )  # fmt: skip
        allowed = {"mode": MODES, "view": {"list", "timeline"}, "type": {"", *TYPES}, "tier": {"", *TIERS}}
        for name, values in allowed.items():
            if getattr(listing, name) not in values:
                raise Invalid(f"There is no such {name}. Go back to the memories and choose again.")
        return listing

    def url(self, **changes: Any) -> str:
        """Return the address of this view with some parts changed; the place goes back to the beginning."""
        view = replace(self, **({"cursor": ""} | changes))
        pairs = [
            (name, value)
            for name in ("q", "mode", "view", "type", "tool", "subject", "namespace", "tier")
            if (value := getattr(view, name)) not in ("", "hybrid", "list")
        ]
        pairs += [("tag", tag) for tag in view.tags]
        pairs += [(name, "1") for name in ("pinned", "waiting") if getattr(view, name)]
        pairs += [("cursor", view.cursor)] if view.cursor else []
        return "/memories" + ("?" + urlencode(pairs) if pairs else "")

    @property
    def list_url(self) -> str:
        """Return the address of the same as a list."""
        return self.url(view="list")

    @property
    def timeline_url(self) -> str:
        """Return the address of the same by day."""
        return self.url(view="timeline")

    @property
    def unfiltered_url(self) -> str:
        """Return the address of the same search without filters."""
        return Listing(q=self.q, mode=self.mode).url()

    @property
    def filtered(self) -> bool:
        """Return whether any filter is set."""
        return bool(self.type or self.tool or self.tags or self.subject or self.namespace or self.tier or self.pinned)

    def conditions(self) -> Q:
        """Return the filters as a condition on rows."""
        wanted: dict[str, Any] = {
            "type": self.type, "source_tool": self.tool, "subject": self.subject, "namespace": self.namespace,
            "tier": self.tier,
        }  # fmt: skip
        condition = Q(**{name: value for name, value in wanted.items() if value})
        if self.tags:
            condition &= Q(tags__contains=list(self.tags))
        return condition & Q(pinned=True) if self.pinned else condition

    def search_filters(self) -> SearchFilters:
        """Return the filters that the search applies itself."""
        return SearchFilters(
            type=self.type or None, tool=self.tool or None, tags=list(self.tags) or None,
            namespace=self.namespace or None, subject=self.subject or None, tier=self.tier or None,
        )  # fmt: skip

    def hidden_fields(self) -> list[tuple[str, str]]:
        """Return the parts that a search form carries along."""
        pairs = [(name, getattr(self, name)) for name in ("view", "type", "tool", "subject", "namespace", "tier")]
        pairs += [("tag", tag) for tag in self.tags] + ([("pinned", "1")] if self.pinned else [])
        return [(name, value) for name, value in pairs if value and (name, value) != ("view", "list")]


def listed(access: Access, listing: Listing) -> tuple[list[Memory], str]:
    """Return one page of memories, newest first, and the cursor of the next, empty on the last page."""
    if listing.waiting:
        rows = Memory.objects.any_status(access).filter(status=Memory.Status.QUARANTINED)
    else:
        rows = Memory.objects.visible_to(access)
    rows = rows.filter(listing.conditions())
    if listing.cursor:
        at, last = cursor_decode(listing.cursor, {}, (datetime, str))
        rows = rows.filter(Q(created_at__lt=at) | Q(created_at=at, id__lt=last))
    page = list(rows.order_by("-created_at", "-id")[: PAGE + 1])
    if len(page) <= PAGE:
        return page, ""
    page = page[:PAGE]
    return page, cursor_encode([page[-1].created_at.isoformat(), page[-1].id], {})


def counted(access: Access, listing: Listing) -> str:
    """Return how many memories match, in words; counting stops at ten thousand."""
    rows = Memory.objects.visible_to(access).filter(listing.conditions())
    count = rows.order_by()[: COUNT_UP_TO + 1].count()
    if count > COUNT_UP_TO:
        return f"More than {COUNT_UP_TO:,} memories"
    return "1 memory" if count == 1 else f"{count:,} memories"


def facets(access: Access) -> dict[str, list[tuple[str, int]]]:
    """Return the tools, tags and subjects of the newest memories with their counts, most frequent first."""
    found: dict[str, list[tuple[str, int]]] = {"tool": [], "tag": [], "subject": []}
    with connection.cursor() as cursor:
        cursor.execute(FACETS, {"space": access.space_id, "rows": FACETS_FROM})
        for kind, value, count in cursor.fetchall():
            found[kind].append((value, count))
    return found


def chips(listing: Listing, found: dict[str, list[tuple[str, int]]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return groups of filters: each chip's address sets its filter, or removes it when it is set."""

    def chip(label: str, on: bool, count: int | None = None, **changes: Any) -> dict[str, Any]:
        return {"label": label, "on": on, "count": count, "url": listing.url(**changes)}

    groups: list[tuple[str, list[dict[str, Any]]]] = [
        (
            "Kind",
            [
                *(
                    chip(label, listing.type == name, type="" if listing.type == name else name)
                    for name, label in TYPES.items()
                ),
                chip("Core", listing.tier == "core", tier="" if listing.tier == "core" else "core"),
                chip("Scratch", listing.tier == "scratch", tier="" if listing.tier == "scratch" else "scratch"),
                chip("Pinned", listing.pinned, pinned=not listing.pinned),
            ],
        )
    ]
    for name, heading in (("tool", "Tool"), ("subject", "Subject")):
        value = getattr(listing, name)
        values = found[name] if not value or any(value == known for known, _ in found[name]) else [(value, 0)]
        groups.append((heading, [chip(v, v == value, n, **{name: "" if v == value else v}) for v, n in values]))
    tags = found["tag"] + [(tag, 0) for tag in listing.tags if tag not in dict(found["tag"])]
    groups.append(
        (
            "Tag",
            [chip(tag, tag in listing.tags, count, tags=toggled(listing.tags, tag)) for tag, count in tags],
        )
    )
    if listing.namespace:
        groups.append(("Namespace", [chip(listing.namespace, True, namespace="")]))
    return [(heading, items) for heading, items in groups if items]


def toggled(tags: tuple[str, ...], tag: str) -> tuple[str, ...]:
    """Return the tags with this one added, or removed when it was there."""
    return tuple(other for other in tags if other != tag) if tag in tags else (*tags, tag)
