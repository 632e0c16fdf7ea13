"""What a store of grades is, and the one in memory. Pure.

A store maps text keys to text values. It knows no grade: `relgate.cache.rows` says what a value
must be. A shared server can stand in by having these methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

__all__ = ["MemoryStore", "Store", "StoreStats"]


@dataclass(frozen=True, slots=True)
class StoreStats:
    """What a store did since it was opened.

    Attributes:
        place: where it keeps its rows, for people.
        writable: False when nothing can be stored there for later runs.
        found: rows handed out.
        refused: rows there that are not plain text (pickled, in a file): never handed out.
        written: rows stored.
    """

    place: str
    writable: bool
    found: int
    refused: int
    written: int


class Store(Protocol):
    """Text keys to text values, safe to call from several threads.

    Attributes:
        required: whether a grade that cannot be stored must stop the run.
    """

    required: bool

    def get_many(self, keys: Iterable[str]) -> dict[str, str]:
        """The values of those `keys` that are stored. Never raises for a bad row."""
        ...

    def put_many(self, items: Mapping[str, str]) -> int:
        """Store `items`, all or none, replacing what was there; how many were stored.

        Once it returns, they outlive the process (a store that cannot write returns 0).

        Raises:
            CacheUnavailableError: they could not be stored.
        """
        ...

    def stats(self) -> StoreStats:
        """What was read and written so far."""
        ...

    def close(self) -> None:
        """Give back files and connections. May be called twice."""
        ...


class MemoryStore:
    """A store that ends with the process, for a place where nothing can be written."""

    def __init__(self) -> None:
        self.required = False
        self._rows: dict[str, str] = {}
        self._found = 0

    def get_many(self, keys: Iterable[str]) -> dict[str, str]:
        """The values of those `keys` that are stored."""
        found = {key: self._rows[key] for key in keys if key in self._rows}
        self._found += len(found)
        return found

    def put_many(self, items: Mapping[str, str]) -> int:
        """Keep `items` until the process ends; 0, because they do not outlive it."""
        self._rows.update(items)
        return 0

    def stats(self) -> StoreStats:
        """What was read so far."""
        return StoreStats("memory", writable=False, found=self._found, refused=0, written=0)

    def close(self) -> None:
        """Nothing to give back."""
