"""Running coroutines from a test."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


def in_thread(coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Return what a coroutine returns, run in a thread of its own: the browser's own loop runs in the test's thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
