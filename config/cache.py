"""Django's cache, which each process goes on with alone while Redis or Valkey is away.

Only the limits on sign-in live in it: they hold in each process then, and nobody is kept from signing in.
"""

from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache

from config.valkey import breaker


class SteadyCache(RedisCache):
    """The cache in Redis or Valkey; in the process's own memory while that is away."""

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self.own = LocMemCache("while the server is away", {"KEY_PREFIX": self.key_prefix})

    def _call(self, method: str, *args: Any, **options: Any) -> Any:
        answered = breaker.call(lambda: (getattr(RedisCache, method)(self, *args, **options),))
        return answered[0] if answered else getattr(self.own, method)(*args, **options)

    def add(self, *args: Any, **options: Any) -> Any:
        """Store a value unless there is one; return whether it was stored."""
        return self._call("add", *args, **options)

    def get(self, *args: Any, **options: Any) -> Any:
        """Return a value or the default."""
        return self._call("get", *args, **options)

    def set(self, *args: Any, **options: Any) -> Any:
        """Store a value."""
        return self._call("set", *args, **options)

    def touch(self, *args: Any, **options: Any) -> Any:
        """Give a value another lifetime; return whether there was one."""
        return self._call("touch", *args, **options)

    def delete(self, *args: Any, **options: Any) -> Any:
        """Delete a value; return whether there was one."""
        return self._call("delete", *args, **options)

    def has_key(self, *args: Any, **options: Any) -> Any:
        """Return whether there is a value."""
        return self._call("has_key", *args, **options)

    def incr(self, *args: Any, **options: Any) -> Any:
        """Add to a number and return it. Raises ValueError when there is none."""
        return self._call("incr", *args, **options)

    def clear(self) -> Any:
        """Forget everything."""
        return self._call("clear")
