"""What a store of grades is, and the one in memory. Pure.

A store maps text keys to text values, and knows who is about to pay for a key (`claims`). It knows
no grade: `relgate.cache.rows` says what a value must be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from relgate.cache.claims import LocalClaims

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

    def put_many(self, items: Mapping[str, str], *, owner: str | None = None) -> int:
        """Store `items`, all or none, replacing what was there; how many were stored.

        Once it returns, they outlive the process (a store that cannot write returns 0), and the
        claims of `owner` on them have ended.

        Raises:
            CacheUnavailableError: they could not be stored.
        """
        ...

    def delete_many(self, keys: Iterable[str]) -> int:
        """Forget the rows under `keys`; how many there were.

        Raises:
            CacheUnavailableError: they could not be deleted.
        """
        ...

    def scan(self) -> Iterator[tuple[str, str] | None]:
        """Every row in turn, without claims; None for one that is never handed out.

        Memory does not grow with the store.

        Raises:
            CacheUnavailableError: the store cannot be read to its end.
        """
        ...

    def claim_many(self, keys: Iterable[str], *, owner: str, seconds: float) -> set[str]:
        """Claim `keys` for `owner`, for `seconds` from now; those that are now its own.

        Its own claims are renewed. A key that another one holds is left out, unless that claim
        has expired or its owner is gone.

        Raises:
            CacheUnavailableError: claims cannot be kept.
        """
        ...

    def release_many(self, keys: Iterable[str], *, owner: str) -> None:
        """End the claims of `owner` on `keys`, and nobody else's.

        Raises:
            CacheUnavailableError: the claims cannot be ended; they will expire.
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
        self._claims = LocalClaims()

    def get_many(self, keys: Iterable[str]) -> dict[str, str]:
        """The values of those `keys` that are stored."""
        found = {key: self._rows[key] for key in keys if key in self._rows}
        self._found += len(found)
        return found

    def put_many(self, items: Mapping[str, str], *, owner: str | None = None) -> int:
        """Keep `items` until the process ends; 0, because they do not outlive it."""
        self._rows.update(items)
        if owner is not None:
            self.release_many(items, owner=owner)
        return 0

    def delete_many(self, keys: Iterable[str]) -> int:
        """Forget the rows under `keys`; how many there were."""
        return sum(self._rows.pop(key, None) is not None for key in keys)

    def scan(self) -> Iterator[tuple[str, str] | None]:
        """Every row in turn."""
        yield from self._rows.items()

    def claim_many(self, keys: Iterable[str], *, owner: str, seconds: float) -> set[str]:
        """Claim `keys` among the tasks of this process."""
        return self._claims.claim_many(keys, owner=owner, seconds=seconds)

    def release_many(self, keys: Iterable[str], *, owner: str) -> None:
        """End the claims of `owner` on `keys`."""
        self._claims.release_many(keys, owner=owner)

    def stats(self) -> StoreStats:
        """What was read so far."""
        return StoreStats("memory", writable=False, found=self._found, refused=0, written=0)

    def close(self) -> None:
        """Nothing to give back."""
