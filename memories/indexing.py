"""What the search keeps beside the memories."""

from collections.abc import Sequence

from memories.models import Memory


def index_memories(memories: Sequence[Memory]) -> None:
    """Bring the search entries of new and changed memories up to date, in the caller's transaction."""
