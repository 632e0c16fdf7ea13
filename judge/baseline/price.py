"""Price bounds that a query states in English or German, and the price of a candidate. Pure.

A bare number after a word like "under" is taken for a price unless a unit follows, so an age
without one ("women over 50") is misread; a currency is never compared with another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["PriceBound", "find_bound", "first_amount"]

_AMOUNT = r"\d+(?:[.,']\d{3})*(?:[.,]\d{1,2})?(?![.,]?\d)"
_CURRENCY = r"(?:€|\$|£|¥|₹|euros?|eur|usd|dollars?|gbp|pounds?|chf|franken|inr|rs\.?|rupees?)"
_UPPER = (
    r"under|below|less than|cheaper than|not over|no more than|not more than|at most|up to"
    r"|max(?:imum|imal)?\.?|unter|bis(?: zu)?|weniger als|günstiger als|billiger als"
    r"|nicht über|nicht mehr als|höchstens"
)
_LOWER = r"over|above|more than|at least|starting at|from|min(?:imum|destens)?\.?|über|ab|mehr als"
_END = rf"(?:\s*(?P<currency>{_CURRENCY})(?!\w)|(?!\w))"
_ONE_SIDED = (
    rf"(?<!\w)(?P<how>(?P<upper>{_UPPER})|{_LOWER})\s*(?P<lead>{_CURRENCY})?\s*"
    rf"(?P<amount>{_AMOUNT}){_END}"
)
_TWO_SIDED = (
    rf"(?<!\w)(?P<how>between|zwischen)\s*{_CURRENCY}?\s*(?P<least>{_AMOUNT})\s*{_CURRENCY}?"
    rf"\s*(?:and|und|-)\s*(?P<lead>{_CURRENCY})?\s*(?P<amount>{_AMOUNT}){_END}"
)
# "between 20 and 50" is taken out of the query before "over 20" could be looked for.
_BOUNDS = (re.compile(_TWO_SIDED), re.compile(_ONE_SIDED))
# A number with a unit is a size, a weight or an age, not a price: "under 5 kg", "ab 3 Jahre".
_UNIT = re.compile(
    r"\s*-?(?:[\"'%°]|(?:mm|cm|m|km|in|inch(?:es)?|zoll|ft|feet|foot|mg|g|kg|oz|lbs?|ml|cl|l"
    r"|lit(?:er|re)s?|kb|mb|gb|tb|hz|khz|mhz|ghz|w|kw|watts?|v|volts?|ma|mah|mp|megapixels?"
    r"|years?|months?|yrs?|jahren?|monaten?|persons?|people|personen|pieces?|pcs|stück|stars?|sterne)(?!\w))"
)
_NAME_LIKE = frozenset({"max", "min"})
_NEEDS_CURRENCY = frozenset({"from"})
_PRICE = re.compile(rf"\d+\.\d{{4,}}|{_AMOUNT}")


@dataclass(frozen=True, slots=True)
class PriceBound:
    """The prices that a query allows, in whatever currency the catalogue has.

    Attributes:
        least: no price below this; None when the query names no lower bound.
        most: no price above this; None when the query names no upper bound.
    """

    least: float | None
    most: float | None

    def allows(self, price: float) -> bool:
        """True when `price` is within both bounds, ends included."""
        return not self.too_low(price) and not self.too_high(price)

    def too_low(self, price: float) -> bool:
        """True when `price` is below the lower bound."""
        return self.least is not None and price < self.least

    def too_high(self, price: float) -> bool:
        """True when `price` is above the upper bound."""
        return self.most is not None and price > self.most


def find_bound(folded: str, names: frozenset[str]) -> tuple[PriceBound | None, str]:
    """The price bound of a folded query, and the query without the words that state it.

    Args:
        folded: the query, case folded.
        names: words after which `max` or `min` belongs to a product's name ("air max 90").

    Returns:
        None and the query as it is when it states no bound.
    """
    least: float | None = None
    most: float | None = None
    rest = folded
    for pattern in _BOUNDS:
        for match in pattern.finditer(rest):
            if not _is_price(match, names):
                continue
            found = match.groupdict()
            if found.get("least"):
                least, most = _amount(found["least"]), _amount(found["amount"])
            elif found["upper"]:
                most = _amount(found["amount"])
            else:
                least = _amount(found["amount"])
            rest = rest.replace(match.group(), " ", 1)
    if least is None and most is None:
        return None, folded
    return PriceBound(least, most), " ".join(rest.split())


def _is_price(match: re.Match[str], names: frozenset[str]) -> bool:
    if match["lead"] or match["currency"]:
        return True
    before = match.string[: match.start()].split()
    if match["how"] in _NAME_LIKE and before and before[-1] in names:
        return False
    return match["how"] not in _NEEDS_CURRENCY and not _UNIT.match(match.string, match.end())


def first_amount(folded: str) -> float | None:
    """The first number in a price field (`EUR 1.299,00`), or None."""
    match = _PRICE.search(folded)
    return _amount(match.group()) if match else None


def _amount(text: str) -> float:
    """The number that `text` writes, in English or German style (`1,000.50`, `1.000,50`)."""
    tail = re.search(r"[.,](\d{1,2}|\d{4,})$", text)
    whole = re.sub(r"\D", "", text[: tail.start()] if tail else text)
    return float(f"{whole}.{tail.group(1) if tail else '0'}")
