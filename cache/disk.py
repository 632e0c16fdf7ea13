# pyright: basic
"""The store on disk: diskcache, opened so that it cannot hurt. I/O.

The only module that imports diskcache. The library unpickles rows and follows file names found in
its database (CVE-2025-69872); the `Disk` below does neither, on values or keys, read or written.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import diskcache
from diskcache.core import MODE_RAW, UNKNOWN

from relgate.cache.base import StoreStats
from relgate.cache.claims import LocalClaims, is_free, is_gone
from relgate.cache.disk_claims import claim, release
from relgate.cache.guard import FILE_NAME, State, inspect, locked, set_aside
from relgate.cache.reader import Reader
from relgate.cache.schema import FILE_FORMAT, SETTINGS
from relgate.rubrics.errors import CacheUnavailableError

__all__ = ["LOCK_NAME", "DiskStore", "TextDisk"]

LOCK_NAME: Final = "cache.lock"
"""The file whose lock a process holds while it opens the cache."""

_BUSY_S: Final = 60
_ROOM_PER_BYTE: Final = 3  # a new row passes through the log, then the table, then two indexes
_ROOM_BYTES: Final = 128 * 1024  # the log's index and some pages

# One statement for all rows: `Cache.set` costs a look-up, a clean-up and some Python for each.
# A row that was there becomes as if it were new, whatever it was.
_PUT: Final = """
INSERT INTO Cache (key, raw, store_time, access_time, mode, value) VALUES (?, 1, ?, ?, ?, ?)
ON CONFLICT (key, raw) DO UPDATE SET store_time = excluded.store_time, expire_time = NULL,
access_time = excluded.access_time, access_count = 0, tag = NULL, size = 0, mode = excluded.mode,
filename = NULL, value = excluded.value
"""

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class TextDisk(diskcache.Disk):  # type: ignore[misc] # diskcache has no types
    """Text keys and text values in the row itself; every other row is an error, not code."""

    def put(self, key: object) -> tuple[str, bool]:
        """A key on its way in."""
        if type(key) is not str:
            raise TypeError("cache keys are text")
        return key, True

    def get(self, key: object, raw: object) -> str:
        """A key on its way out."""
        if not raw or type(key) is not str:
            raise ValueError("a cache row with a foreign key type")
        return key

    def store(
        self,
        value: object,
        read: bool,  # noqa: FBT001 - diskcache calls it so
        key: object = UNKNOWN,  # noqa: ARG002 - diskcache calls it so
    ) -> tuple[int, int, None, str]:
        """A value on its way in: into the row, whatever its length."""
        if read or type(value) is not str:
            raise TypeError("cache values are text")
        return 0, MODE_RAW, None, value

    def fetch(
        self,
        mode: object,
        filename: object,
        value: object,
        read: bool,  # noqa: FBT001 - diskcache calls it so
    ) -> str:
        """A value on its way out."""
        if mode != MODE_RAW or filename is not None or read or type(value) is not str:
            raise ValueError("a cache row with a foreign value type")
        return value

    def remove(self, file_path: object) -> None:
        """Rows own no files: a file name planted in a row deletes nothing."""


class DiskStore:
    """A `Store` in a directory; get one with `relgate.cache.open_store`.

    All writing happens in one thread (SQLite gains nothing from more), all reading over one
    read-only connection.

    Args:
        directory: an existing directory.
        required: whether a grade that cannot be stored must stop the run.
        read_only: write nothing, not even a lock file.

    Raises:
        CacheUnavailableError: see `open_store`.
    """

    def __init__(self, directory: Path, *, required: bool = False, read_only: bool = False) -> None:
        self.required = required
        self._path = directory / FILE_NAME
        self._written = 0
        self._kept: dict[str, str] = {}
        self._local = LocalClaims()
        self._cache: Any = None
        self._writer: ThreadPoolExecutor | None = None
        if read_only:
            state = inspect(self._path, frozen=True)
            if state.state is not State.SOUND:
                raise CacheUnavailableError(
                    f"{self._path}: {state.reason or 'missing'}, in a place that is read-only"
                )
            self._reader = self._read(frozen=True)
        else:
            self._writer = ThreadPoolExecutor(1, thread_name_prefix="relgate-cache")
            try:
                with locked(directory / LOCK_NAME):
                    self._mend()
                    self._in_writer(self._open)
                    self._reader = self._read(frozen=False)
            except BaseException:
                self._close_writer()
                raise

    def _mend(self) -> None:
        found = inspect(self._path)
        if found.state is State.DAMAGED:
            aside = set_aside(self._path)
            _log.warning(
                "cache %s: damaged (%s): kept as %s, a fresh one started",
                self._path,
                found.reason,
                aside.name,
            )

    def _open(self) -> None:
        folder = str(self._path.parent.absolute())
        if os.path.expandvars(folder) != folder:  # diskcache would open another directory
            raise CacheUnavailableError(f"{folder}: has a $ in its name; name another directory")
        self._cache = diskcache.Cache(folder, timeout=_BUSY_S, disk=TextDisk, **SETTINGS)
        self._cache._sql(f"PRAGMA user_version = {FILE_FORMAT}")  # noqa: SLF001 - no public way

    def _read(self, *, frozen: bool) -> Reader:
        try:
            return Reader(self._path, frozen=frozen)
        except sqlite3.Error as error:
            raise CacheUnavailableError(f"{self._path}: cannot be read ({error})") from error

    def _in_writer(self, work: Callable[[], _T], *, size: int = 0) -> _T:
        """The result of `work` done in the writing thread; `size` bytes are to be stored."""
        if self._writer is None:
            raise CacheUnavailableError(f"{self._path}: is closed")
        try:
            return self._writer.submit(work).result()
        except (sqlite3.Error, diskcache.Timeout, OSError) as error:
            raise self._unavailable(error, size) from error

    def _unavailable(self, error: BaseException, size: int) -> CacheUnavailableError:
        cause = error.__context__ if isinstance(error, diskcache.Timeout) else error
        what = str(cause)
        code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
        free = shutil.disk_usage(self._path.parent).free
        need = _ROOM_BYTES + _ROOM_PER_BYTE * size
        # SQLite says "I/O error" where the log's index finds no room
        if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and free < need):
            what = f"the disk is full: {free} bytes free, about {need} needed; make room, run again"
        return CacheUnavailableError(f"{self._path}: {what}")

    def get_many(self, keys: Iterable[str]) -> dict[str, str]:
        """The values of those `keys` that are stored; a bad row is a miss."""
        if not self._kept:
            return self._reader.get_many(keys)
        wanted = set(keys)
        return self._reader.get_many(wanted) | {
            key: self._kept[key] for key in wanted & self._kept.keys()
        }

    def put_many(self, items: Mapping[str, str], *, owner: str | None = None) -> int:
        """Store `items` in one transaction; how many were stored, none if read-only.

        The claims of `owner` on them end in the same transaction.

        Raises:
            CacheUnavailableError: none of them could be stored.
        """
        if self._cache is None:  # read-only: kept for this run alone
            self._kept.update(items)
            if owner is not None:
                self._local.release_many(items, owner=owner)
            return 0
        if not items:
            return 0
        size = sum(len(key) + len(value) for key, value in items.items())
        self._in_writer(lambda: self._put(items, owner), size=size)
        self._written += len(items)
        return len(items)

    def _put(self, items: Mapping[str, str], owner: str | None) -> None:
        now, disk = time.time(), self._cache.disk
        rows = [
            (disk.put(key)[0], now, now, MODE_RAW, disk.store(value, read=False)[3])
            for key, value in items.items()
        ]
        with self._transaction():
            self._cache._con.executemany(_PUT, rows)  # noqa: SLF001 - no public way
            if owner is not None:
                release(self._cache, items, owner=owner)

    @contextlib.contextmanager
    def _transaction(self) -> Generator[None]:
        try:
            with self._cache.transact():
                yield
        except BaseException:
            # a failed COMMIT leaves the transaction open: a new connection starts clean
            with contextlib.suppress(sqlite3.Error):
                self._cache.close()
            raise

    def delete_many(self, keys: Iterable[str]) -> int:
        """Forget the rows under `keys` in one transaction; how many there were.

        Raises:
            CacheUnavailableError: read-only, or none of them could be deleted.
        """
        if self._cache is None:
            raise CacheUnavailableError(f"{self._path}: is read-only")
        return self._in_writer(lambda: self._delete(list(keys)))

    def _delete(self, keys: list[str]) -> int:
        with self._transaction():
            return sum(self._cache.delete(key) for key in keys)

    def scan(self) -> Iterator[tuple[str, str] | None]:
        """Every row in turn, without claims; None for one that is not handed out.

        Raises:
            CacheUnavailableError: the file is damaged.
        """
        try:
            yield from self._reader.scan()
        except sqlite3.Error as error:
            raise CacheUnavailableError(f"{self._path}: cannot be read ({error})") from error

    def claim_many(self, keys: Iterable[str], *, owner: str, seconds: float) -> set[str]:
        """Claim `keys` for `owner`; those that are now its own.

        Nothing is written while all of them are held by others, so that waiting blocks nobody.

        Raises:
            CacheUnavailableError: claims cannot be written.
        """
        wanted = set(keys)
        if self._cache is None:
            return self._local.claim_many(wanted, owner=owner, seconds=seconds)
        held, now, gone = self._reader.claims(wanted), time.time(), cache(is_gone)
        free = [
            key
            for key in sorted(wanted)
            if key not in held or is_free(*held[key], owner=owner, now=now, gone=gone)
        ]
        if not free:
            return set()
        size = len(free) * (len(owner) + len(free[0]))
        return self._in_writer(lambda: self._claim(free, owner, seconds), size=size)

    def _claim(self, keys: list[str], owner: str, seconds: float) -> set[str]:
        with self._transaction():
            return claim(self._cache, keys, owner=owner, seconds=seconds)

    def release_many(self, keys: Iterable[str], *, owner: str) -> None:
        """End the claims of `owner` on `keys`.

        Raises:
            CacheUnavailableError: they cannot be ended.
        """
        wanted = list(keys)
        if self._cache is None:
            self._local.release_many(wanted, owner=owner)
        elif wanted:
            self._in_writer(lambda: self._release(wanted, owner))

    def _release(self, keys: Iterable[str], owner: str) -> None:
        with self._transaction():
            release(self._cache, keys, owner=owner)

    def stats(self) -> StoreStats:
        """What was read and written so far."""
        return StoreStats(
            place=str(self._path),
            writable=self._cache is not None,
            found=self._reader.found,
            refused=self._reader.refused,
            written=self._written,
        )

    def close(self) -> None:
        """Close files and connections. May be called twice."""
        self._reader.close()
        self._close_writer()

    def _close_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            if self._cache is not None:
                writer.submit(self._cache.close).result()
            writer.shutdown()
