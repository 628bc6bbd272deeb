"""Stored vectors, for clients that ask for them."""

from collections.abc import Sequence

from accounts.access import Access


def embeddings_of(access: Access, ids: Sequence[str]) -> dict[str, list[float]]:
    """Return the current vector of each memory that has one."""
    return {}
