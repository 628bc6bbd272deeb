"""What reaches the log of an exception: its type and where it was raised, never its text, which may quote a row."""

import logging
from collections.abc import Mapping
from typing import Any

TASK = ("hostname", "id", "name", "description", "runtime")  # what is written of a task, beside its exception's type


class Withheld(Exception):
    """Stands in the log for an exception, by the name of its type."""


def without_text(exception: BaseException) -> tuple[type[Exception], Exception, Any]:
    """Return exc_info whose message is the exception's type alone."""
    return (Withheld, Withheld(type(exception).__qualname__), exception.__traceback__)


class ErrorsWithoutText(logging.Filter):
    """Takes the text of exceptions out of every record of a handler, whichever library wrote it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True: the record is written, changed."""
        exception = record.exc_info[1] if record.exc_info else None
        if exception is not None and not isinstance(exception, Withheld):
            record.exc_info, record.exc_text = without_text(exception), None
        if isinstance(record.args, tuple):
            record.args = tuple(
                type(arg).__qualname__ if isinstance(arg, BaseException) else arg for arg in record.args
            )
        elif isinstance(record.args, Mapping) and "exc" in record.args:
            # Celery's record of a task: the exception's text, its traceback and the task's arguments are in it twice.
            kept = {name: record.args[name] for name in TASK if name in record.args}
            record.args = record.data = kept | {"exc": type(exception).__qualname__}
        return True
