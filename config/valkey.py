"""The one connection pool to Redis or Valkey, and what happens while the server is away."""

import logging
import time
from collections.abc import Callable
from functools import cache
from typing import TypeVar

import redis
from django.conf import settings

logger = logging.getLogger(__name__)
ResultT = TypeVar("ResultT")
PAUSE_SECONDS = 5.0


class Breaker:
    """Skips calls for a few seconds after one failed, so that a dead server costs no request its time-out."""

    def __init__(self) -> None:
        self.closed_until = 0.0

    def call(self, function: Callable[[], ResultT]) -> ResultT | None:
        """Return the function's result, or None while the server is away."""
        if time.monotonic() < self.closed_until:
            return None
        try:
            return function()
        except redis.RedisError:
            self.closed_until = time.monotonic() + PAUSE_SECONDS
            logger.warning("redis is unavailable; going on without it")
            return None


breaker = Breaker()


@cache
def client() -> "redis.Redis":
    """Return this process's client; its pool opens a connection for each thread that needs one."""
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=0.5, socket_connect_timeout=0.5, protocol=2, max_connections=64
    )


def is_up() -> bool:
    """Return whether the server answers now."""
    return bool(breaker.call(lambda: client().ping()))
