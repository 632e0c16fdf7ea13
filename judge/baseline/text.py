"""Text as the baseline judge reads it: words, stems, named fields. Pure.

A candidate is one line `title: ... | brand: ... | price: ...` (names in lower case, arrays joined
by `, `) or plain text, which then counts as a title. Nothing here raises, whatever the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from relgate.judge.baseline.price import PriceBound, find_bound, first_amount

__all__ = [
    "Document",
    "Phrase",
    "Query",
    "fold",
    "parse_document",
    "parse_query",
    "phrase",
    "trigrams",
]

Phrase = tuple[str, ...]
"""Stems of consecutive words, in order."""

MAX_TOKENS = 4000
"""Words read of one text; what follows is not looked at."""
_MAX_TRIGRAM_CHARS = 600

# Han and kana have no blanks between words, so each sign stands as a word of its own.
# An ending after an apostrophe is left out: the word of "men's" is "men".
_WORD = re.compile(r"([\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+)(?:'[^\W_]+)?")
_LATIN_MARKS = re.compile("[\u0300-\u036f]")
_FIELD = re.compile(r"\s*([^\W\d_A-Z][^\W_A-Z]*(?:[_ ][^\W_A-Z]+){0,2}):\s(.*)", re.DOTALL)
_VALUE_SEPARATORS = re.compile(r"[,;>/]")
_TITLE_FIELDS = ("title", "name")
_PROSE_FIELDS = frozenset({*_TITLE_FIELDS, "description"})
_NO_TITLE = frozenset({"description", "price"})


@dataclass(frozen=True, slots=True)
class Query:
    """A query taken apart.

    Attributes:
        text: the folded query without its price bound.
        words: the words as written (folded), without the price bound.
        stems: one stem a word.
        trigrams: character trigrams of `text`.
        bound: the price bound, or None.
    """

    text: str
    words: tuple[str, ...]
    stems: Phrase
    trigrams: Counter[str]
    bound: PriceBound | None


@dataclass(frozen=True, slots=True)
class Document:
    """A candidate's text taken apart.

    Attributes:
        title: stems of the title; of the other fields but the description when there is none.
        body: the stems of all fields but the description.
        all: the stems of the whole text.
        sequence: every stem in order, for phrases.
        trigrams: character trigrams of the title.
        values: for each attribute field its values, each with the text it was read from.
        price: the first number of the price field, or None.
    """

    title: Phrase
    body: frozenset[str]
    all: frozenset[str]
    sequence: Phrase
    trigrams: Counter[str]
    values: dict[str, dict[Phrase, str]]
    price: float | None


def fold(text: str) -> str:
    """`text` in NFKC, case folded, blanks collapsed, typographic apostrophes made plain."""
    folded = unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold()
    return " ".join(folded.split())


def _words(folded: str) -> list[str]:
    return _WORD.findall(folded)[:MAX_TOKENS]


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    """`word` without Latin accents and without an English or German plural or case ending."""
    bare = _LATIN_MARKS.sub("", unicodedata.normalize("NFKD", word)) or word
    if not bare.isalpha():
        return bare
    if len(bare) > 4 and bare.endswith("ies"):  # noqa: PLR2004 - what is left names the word
        bare = bare[:-3] + "y"
    elif len(bare) > 3 and bare.endswith("s") and bare[-2] not in "sui":  # noqa: PLR2004 - as above
        bare = bare[:-1]
    for ending, least in (("en", 3), ("er", 4), ("e", 3)):
        if bare.endswith(ending) and len(bare) - len(ending) >= least:
            return bare[: -len(ending)]
    return bare


def phrase(text: str) -> Phrase:
    """The stems of `text`, in order."""
    return tuple(_stem(word) for word in _words(fold(text)))


def trigrams(folded: str) -> Counter[str]:
    """How often each character trigram occurs, every word padded by a blank on both sides."""
    padded = f" {' '.join(_words(folded[:_MAX_TRIGRAM_CHARS]))} "
    return Counter(padded[i : i + 3] for i in range(len(padded) - 2))


def parse_query(text: str, *, names: frozenset[str] = frozenset()) -> Query:
    """Take a query apart; one without words gives empty parts.

    Args:
        text: the query as the shopper wrote it.
        names: words after which `max` or `min` belongs to a product's name ("air max 90").
    """
    bound, rest = find_bound(fold(text), names)
    words = _words(rest)
    return Query(rest, tuple(words), tuple(_stem(word) for word in words), trigrams(rest), bound)


def _field_name(name: str) -> str:
    """One name for one field: `Product_Type`, `colours` -> `type`, `color`."""
    short = name.removeprefix("product").strip("_ ") or name
    if short.endswith("ies"):
        return short[:-3] + "y"
    return short.replace("colour", "color").removesuffix("s")


def _fields(text: str) -> list[tuple[str, str]]:
    """`(name, value)` in order; text that starts with no field name is one title."""
    found: list[tuple[str, str]] = []
    for part in text.split(" | "):
        match = _FIELD.fullmatch(part)
        if match:
            found.append((_field_name(match[1]), match[2]))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]} | {part}")
        else:
            return [("title", text)]
    return found


def parse_document(text: str) -> Document:
    """Take a candidate's text apart; an empty text gives empty parts."""
    title, price = "", None
    values: dict[str, dict[Phrase, str]] = {}
    body: list[str] = []
    sequence: list[str] = []
    fields = _fields(text)
    for name, value in fields:
        stems = phrase(value)
        sequence.extend(stems)
        if name != "description":
            body.extend(stems)
        if name in _TITLE_FIELDS:
            title = title or value
        elif name == "price":
            price = first_amount(fold(value)) if price is None else price
        elif name not in _PROSE_FIELDS:
            split = {phrase(one): fold(one) for one in _VALUE_SEPARATORS.split(value)}
            values.setdefault(name, {}).update({k: v for k, v in split.items() if k})
    title = title or " ".join(value for name, value in fields if name not in _NO_TITLE)
    return Document(
        title=phrase(title),
        body=frozenset(body),
        all=frozenset(sequence),
        sequence=tuple(sequence),
        trigrams=trigrams(fold(title)),
        values=values,
        price=price,
    )
