"""Three people with their spaces and keys of every kind, and a client that calls the API with one of the keys."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.db import transaction
from django.test import Client, RequestFactory
from django.utils import timezone

from accounts.access import Access, space_set, space_transaction
from accounts.models import Membership, Role, Space, User
from accounts.permissions import FULL_SCOPES, READ_SCOPES
from accounts.services import space_create
from apikeys.authentication import key_authenticate
from apikeys.keys import key_digest, key_generate, key_prefix
from apikeys.models import ApiKey
from apikeys.services import apikey_create
from memories.models import Memory
from memories.schemas import MemoryCreate
from memories.services import memory_create

ABSENT: Any = object()
WRITE_SCOPES = frozenset({"memories:write"})
MISSING_ID = "mem_0000000000000000"


@dataclass(frozen=True)
class Api:
    """The API as the holder of one key calls it, through Django's test client; None: without a key.

    Bodies are Python values, sent as JSON; bytes go out as they are. Keyword arguments become the query string.
    """

    key: str | None = None
    client: Client = field(default_factory=Client)

    def call(
        self,
        method: str,
        path: str,
        body: Any = ABSENT,
        *,
        headers: dict[str, str] | None = None,
        content_type: str = "application/json",
        **query: Any,
    ) -> Any:
        """Return the response to one request."""
        sent = {"Authorization": f"Bearer {self.key}"} if self.key is not None else {}
        url = f"{path}?{urlencode(query)}" if query else path
        if body is ABSENT:
            return self.client.generic(method, url, headers=sent | (headers or {}))
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.generic(method, url, data, content_type, headers=sent | (headers or {}))

    def get(self, path: str, **options: Any) -> Any:
        return self.call("GET", path, **options)

    def post(self, path: str, body: Any = ABSENT, **options: Any) -> Any:
        return self.call("POST", path, body, **options)

    def put(self, path: str, body: Any = ABSENT, **options: Any) -> Any:
        return self.call("PUT", path, body, **options)

    def patch(self, path: str, body: Any = ABSENT, **options: Any) -> Any:
        return self.call("PATCH", path, body, **options)

    def delete(self, path: str, **options: Any) -> Any:
        return self.call("DELETE", path, **options)

    def created(self, **changes: Any) -> dict[str, Any]:
        """Return a memory that this key has just created; `changes` go over `memory_body()`."""
        response = self.post("/v1/memories", memory_body(**changes))
        assert response.status_code == 201, response.content
        made: dict[str, Any] = response.json()
        return made


@dataclass(frozen=True)
class People:
    """An owner and a member of one space, and an outsider with another; `keys` by kind.

    Kinds: owner, member, outsider (full keys of the three); read, write (write-only), delete (delete-only),
    tool (writes as claude, reads claude and cursor), namespace (project:a only), type (semantic only),
    nothing (may read memories of no tool), quarantine, decide (approves actions), expired, revoked. All but
    `outsider` are keys to the owner's space.
    """

    owner: User
    member: User
    outsider: User
    space: Space
    other: Space
    keys: dict[str, str]

    def api(self, kind: str = "owner") -> Api:
        """Return the API as the holder of that kind of key calls it."""
        return Api(self.keys[kind])

    def access(self, kind: str = "owner") -> Access:
        """Return the access that a key of that kind gives."""
        return access_of(self.keys[kind])


def access_of(key: str) -> Access:
    """Return the access that a usable key gives at the REST door."""
    with transaction.atomic():
        access = key_authenticate(key, RequestFactory().get("/v1/me"), channel="rest")
    assert access is not None
    return access


def key_create(space: Space, user: User, name: str = "key", **fields: Any) -> str:
    """Return a new key of a person to a space; `fields` are those of apikey_create."""
    with transaction.atomic():
        space_set(space.pk)
        return apikey_create(access=Access.system(space.pk), space=space, user=user, name=name, **fields)[1]


def user_create(email: str, password: str | None = None, **fields: Any) -> User:
    """Return a new person; without a password they sign in by `client.force_login` (hashing takes its time)."""
    return User.objects.create_user(email, password, **fields)


def member_create(space: Space, email: str, role: str = Role.MEMBER) -> User:
    """Return a new person with that role in the space."""
    user = user_create(email)
    Membership.objects.create(space=space, user=user, role=role)
    return user


def people_create() -> People:
    """Return the three people, their spaces and their keys."""
    owner = user_create("owner@example.com", name="Olga Owner")
    space = space_create(owner=owner, name="Team")
    member = member_create(space, "member@example.com")
    outsider = user_create("outsider@example.com", name="Otto Outsider")
    other = space_create(owner=outsider, name="Elsewhere")

    def key(name: str, user: User = owner, to: Space = space, **fields: Any) -> ApiKey:
        texts[name] = key_generate()
        scopes = sorted(fields.pop("scopes", FULL_SCOPES))
        digest, prefix = key_digest(texts[name]), key_prefix(texts[name])
        return ApiKey(space=to, user=user, name=name, digest=digest, prefix=prefix, scopes=scopes, **fields)

    # In one statement, without the events of their making: nearly every test begins here.
    texts: dict[str, str] = {}
    now = timezone.now()
    ApiKey.objects.bulk_create(
        [
            key("owner"),
            key("member", member),
            key("outsider", outsider, other),
            key("read", scopes=READ_SCOPES),
            key("write", scopes=WRITE_SCOPES),
            key("delete", scopes={"memories:delete"}),
            key("tool", tool="claude", read_tools=["claude", "cursor"]),
            key("namespace", namespaces=["project:a"]),
            key("type", types=["semantic"]),
            key("nothing", read_tools=[]),
            key("quarantine", quarantine=True),
            key("decide", scopes={"actions:decide"}),
            key("expired", expires_at=now - timedelta(seconds=1)),
            key("revoked", revoked_at=now),
        ]
    )
    return People(owner, member, outsider, space, other, texts)


def memory_body(**changes: Any) -> dict[str, Any]:
    """Return the body of a valid create, with `changes` over it."""
    return {
        "content": "User prefers dark mode and minimal UI",
        "type": "semantic",
        "source": {"tool": "claude", "timestamp": "2026-06-29T12:00:00Z"},
        "tags": ["ui", "preferences"],
        "namespace": "project:myapp",
        "expires_at": None,
        "metadata": {},
    } | changes


def memory_make(access: Access, **changes: Any) -> Memory:
    """Return a memory stored through the service, without a request."""
    with space_transaction(access):
        return memory_create(access=access, data=MemoryCreate.model_validate(memory_body(**changes)))
