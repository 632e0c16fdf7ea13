"""Reading rows in bulk, straight from the cache file, read-only. I/O.

Only rows that are plain text under a text key are handed out. A row that diskcache would unpickle,
or fetch from a file that the row names, is counted and left alone.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, cast

from relgate.cache.guard import connect, deadline, lenient_text

__all__ = ["CLAIM_PREFIX", "Reader"]

CLAIM_PREFIX: Final = "claim "
"""Starts the key of a claim: a row apart, no grade."""

_CHUNK: Final = 900  # below 999, SQLite's least bound on variables in a statement
_PAGES: Final = 16_384  # 64 MB at most; no mmap: a file cut short under it kills the process
_READ_S: Final = 60.0
_STEPS: Final = 100_000

_PLAIN: Final = "raw = 1 AND mode = 1 AND filename IS NULL AND typeof(value) = 'text'"
_COLUMNS: Final = f"key, CASE WHEN {_PLAIN} AND typeof(key) = 'text' THEN value END FROM Cache"
# what equals a text is text: a key that was asked for needs no look at its type
_BY_KEY: Final = f"SELECT key, CASE WHEN {_PLAIN} THEN value END FROM Cache WHERE key IN "  # noqa: S608 - constants

_log = logging.getLogger(__name__)


class Reader:
    """Rows of one cache file, over one read-only connection that threads share by turns.

    Args:
        path: the SQLite file, already inspected.
        frozen: the place is read-only.

    Raises:
        sqlite3.Error: it cannot be opened.
    """

    def __init__(self, path: Path, *, frozen: bool) -> None:
        self._path = path
        self._con = connect(path, frozen=frozen, say=True)
        self._con.text_factory = str
        self._con.execute(f"PRAGMA cache_size = {_PAGES}")
        self._turn = threading.Lock()
        self._warned = False
        self.found = 0
        self.refused = 0

    def get_many(self, keys: Iterable[str]) -> dict[str, str]:
        """The values of those `keys` that have a plain text row; what cannot be read is a miss."""
        wanted = sorted(set(keys))  # sorted: the index's pages are read in order
        found: dict[str, str | None] = {}
        with self._turn:
            for start in range(0, len(wanted), _CHUNK):
                self._chunk(wanted[start : start + _CHUNK], found)
            if None in found.values():
                plain = {key: value for key, value in found.items() if value is not None}
                self.refused += len(found) - len(plain)
                found = {**plain}
            self.found += len(found)
        return cast("dict[str, str]", found)

    def _chunk(self, keys: list[str], found: dict[str, str | None]) -> None:
        """Puts what there is under `keys` into `found`, None for a row that is not handed out."""
        marks = ",".join("?" * len(keys))
        try:
            rows = self._rows(f"{_BY_KEY}({marks})", keys)
        except sqlite3.DataError:  # one value is too large to load: it alone is the miss
            if len(keys) == 1:
                found[keys[0]] = None
                return
            middle = len(keys) // 2
            self._chunk(keys[:middle], found)
            self._chunk(keys[middle:], found)
            return
        except sqlite3.Error as error:
            self._warn(error)
            return
        before = len(found)
        found.update(rows)
        if len(found) != before + len(rows):  # a foreign row under a key that has a plain one too
            self.refused += before + len(rows) - len(found)
            found.update(row for row in rows if row[1] is not None)

    def _rows(self, sql: str, values: Sequence[object]) -> list[Any]:
        self._con.set_progress_handler(deadline(_READ_S), _STEPS)
        try:
            return self._con.execute(sql, values).fetchall()
        except sqlite3.OperationalError as error:
            if "decode" not in str(error):
                raise
            # a row that is no UTF-8: its checksum will tell; from here on the slow way for all
            self._con.text_factory = lenient_text
        return self._con.execute(sql, values).fetchall()

    def _warn(self, error: sqlite3.Error) -> None:
        if not self._warned:
            self._warned = True
            _log.warning("cache %s: rows cannot be read (%s): taken as misses", self._path, error)

    def claims(self, keys: Iterable[str]) -> dict[str, tuple[str | None, float | None]]:
        """Who holds those of `keys` that are claimed, and until when, in seconds since the epoch.

        Nothing is known of a claim that cannot be read.
        """
        slots = sorted({f"{CLAIM_PREFIX}{key}" for key in keys})
        found: dict[str, tuple[str | None, float | None]] = {}
        with self._turn:
            for start in range(0, len(slots), _CHUNK):
                for slot, holder, expires in self._claims(slots[start : start + _CHUNK]):
                    found[slot.removeprefix(CLAIM_PREFIX)] = (
                        holder,
                        expires if isinstance(expires, float) else None,
                    )
        return found

    def _claims(self, slots: list[str]) -> list[tuple[str, str | None, object]]:
        marks = ",".join("?" * len(slots))
        columns = _COLUMNS.replace(" FROM", ", expire_time FROM")
        try:
            return self._rows(f"SELECT {columns} WHERE key IN ({marks})", slots)
        except sqlite3.Error as error:
            self._warn(error)
            return []

    def scan(self) -> Iterator[tuple[str, str] | None]:
        """Every row in turn: key and text, or None for one that is not handed out; no claims.

        Memory does not grow with the cache.

        Raises:
            sqlite3.Error: the file is damaged.
        """
        last = -(2**63)
        while page := self._page(last):
            if page[-1][0] <= last:  # a damaged tree can lead in a circle
                raise sqlite3.DatabaseError("its rows are out of order")
            last = page[-1][0]
            for _, key, value in page:
                if value is None:
                    yield None
                elif not key.startswith(CLAIM_PREFIX):
                    yield key, value

    def _page(self, last: int) -> list[tuple[int, str, str | None]]:
        """The rows that follow row `last`, or only one where a value is too large to load."""
        after = "WHERE rowid > ? ORDER BY rowid LIMIT"
        with self._turn:
            try:
                return self._rows(f"SELECT rowid, {_COLUMNS} {after} {_CHUNK}", [last])
            except sqlite3.DataError:
                sql = f"SELECT rowid, {_COLUMNS} {after} 1"
            try:
                return self._rows(sql, [last])
            except sqlite3.DataError:
                return self._rows(f"SELECT rowid, '', NULL FROM Cache {after} 1", [last])  # noqa: S608 - constants

    def close(self) -> None:
        """Close the connection."""
        with self._turn:
            self._con.close()
