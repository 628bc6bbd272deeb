"""Rate limits: one token bucket for each key and one for each space, in Redis or Valkey."""

import math
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from accounts.access import Access
from api.errors import RateLimited
from config.valkey import breaker, client

# KEYS: buckets. ARGV: for each bucket tokens a second and size. A token is taken from every bucket or from none.
# Answers {which bucket is empty or 0, tokens left in the last bucket, milliseconds until the empty one has one more}.
BUCKETS = """
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
local tokens, empty, wait = {}, 0, 0
for i, key in ipairs(KEYS) do
  local rate, size = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local state = redis.call('HMGET', key, 't', 'n')
  tokens[i] = math.min(size, (tonumber(state[2]) or size) + (now - (tonumber(state[1]) or now)) * rate)
  if tokens[i] < 1 and empty == 0 then empty, wait = i, math.ceil((1 - tokens[i]) / rate * 1000) end
end
for i, key in ipairs(KEYS) do
  local rate, size = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  if empty == 0 then tokens[i] = tokens[i] - 1 end
  redis.call('HSET', key, 't', string.format('%.6f', now), 'n', string.format('%.6f', tokens[i]))
  redis.call('PEXPIRE', key, math.ceil(size / rate * 1000) + 1000)
end
return {empty, math.floor(tokens[#KEYS]), wait}
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """A limit: so many requests a minute, with bursts of up to `size`."""

    name: str
    per_minute: int
    size: int

    @property
    def window(self) -> int:
        """Return the seconds in which an empty bucket fills."""
        return math.ceil(self.size * 60 / self.per_minute)


def rules(access: Access) -> list[Rule]:
    """Return the limits that are on: the space's, as its plan says, then the key's, which the headers tell about."""
    found = []
    if settings.QUOTAS_ON:
        per_minute = access.requests_per_minute or settings.QUOTA_REQUESTS_PER_MINUTE
        found.append(Rule("space", per_minute, per_minute))
    if settings.RATE_LIMIT_ON:
        found.append(Rule("key", settings.RATE_LIMIT_PER_MINUTE, settings.RATE_LIMIT_BURST))
    return found


def limits_take(access: Access) -> dict[str, str]:
    """Count one request of this access; return the RateLimit headers to answer with.

    Raises RateLimited, with the headers, when a bucket is empty. While Redis is away every request passes.
    """
    owners = {"space": f"{access.space_id}", "key": f"{access.actor_kind}:{access.actor_id}"}
    return buckets_take([(rule, owners[rule.name]) for rule in rules(access)])


def buckets_take(limits: list[tuple[Rule, str]]) -> dict[str, str]:
    """Take a token from the bucket of each rule and owner, or from none; return the RateLimit headers of the last.

    Raises RateLimited, with the headers, when a bucket is empty. While Redis is away every request passes.
    """
    if not limits:
        return {}
    keys = [f"rate:{rule.name}:{owner}" for rule, owner in limits]
    numbers = [number for rule, _ in limits for number in (rule.per_minute / 60, rule.size)]
    answer: Any = breaker.call(lambda: client().eval(BUCKETS, len(keys), *keys, *numbers))
    if answer is None:
        return {}
    empty, left, wait_ms = answer
    rule = limits[empty - 1][0] if empty else limits[-1][0]
    wait = max(1, math.ceil(wait_ms / 1000))
    headers = {
        "RateLimit-Policy": f'"{rule.name}";q={rule.size};w={rule.window}',
        "RateLimit": f'"{rule.name}";r={0 if empty else left};t={wait if empty else 0}',
    }
    if empty:
        raise RateLimited(
            f"This {rule.name} makes too many requests. Wait {wait} s.",
            {"limit": rule.name, "per_minute": rule.per_minute, "retry_after": wait},
            headers | {"Retry-After": str(wait)},
        )
    return headers
