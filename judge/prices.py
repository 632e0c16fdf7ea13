"""What calls cost: a dated table that a user can override. Pure.

Prices change without notice, and some depend on the length of a prompt or the region. The table
is for planning, not for accounting; an unknown model has no price, and is never taken for free.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["BATCH_SHARE", "PRICES", "PRICES_AS_OF", "Price", "cost_usd", "price_of"]

BATCH_SHARE = 0.5
"""What OpenAI and Google take for a call in a batch, as a share of the price of a single one."""

PRICES_AS_OF = "2026-11"
"""When the table was put together, from public price lists read second-hand: check before use."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a million tokens.

    Attributes:
        input: for tokens sent.
        output: for tokens that come back, thinking included.
    """

    input: float
    output: float

    def in_a_batch(self) -> Price:
        """The price of the same tokens in a provider's batch."""
        return Price(self.input * BATCH_SHARE, self.output * BATCH_SHARE)


PRICES: Mapping[str, Price] = MappingProxyType(
    {
        "gpt-4o": Price(2.50, 10.00),
        "gpt-4o-mini": Price(0.15, 0.60),
        "gpt-4.1": Price(2.00, 8.00),
        "gpt-4.1-mini": Price(0.40, 1.60),
        "gpt-4.1-nano": Price(0.10, 0.40),
        "gpt-5": Price(1.25, 10.00),
        "gpt-5-mini": Price(0.25, 2.00),
        "gpt-5-nano": Price(0.05, 0.40),
        "gpt-5.2": Price(1.75, 14.00),
        "gpt-5.4": Price(2.50, 15.00),
        "gpt-5.4-mini": Price(0.75, 4.50),
        "gpt-5.4-nano": Price(0.20, 1.25),
        "gemini-2.5-pro": Price(1.25, 10.00),
        "gemini-2.5-flash": Price(0.30, 2.50),
        "gemini-2.5-flash-lite": Price(0.10, 0.40),
        "gemini-3-flash": Price(0.50, 3.00),
        "gemini-3.1-pro": Price(2.00, 12.00),
        "gemini-3.1-flash-lite": Price(0.25, 1.50),
        "gemini-3.5-flash": Price(1.50, 9.00),
    }
)
"""By model name without dress or date."""

_DATE = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{4,8}|preview|latest)(?=-|$)")


def price_of(model: str | None, own: Mapping[str, Price] | None = None) -> Price | None:
    """The price of a model, or None when nobody knows it.

    Args:
        model: as it is asked for; a path before it and a date or `preview` after it do not count.
        own: the user's prices, which go first, by exact name.
    """
    if model is None:
        return None
    if own is not None and model in own:
        return own[model]
    bare = model.strip().casefold().rsplit("/", 1)[-1]
    return PRICES.get(bare) or PRICES.get(_DATE.sub("", bare))


def cost_usd(price: Price, *, prompt_tokens: float, completion_tokens: float) -> float:
    """US dollars for so many tokens."""
    return (prompt_tokens * price.input + completion_tokens * price.output) / 1e6
