"""What OAuth leaves behind is cleared away daily."""

from celery import shared_task

from grants.purge import grants_purge


@shared_task(name="grants.purge", time_limit=600)
def purge() -> None:
    """Remove expired codes and tokens, and what nobody came back for."""
    grants_purge()
