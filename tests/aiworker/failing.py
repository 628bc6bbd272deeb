"""A task that fails as a constraint of the database does: the exception quotes the row."""

from celery import shared_task
from django.db import IntegrityError

MARK = "text-of-a-memory"
NAME = "tests.fails"


@shared_task(name=NAME)
def fails() -> None:
    """Raise an error that has another in its chain, both with the text."""
    try:
        raise ValueError(MARK)
    except ValueError as error:
        raise IntegrityError(f"DETAIL:  Failing row contains ({MARK}).") from error
