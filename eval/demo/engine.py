"""The embedded search engine of the example: SQLite FTS5 with query-time synonyms. I/O.

It is a real engine with the usual habits: tokens are OR-ed, BM25 ranks with column weights, and
each word that a synonym adds scores by its own rarity. That last habit is what makes a two-way
synonym file dangerous: the rare word that was added outweighs the common word that was asked for.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, cast

from relgate.rubrics.errors import InputError, PlatformError

__all__ = ["FIELD_WEIGHTS", "Engine", "Synonyms", "expand", "parse_synonyms", "tokens_of"]

Synonyms = Mapping[str, tuple[str, ...]]
"""Query word -> the words searched in its place, in the file's order."""

FIELD_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "title": 4.0,
        "brand": 2.0,
        "category": 0.5,
        "type": 2.0,
        "colors": 1.5,
        "gender": 1.0,
        "material": 1.0,
        "description": 1.0,
    }
)
"""Indexed fields of a product and their BM25 weights.

As in many a shop, not everything is searched: styles and occasions are facets only.
"""

_CREATE = (
    f"CREATE VIRTUAL TABLE product USING fts5(id UNINDEXED, {', '.join(FIELD_WEIGHTS)}, "
    "tokenize = 'porter unicode61 remove_diacritics 2')"
)
_INSERT = f"INSERT INTO product VALUES (?{', ?' * len(FIELD_WEIGHTS)})"  # noqa: S608 - as below
_SEARCH = (
    "SELECT id FROM product WHERE product MATCH ? ORDER BY "  # noqa: S608 - weights are ours
    f"bm25(product, 0, {', '.join(map(str, FIELD_WEIGHTS.values()))}), id LIMIT ?"
)
_WORD = re.compile(r"\w+")


def tokens_of(text: str) -> list[str]:
    """The lower-case words of a text, in order."""
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


def _word(cell: str, place: Mapping[str, Any]) -> str:
    words = tokens_of(cell)
    if len(words) != 1:
        raise InputError(
            f"synonym {cell.strip()!r} is not a single word",
            **place,
            mend="give one word between commas; this engine knows no multi-word synonyms",
        )
    return words[0]


def parse_synonyms(text: str, *, path: str | Path | None = None) -> Synonyms:
    """Reads a Solr-style synonym file.

    `a, b, c` works in both directions: each of the three is searched as all three. `a => b, c`
    works in one: a is searched as b and c (name a on the right to keep it). `#` starts a comment.
    A word on several lines gets the words of each.

    Args:
        text: the file's text; empty means no synonyms.
        path: the file, for error messages.

    Raises:
        InputError: an entry that is empty or not a single word, with its line.
    """
    found: dict[str, dict[str, None]] = {}
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        place = {"path": path, "line": number}
        left, arrow, right = line.partition("=>")
        sources = [_word(cell, place) for cell in left.split(",")]
        targets = [_word(cell, place) for cell in right.split(",")] if arrow else sources
        for source in sources:
            found.setdefault(source, {} if arrow else {source: None}).update(dict.fromkeys(targets))
    return {source: tuple(targets) for source, targets in found.items()}


def expand(tokens: Sequence[str], synonyms: Synonyms) -> list[str]:
    """Each word of a query and what its synonyms add, every word once, in order."""
    words = (word for token in tokens for word in synonyms.get(token, (token,)))
    return list(dict.fromkeys(words))


class Engine:
    """A full-text index over products, in memory, queried with BM25.

    Close it, or use it as a context manager.

    Args:
        products: `id` and the fields of `FIELD_WEIGHTS`; a list value is joined, an absent one
            is empty.
        any_thread: it may be used from several threads, one at a time.

    Raises:
        PlatformError: this Python's SQLite has no FTS5.
    """

    def __init__(self, products: Iterable[Mapping[str, Any]], *, any_thread: bool = False) -> None:
        self._db = sqlite3.connect(":memory:", check_same_thread=not any_thread)
        try:
            self._build(products)
        except BaseException:
            self._db.close()
            raise

    def _build(self, products: Iterable[Mapping[str, Any]]) -> None:
        try:
            self._db.execute(_CREATE)
        except sqlite3.OperationalError as error:
            if "fts5" not in str(error):
                raise
            raise PlatformError(
                "this Python's SQLite was built without the full-text index FTS5; "
                "use a Python from python.org, Debian or Ubuntu"
            ) from error
        fields = ("id", *FIELD_WEIGHTS)
        self._db.executemany(_INSERT, ([_cell(p, name) for name in fields] for p in products))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Releases the database."""
        self._db.close()

    def search(self, query: str, k: int = 20, *, synonyms: Synonyms | None = None) -> list[str]:
        """The ids of at most k products that hold a word of the query, best first.

        Equal scores are in order of id. A query without words finds nothing.
        """
        words = expand(tokens_of(query), synonyms or {})
        if not words:
            return []
        rows = self._db.execute(_SEARCH, (" OR ".join(f'"{word}"' for word in words), k))
        with closing(rows):
            return [str(row[0]) for row in rows]


def _cell(product: Mapping[str, Any], name: str) -> str:
    value = product.get(name, "")
    return " ".join(cast("list[str]", value)) if isinstance(value, list) else str(value)
