"""Rate limits: one token bucket for each key and one for each space, in Redis or Valkey."""

import math
from dataclasses import dataclass

from django.conf import settings

from accounts.access import Access
from api.errors import RateLimited
from config.valkey import breaker, client

# KEYS: bucket. ARGV: tokens a second, size. Answers {1 or 0, tokens left, milliseconds until one more}.
BUCKET = """
local rate, size = tonumber(ARGV[1]), tonumber(ARGV[2])
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
local state = redis.call('HMGET', KEYS[1], 't', 'n')
local tokens = math.min(size, (tonumber(state[2]) or size) + (now - (tonumber(state[1]) or now)) * rate)
local allowed = 0
if tokens >= 1 then tokens = tokens - 1; allowed = 1 end
redis.call('HSET', KEYS[1], 't', string.format('%.6f', now), 'n', string.format('%.6f', tokens))
redis.call('PEXPIRE', KEYS[1], math.ceil(size / rate * 1000) + 1000)
return {allowed, math.floor(tokens), math.ceil((1 - math.min(tokens, 1)) / rate * 1000)}
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """A limit: so many requests a minute, with bursts of up to `size`."""

    name: str
    per_minute: int
    size: int

    def take(self, owner: str) -> dict[str, str]:
        """Take one token; return the RateLimit headers. Raises RateLimited, with them, when none is left.

        While Redis is away every request passes and the headers are absent.
        """
        answer = breaker.call(
            lambda: client().eval(BUCKET, 1, f"rate:{self.name}:{owner}", self.per_minute / 60, self.size)
        )
        if answer is None:
            return {}
        allowed, left, wait_ms = answer
        wait = max(1, math.ceil(wait_ms / 1000))
        window = math.ceil(self.size * 60 / self.per_minute)
        headers = {
            "RateLimit-Policy": f'"{self.name}";q={self.size};w={window}',
            "RateLimit": f'"{self.name}";r={left};t={0 if left else wait}',
        }
        if not allowed:
            raise RateLimited(
                f"The {self.name} makes too many requests. Wait {wait} s.",
                {"limit": self.name, "per_minute": self.per_minute, "retry_after": wait},
                headers | {"Retry-After": str(wait)},
            )
        return headers


def limits_take(access: Access) -> dict[str, str]:
    """Count one request of this access; return the headers to answer with. Raises RateLimited."""
    headers: dict[str, str] = {}
    if settings.QUOTAS_ON:
        rule = Rule("space", settings.QUOTA_REQUESTS_PER_MINUTE, settings.QUOTA_REQUESTS_PER_MINUTE)
        headers = rule.take(str(access.space_id))
    if settings.RATE_LIMIT_ON:
        rule = Rule("key", settings.RATE_LIMIT_PER_MINUTE, settings.RATE_LIMIT_BURST)
        headers = rule.take(f"{access.actor_kind}:{access.actor_id}")
    return headers
