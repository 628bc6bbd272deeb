"""Running the same thing in many threads at once, each with a database connection of its own."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Thread
from typing import TypeVar

from django.db import connections

ResultT = TypeVar("ResultT")


def at_once(count: int, function: Callable[[int], ResultT]) -> list[ResultT | Exception]:
    """Return what `function(number)` returned or raised in each of `count` threads that started together."""
    outcomes: list[ResultT | Exception] = [RuntimeError("the thread did not end")] * count
    barrier = Barrier(count)

    def run(number: int) -> None:
        try:
            barrier.wait()
            outcomes[number] = function(number)
        except Exception as error:
            outcomes[number] = error
        finally:
            connections.close_all()

    threads = [Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes
