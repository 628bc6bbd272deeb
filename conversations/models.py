"""Conversations that people had with their AI tools, kept to be handed over, read again or turned into memories."""

import secrets
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models.functions import Now

from accounts.access import Access
from accounts.models import Space
from accounts.querysets import SpaceOwnedQuerySet
from memories.models import ALPHABET


def conversation_id_generate() -> str:
    """Return a new id: `conv_` and 16 random characters of a-z and 0-9."""
    return "conv_" + "".join(secrets.choice(ALPHABET) for _ in range(16))


class ConversationQuerySet(SpaceOwnedQuerySet["Conversation"]):
    """Conversations, through an access."""

    def visible_to(self, access: Access | None) -> Self:
        """Return the conversations that the access may see.

        A conversation has the model it was held with for a tool, and neither namespace nor type: a key that is
        limited to some of those sees only what it stored itself.
        """
        rows = super().visible_to(access)
        if access is None or not access.limited:
            return rows
        own = models.Q(actor=actor_of(access))
        if access.namespaces is not None or access.types is not None or access.read_tools is None:
            return rows.filter(own)
        return rows.filter(own | models.Q(model__in=list(access.read_tools)))


def actor_of(access: Access) -> str:
    """Return the mark of who stored a conversation."""
    return f"{access.actor_kind}:{access.actor_id}"


class Conversation(models.Model):
    """The messages of one conversation in order, as {role, content} and, where known, {at}."""

    pk = models.CompositePrimaryKey("space_id", "id")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    id = models.CharField(max_length=21, default=conversation_id_generate)
    model = models.CharField(max_length=100, help_text="The AI it was held with, such as chatgpt or claude.")
    topic = models.CharField(max_length=200)
    messages = models.JSONField(default=list)
    message_count = models.PositiveIntegerField()
    source_url = models.CharField(max_length=500, null=True)
    actor = models.CharField(max_length=80)
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())
    extracted_at = models.DateTimeField(null=True, help_text="When its memories were last extracted.")

    objects: ClassVar[Any] = ConversationQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["space", "created_at", "id"], name="conversations_created"),
            models.Index(
                fields=["space", "source_url"],
                condition=models.Q(source_url__isnull=False),
                name="conversations_source_url",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(id__regex=r"^conv_[a-z0-9]{16}$"), name="conversations_conversation_id_valid"
            )
        ]

    def __str__(self) -> str:
        return self.id
