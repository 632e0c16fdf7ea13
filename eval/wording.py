"""Numbers and lists of texts as people read them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

__all__ = ["beside", "counted", "named", "percent", "tallied"]

_NAMED_QUERIES = 5
_MOST_DECIMALS = 9


def percent(share: float) -> str:
    """A share as people read it: `4.9 %`."""
    return f"{100 * share:.1f} %"


def counted(n: int, one: str, many: str | None = None) -> str:
    """A number with its noun: `1 query`, `2,000 queries`; the plural adds an s unless given."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def named(texts: Sequence[str]) -> str:
    """The first few in quotes, and how many more."""
    shown = ", ".join(f'"{text}"' for text in texts[:_NAMED_QUERIES])
    more = len(texts) - _NAMED_QUERIES
    return f"{shown} and {more:,} more" if more > 0 else shown


def tallied(counts: Mapping[str, int]) -> str:
    """Counts by kind, in the order of the kinds: `refused 2, timeout 1`."""
    return ", ".join(f"{kind} {n}" for kind, n in sorted(counts.items()))


def beside(value: float, limit: float, decimals: int, *, sign: bool = False) -> str:
    """`value` with so many decimals, and with more where it would read as its limit.

    A p99 of 100.01 ms over a ceiling of 100 ms is no `100.0 ms`.

    Args:
        value: the figure; what is not finite is written as it is.
        limit: what it is held against, of the same sign.
        decimals: how many there are at least.
        sign: write a plus as well.
    """
    plus = "+" if sign else ""
    told_apart = isfinite(value) and abs(value - limit) > 10**-_MOST_DECIMALS
    while told_apart and decimals < _MOST_DECIMALS:
        if f"{value:.{decimals}f}" != f"{limit:.{decimals}f}":
            break
        decimals += 1
    return f"{value:{plus}.{decimals}f}"
