"""Memories: what a space remembers, the versions it had, and the marks of what was deleted."""

import hmac
import json
import secrets
import string
from typing import Any, ClassVar, Self, cast

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models.functions import Now

from accounts.access import Access
from accounts.models import Space
from accounts.querysets import LimitedQuerySet, SpaceOwnedQuerySet
from api import clock
from api.text import text_normal

FROM_DREAM = "dream_"  # how source_ref begins of what a dream derived; metadata["evidence"] names what from
FROM_CONVERSATION = "conv_"  # how source_ref begins of what was extracted from a stored conversation
ALPHABET = string.ascii_lowercase + string.digits
VERSIONED = (
    "content", "type", "source_tool", "source_session_id", "source_user_id", "source_timestamp", "tags", "namespace",
    "expires_at", "metadata", "subject", "tier", "origin", "pinned", "source_ref",
)  # fmt: skip


def memory_id_generate() -> str:
    """Return a new id: `mem_` and 16 random characters of a-z and 0-9 (OMP 0.1, section 2.1)."""
    return "mem_" + "".join(secrets.choice(ALPHABET) for _ in range(16))


def content_digest(space_id: int, content: str) -> bytes:
    """Return the keyed digest (32 bytes) by which a space recognises a text without keeping it."""
    message = f"{space_id}\n{text_normal(content).casefold()}".encode("utf-8", "replace")
    return hmac.digest(settings.SECRET_KEY.encode(), message, "sha256")


class MemoryQuerySet(LimitedQuerySet["Memory"]):
    """Memories, through an access."""

    def visible_to(self, access: Access | None, *, include_expired: bool = False) -> Self:
        """Return the active memories that the access may see, expired ones only when asked for."""
        rows = self if include_expired else self.unexpired()
        return rows.within_limits(access, status=Memory.Status.ACTIVE)

    def one(
        self, access: Access, memory_id: str, *, include_expired: bool = False, lock: bool = False
    ) -> "Memory | None":
        """Return the visible memory with this id, None when there is none; with `lock`, nobody else changes it.

        The same as visible_to(...).filter(id=...), in a third of its processor time: most requests need one row,
        so it is fetched by its key with a prepared statement and the rule applied to it. A test compares the two.
        """
        columns = [str(field.column) for field in Memory._meta.concrete_fields]
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {', '.join(columns)} FROM memories_memory WHERE space_id = %s AND id = %s"  # noqa: S608 our own
                + (" FOR UPDATE" if lock else ""),
                [access.space_id, memory_id],
            )
            row = cursor.fetchone()
        if row is None:
            return None
        values = dict(zip(columns, row, strict=True))
        memory = Memory(**values | {"metadata": json.loads(values["metadata"])})
        return memory if memory.visible_through(access, include_expired=include_expired) else None

    def any_status(self, access: Access | None) -> Self:
        """Return every row of the access's space and limits: quarantined, superseded and expired ones too."""
        return self.within_limits(access)

    def identical(self, subject: str, content: str) -> Self:
        """Return the rows that hold the same fact: subject and text equal after NFC, trimming and folding white space.

        The column fact_digest is computed by PostgreSQL from subject and content of every row, and has no field here.
        """
        rows = self.extra(where=["fact_digest = commonplace_fact_digest(%s, %s)"], params=[subject, content])
        return cast(Self, rows)

    def unexpired(self) -> Self:
        """Return the rows that have not expired."""
        return self.filter(models.Q(expires_at=None) | models.Q(expires_at__gt=clock.now()))


class Memory(models.Model):
    """A unit of context about a person or their work (OMP 0.1, section 2), and a fact of the agent state."""

    class Type(models.TextChoices):
        EPISODIC = "episodic"
        SEMANTIC = "semantic"
        PROCEDURAL = "procedural"

    class Tier(models.TextChoices):
        CORE = "core"
        LONG = "long"
        SCRATCH = "scratch"

    class Origin(models.TextChoices):
        USER = "user"
        AGENT = "agent"

    class Status(models.TextChoices):
        ACTIVE = "active"
        SUPERSEDED = "superseded"
        QUARANTINED = "quarantined"

    pk = models.CompositePrimaryKey("space_id", "id")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    id = models.CharField(max_length=20, default=memory_id_generate)
    content = models.TextField()
    type = models.CharField(max_length=10, choices=Type)
    source_tool = models.CharField(max_length=100)
    source_session_id = models.CharField(max_length=255, null=True)
    source_user_id = models.CharField(max_length=255, null=True)
    source_timestamp = models.DateTimeField()
    tags = ArrayField(models.CharField(max_length=50), default=list)
    namespace = models.CharField(max_length=100, null=True)
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    subject = models.CharField(max_length=200, default="", db_default="")
    tier = models.CharField(max_length=7, choices=Tier, default=Tier.LONG, db_default=Tier.LONG)
    origin = models.CharField(max_length=5, choices=Origin, default=Origin.AGENT, db_default=Origin.AGENT)
    pinned = models.BooleanField(default=False, db_default=False)
    source_ref = models.CharField(max_length=500, default="", db_default="")
    status = models.CharField(max_length=11, choices=Status, default=Status.ACTIVE, db_default=Status.ACTIVE)
    channel = models.CharField(max_length=10, default="rest", db_default="rest")
    apikey_id = models.BigIntegerField(null=True)
    version = models.PositiveIntegerField(default=1, db_default=1)
    recall_count = models.PositiveIntegerField(default=0, db_default=0)
    last_recalled_at = models.DateTimeField(null=True)
    remembered = models.BooleanField(
        default=False, db_default=False,
        help_text="Stored by remember and unchanged since: a unique index keeps one active row for each such fact.",
    )  # fmt: skip
    superseded_by = models.CharField(max_length=20, null=True, help_text="The fact that this one was merged into.")
    evidence_deleted = models.BooleanField(
        default=False, db_default=False, help_text="Some of what a dream derived it from was deleted."
    )
    dreamed_at = models.DateTimeField(null=True, help_text="When a dream last changed it.")

    objects: ClassVar[MemoryQuerySet] = MemoryQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        indexes = [
            models.Index(fields=["space", "created_at", "id"], name="memories_memory_created"),
            models.Index(fields=["space", "updated_at", "id"], name="memories_memory_updated"),
            models.Index(
                fields=["space", "expires_at"],
                condition=models.Q(status="active"),
                name="memories_memory_counted",
            ),
            models.Index(fields=["space", "tier"], condition=models.Q(tier="core"), name="memories_memory_core"),
            models.Index(
                fields=["space"], condition=models.Q(status="quarantined"), name="memories_memory_quarantined"
            ),
            models.Index(
                fields=["space", "source_ref"],
                opclasses=["int8_ops", "varchar_pattern_ops"],
                condition=models.Q(source_ref__startswith=FROM_CONVERSATION),
                name="memories_memory_conversation",
            ),
            models.Index(
                fields=["space", "source_ref"],
                condition=models.Q(source_ref__startswith=FROM_DREAM),
                name="memories_memory_dreamed",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(type__in=["episodic", "semantic", "procedural"]), name="memories_memory_type_valid"
            ),
            models.CheckConstraint(
                condition=models.Q(id__regex=r"^mem_[a-z0-9]{16}$"), name="memories_memory_id_valid"
            ),
            models.CheckConstraint(
                condition=models.Q(tier__in=["core", "long", "scratch"]), name="memories_memory_tier_valid"
            ),
            models.CheckConstraint(
                condition=models.Q(origin__in=["user", "agent"]), name="memories_memory_origin_valid"
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=["active", "superseded", "quarantined"]),
                name="memories_memory_status_valid",
            ),
        ]

    def __str__(self) -> str:
        return self.id

    def visible_through(self, access: Access, *, include_expired: bool = False) -> bool:
        """Return whether the access may see this row: the rule of MemoryQuerySet.visible_to, for a row at hand."""
        expired = self.expires_at is not None and self.expires_at <= clock.now()
        return (
            self.space_id == access.space_id
            and self.status == Memory.Status.ACTIVE
            and (include_expired or not expired)
            and (access.read_tools is None or self.source_tool in access.read_tools)
            and (access.namespaces is None or self.namespace in access.namespaces)
            and (access.types is None or self.type in access.types)
        )

    def snapshot(self) -> dict[str, Any]:
        """Return the values of the fields that a version keeps."""
        return {name: getattr(self, name) for name in VERSIONED}


class MemoryVersionQuerySet(SpaceOwnedQuerySet["MemoryVersion"]):
    """Versions, through an access."""

    def visible_to(self, access: Access | None) -> Self:
        """Return the versions that the access may see: a memory may have come into its limits only later."""
        rows = super().visible_to(access)
        if access is None:
            return rows
        limits = {
            "fields__source__tool": access.read_tools, "fields__namespace": access.namespaces,
            "fields__type": access.types,
        }  # fmt: skip
        for name, allowed in limits.items():
            if allowed is not None:
                rows = rows.filter(**{f"{name}__in": list(allowed)})
        return rows


class MemoryVersion(models.Model):
    """What a memory was before a change."""

    pk = models.CompositePrimaryKey("space_id", "memory_id", "version")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    memory_id = models.CharField(max_length=20)
    version = models.PositiveIntegerField()
    fields = models.JSONField(help_text="The values that the version had, in the shape of a full memory.")
    changed_at = models.DateTimeField(db_default=Now())
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=64, blank=True)
    actor_name = models.CharField(max_length=100, blank=True)

    objects: ClassVar[Any] = MemoryVersionQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.memory_id} v{self.version}"


class ForgetPreview(models.Model):
    """That a credential has seen what a forget would remove; of what it asked only a keyed digest is kept."""

    pk = models.CompositePrimaryKey("space_id", "actor", "digest")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    actor = models.CharField(max_length=80, help_text="Kind and id of the credential.")
    digest = models.BinaryField(max_length=32)
    at = models.DateTimeField()

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.actor} {self.at}"


class Tombstone(models.Model):
    """The keyed digest of a deleted text: extraction and dreams do not bring it back."""

    pk = models.CompositePrimaryKey("space_id", "digest")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    digest = models.BinaryField(max_length=32)
    created_at = models.DateTimeField(db_default=Now())

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return bytes(self.digest).hex()
