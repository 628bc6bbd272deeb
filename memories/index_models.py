"""What the search keeps: an entry and vectors a memory, what is still to be embedded, and each space's state."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models.functions import Now
from pgvector.django import HalfVectorField

from accounts.models import Space
from accounts.querysets import SpaceOwnedQuerySet


class SearchEntry(models.Model):
    """The words and filters of one searchable memory (memories.lexemes); written in the memory's own transaction.

    Row-level security guards the table. Its operators may not run before the policy, which would rule out the index,
    so searches read it through the view ``memories_searchable``: the entries of the transaction's space that have
    not expired.
    """

    pk = models.CompositePrimaryKey("space_id", "memory_id")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    memory_id = models.CharField(max_length=20)
    lexemes = SearchVectorField()
    length = models.PositiveIntegerField(help_text="In words.")
    digest = models.BinaryField(max_length=16, help_text="Of the content: whether vectors still belong to it.")
    pinned = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return self.memory_id


class MemoryVector(models.Model):
    """The unit vector of one piece of a memory's content under one model."""

    pk = models.CompositePrimaryKey("space_id", "memory_id", "model", "piece")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    model = models.CharField(max_length=100)
    memory_id = models.CharField(max_length=20)
    piece = models.PositiveSmallIntegerField()
    digest = models.BinaryField(max_length=16, help_text="Of the piece's text: equal text is embedded once a space.")
    embedding = HalfVectorField()
    expires_at = models.DateTimeField(null=True)

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["space", "digest"], name="memories_vector_digest")]

    def __str__(self) -> str:
        return f"{self.memory_id} {self.model} {self.piece}"


class EmbeddingPending(models.Model):
    """A memory whose vectors under a model are still to be made: the durable queue behind the task messages."""

    pk = models.CompositePrimaryKey("space_id", "memory_id", "model")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    memory_id = models.CharField(max_length=20)
    model = models.CharField(max_length=100)
    queued_at = models.DateTimeField(db_default=Now())
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    not_before = models.DateTimeField(db_default=Now(), help_text="A worker's lease, or the pause after a failure.")
    error = models.CharField(max_length=200, default="", db_default="")

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["space", "-queued_at"], name="memories_pending_newest")]

    def __str__(self) -> str:
        return f"{self.memory_id} {self.model}"


class SearchSpace(models.Model):
    """A space's state in the search: which model answers, which one is being prepared, whether vectors are indexed."""

    space = models.OneToOneField(Space, on_delete=models.CASCADE, related_name="+", primary_key=True)
    model = models.CharField(max_length=100, help_text="The model whose vectors answer searches.")
    next_model = models.CharField(
        max_length=100, default="", db_default="", help_text="Answers as soon as it has a vector for everything."
    )
    vector_index = models.CharField(max_length=63, default="", db_default="", help_text="The name of its HNSW index.")

    def __str__(self) -> str:
        return f"{self.space_id}: {self.model}"
