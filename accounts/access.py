"""Access: who asks, in which space, and what they may see and change there."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from django.db import connection, transaction

from accounts.permissions import SCOPES
from api.errors import Forbidden

ActorKind = Literal["key", "user", "grant", "system"]
Channel = Literal["rest", "mcp", "dashboard", "import", "extract", "dream", "system"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What one credential or signed-in person may do in one space.

    A limit of None means no limit; an empty limit means nothing. Built from a credential, a session or,
    in a task, from ids; below it nothing sees a request.
    """

    space_id: int
    user_id: int | None
    actor_kind: ActorKind
    actor_id: str
    actor_name: str
    scopes: frozenset[str]
    channel: Channel
    role: str = ""
    write_tool: str | None = None
    read_tools: frozenset[str] | None = None
    namespaces: frozenset[str] | None = None
    types: frozenset[str] | None = None
    quarantine: bool = False
    ip: str | None = None
    request_id: str = ""
    requests_per_minute: int | None = None  # what the space's plan says; None: the limit of the settings
    credential: str = ""  # the key's display prefix, never the key

    def may(self, scope: str) -> bool:
        """Return whether this access holds a scope."""
        return scope in self.scopes

    def require(self, scope: str) -> None:
        """Raise Forbidden unless this access holds a scope."""
        if scope not in self.scopes:
            raise Forbidden(f"This key lacks the scope {scope}.", {"scope": scope})

    @property
    def decides(self) -> bool:
        """Return whether this is the owner: a signed-in person who may decide, or a REST key with actions:decide."""
        person = self.actor_kind == "user" or (self.actor_kind == "key" and self.channel == "rest")
        return person and "actions:decide" in self.scopes

    @property
    def is_agent(self) -> bool:
        """Return whether a tool asks, not the owner and not the service itself."""
        return self.actor_kind in {"key", "grant"} and not self.decides

    @property
    def limited(self) -> bool:
        """Return whether some memories of the space are out of this access's reach."""
        return self.read_tools is not None or self.namespaces is not None or self.types is not None

    @classmethod
    def system(cls, space_id: int, *, channel: Channel = "system") -> "Access":
        """Return the access of the service's own periodic work in one space."""
        return cls(
            space_id=space_id, user_id=None, actor_kind="system", actor_id="", actor_name="Commonplace",
            scopes=frozenset(SCOPES), channel=channel,
        )  # fmt: skip


def space_set(space_id: int) -> None:
    """Tell PostgreSQL's row-level security, until this transaction ends, whose rows may be seen."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('commonplace.space_id', %s, true)", [str(space_id)])


@contextmanager
def space_transaction(access: Access) -> Iterator[None]:
    """Run a block in a transaction that can see the rows of the access's space and no others."""
    with transaction.atomic():
        space_set(access.space_id)
        yield


@contextmanager
def search_transaction(access: Access) -> Iterator[None]:
    """Run a block like ``space_transaction`` whose statements read tables by their indexes alone.

    How many entries of one space match a tsquery cannot be read off the statistics of all spaces' entries. Of many
    lexemes the planner expects so many that it would read a table from end to end, which is other spaces' rows.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config('commonplace.space_id', %s, true), set_config('enable_seqscan', 'off', true)",
                [str(access.space_id)],
            )
        yield
