"""What the AI work of each space costs: tokens as the provider counts them, money by a price list."""

from decimal import Decimal

from django.conf import settings
from django.db import connection

from accounts.access import Access, space_transaction
from aiworker.providers.base import Usage

# US dollars for a million tokens, in and out; the longest name that a model's begins with counts.
PRICES: dict[str, tuple[str, str]] = {
    "claude-haiku-4-5": ("1", "5"),
    "claude-sonnet-4-6": ("3", "15"),
    "claude-opus-4-6": ("5", "25"),
    "gpt-4o-mini": ("0.15", "0.60"),
    "gpt-4o": ("2.50", "10"),
    "gpt-4.1-nano": ("0.10", "0.40"),
    "gpt-4.1-mini": ("0.40", "1.60"),
    "gpt-4.1": ("2", "8"),
    "gpt-5-nano": ("0.05", "0.40"),
    "gpt-5-mini": ("0.25", "2"),
}
ADD = """
INSERT INTO aiworker_aiusage AS total
  (space_id, day, provider, model, purpose, calls, input_tokens, output_tokens, cost_micros)
VALUES (%s, (now() AT TIME ZONE 'UTC')::date, %s, %s, %s, 1, %s, %s, %s)
ON CONFLICT (space_id, day, provider, model, purpose) DO UPDATE SET
  calls = total.calls + 1, input_tokens = total.input_tokens + excluded.input_tokens,
  output_tokens = total.output_tokens + excluded.output_tokens,
  cost_micros = total.cost_micros + excluded.cost_micros
"""
BYTES_PER_TOKEN = 4  # about right in every script: a character of a denser one has more bytes and more tokens


def _prices(model: str) -> tuple[Decimal, Decimal] | None:
    if settings.AI_PRICES:
        price_in, price_out = settings.AI_PRICES
        return Decimal(price_in), Decimal(price_out)
    name = max((name for name in PRICES if model.startswith(name)), key=len, default=None)
    return (Decimal(PRICES[name][0]), Decimal(PRICES[name][1])) if name else None


def cost_micros(model: str, usage: Usage) -> int | None:
    """Return the price of these tokens in millionths of a US dollar, None when the model's price is not known."""
    prices = _prices(model)
    if prices is None:
        return None
    # A price for a million tokens in dollars is the price of one token in millionths of a dollar.
    return round(prices[0] * usage.input_tokens + prices[1] * usage.output_tokens)


def cost_present(micros: int | None) -> float | None:
    """Return millionths of a US dollar as dollars."""
    return None if micros is None else micros / 1_000_000


def usage_add(*, access: Access, provider: str, model: str, purpose: str, usage: Usage) -> None:
    """Add the tokens of one provider call to the space's account, in a transaction of its own."""
    who = (access.space_id, provider, model[:100], purpose)
    tokens = (usage.input_tokens, usage.output_tokens, cost_micros(model, usage))
    with space_transaction(access), connection.cursor() as cursor:
        cursor.execute(ADD, [*who, *tokens])
