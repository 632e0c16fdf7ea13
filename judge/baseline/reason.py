"""The baseline judge's reason: what it saw, in a line. Pure."""

from __future__ import annotations

from relgate.judge.baseline.features import FieldMatch, Lexicon, field_matches
from relgate.judge.baseline.text import Document, Query

__all__ = ["MAX_REASON_CHARS", "reason_for"]

MAX_REASON_CHARS = 240
_MAX_WORDS = 6


def reason_for(query: Query, document: Document, lexicon: Lexicon) -> str:
    """What speaks for and against the candidate, one printable line.

    For example: `2 of 3 query words: trail, shoes (not: red); color conflicts (red asked, blue);
    price 89.90 over 50`. It lists what the features saw, not how much each weighed.
    """
    matches = field_matches(query, document, lexicon)
    parts = [_words(query, document), *filter(None, map(_field, matches)), _price(query, document)]
    line = "; ".join(part for part in parts if part)
    printable = "".join(c if c.isprintable() else " " for c in line)
    if len(printable) <= MAX_REASON_CHARS:
        return printable
    return printable[: MAX_REASON_CHARS - 1] + "…"


def _words(query: Query, document: Document) -> str:
    if not document.sequence:
        return "the candidate has no words"
    words = dict(zip(query.stems, query.words, strict=True))
    if not words:
        return "the query has no words"
    found = [word for stem, word in words.items() if stem in document.all]
    missing = [word for stem, word in words.items() if stem not in document.all]
    head = f"{len(found)} of {len(words)} query words"
    return head + (f": {_some(found)}" if found else "") + _not(missing)


def _not(missing: list[str]) -> str:
    return f" (not: {_some(missing)})" if missing else ""


def _some(words: list[str]) -> str:
    return ", ".join(words[:_MAX_WORDS]) + (", ..." if len(words) > _MAX_WORDS else "")


def _field(match: FieldMatch) -> str:
    if match.agrees is None:
        return ""
    if match.agrees:
        return f"{match.field} agrees ({match.asked})"
    return f"{match.field} conflicts ({match.asked} asked, {_some(list(match.has))})"


def _price(query: Query, document: Document) -> str:
    bound, price = query.bound, document.price
    if bound is None:
        return ""
    if price is None:
        return "price unknown, a bound asked"
    if bound.most is not None and bound.too_high(price):
        return f"price {_money(price)} over {_money(bound.most)}"
    if bound.least is not None and bound.too_low(price):
        return f"price {_money(price)} under {_money(bound.least)}"
    return f"price {_money(price)} within the bound"


def _money(amount: float) -> str:
    return f"{amount:.2f}".removesuffix(".00")
