"""What is looked at before a cache file is used. I/O: reads, locks, and renames what is damaged.

Three outcomes: nothing there, sound, or damaged (to be set aside). What is not a damaged cache but
something else (a FIFO, a link, another program's database, a planted trigger) is refused.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from relgate.cache.schema import SchemaRow, schema_fault, settings_fault, version_fault
from relgate.rubrics.errors import CacheUnavailableError

__all__ = [
    "FILE_NAME",
    "Inspection",
    "State",
    "connect",
    "deadline",
    "inspect",
    "lenient_text",
    "locked",
    "refuse",
    "set_aside",
]

FILE_NAME: Final = "cache.db"
"""diskcache's name for its SQLite file."""

_log = logging.getLogger(__name__)

_SIDES: Final = ("-wal", "-shm", "-journal")
_CHECK_S: Final = 3.0  # a hostile file may not hang: under the 5 s of the reliability table
_LOCK_S: Final = 60.0
_MAX_OBJECTS: Final = 64
_MAX_VALUE_BYTES: Final = 1_000_000  # a row has a few hundred; SQLite refuses to load more
_STEPS: Final = 10_000  # virtual machine steps between two looks at the clock


class State(StrEnum):
    """What stands at the cache file's place."""

    ABSENT = "absent"
    SOUND = "sound"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class Inspection:
    """The outcome of `inspect`; `reason` says what is damaged."""

    state: State
    reason: str = ""


def refuse(path: Path, what: str) -> CacheUnavailableError:
    """The error for something that is no cache of ours and not to be touched."""
    return CacheUnavailableError(f"{path}: {what}; move it away or name another cache directory")


def connect(path: Path, *, frozen: bool, say: bool = False) -> sqlite3.Connection:
    """A read-only connection that runs nothing the file says.

    Args:
        path: the SQLite file.
        frozen: nothing may be written beside it, or nothing can be: the place is read-only.
        say: warn when rows in its write-ahead log cannot be seen from a read-only place.

    Raises:
        sqlite3.Error: it cannot be opened or is no database.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro"
    alone = f"{uri}&immutable=1"  # no side files: neither made nor read
    logged = _size(path.with_name(f"{path.name}-wal"))
    if frozen and not logged:
        return _connect(alone)
    try:
        return _connect(uri)
    except sqlite3.OperationalError:
        if not frozen:
            raise
    if say:
        _log.warning("cache %s: %d bytes of its log cannot be read here", path, logged)
    return _connect(alone)


def _connect(uri: str) -> sqlite3.Connection:
    con = sqlite3.connect(
        uri, uri=True, timeout=_LOCK_S, isolation_level=None, check_same_thread=False
    )
    try:
        con.text_factory = lenient_text
        con.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
            con.execute(f"PRAGMA {pragma}")
        con.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except BaseException:
        con.close()
        raise
    return con


def lenient_text(data: bytes) -> str:
    """Text of the file, whatever bytes it has."""
    return data.decode("utf-8", "replace")


def deadline(seconds: float) -> Callable[[], bool]:
    """A progress handler that stops a statement `seconds` from now."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def inspect(path: Path, *, frozen: bool = False) -> Inspection:
    """Look at the cache file at `path` without changing it.

    Raises:
        CacheUnavailableError: it is a directory, FIFO, link or device, another program's
            database, a newer relgate's, or has a foreign trigger, view, table or setting; or it
            cannot be read.
    """
    sizes = {side: _size(path.with_name(path.name + side)) for side in ("", *_SIDES)}
    if sizes[""] is None:
        lone = [side for side in _SIDES if sizes[side]]
        return (
            Inspection(State.DAMAGED, f"a {lone[0]} file without its database")
            if lone
            else Inspection(State.ABSENT)
        )
    if sizes[""] == 0:
        return Inspection(State.DAMAGED, "an empty file")
    if sizes["-journal"]:
        # replaying a journal may delete a file that the journal names; ours is a WAL cache
        return Inspection(State.DAMAGED, "a rollback journal lies beside it")
    return _inspect_database(path, frozen=frozen)


def _size(path: Path) -> int | None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CacheUnavailableError(f"{path}: {error.strerror}") from error
    if not stat.S_ISREG(found.st_mode):
        raise refuse(path, f"is a {_kind(found.st_mode)}, not a cache file")
    return found.st_size


def _kind(mode: int) -> str:
    for test, name in (
        (stat.S_ISDIR, "directory"),
        (stat.S_ISLNK, "symbolic link"),
        (stat.S_ISFIFO, "FIFO"),
        (stat.S_ISSOCK, "socket"),
    ):
        if test(mode):
            return name
    return "device"


def _inspect_database(path: Path, *, frozen: bool) -> Inspection:
    try:
        with closing(connect(path, frozen=frozen)) as con:
            con.set_progress_handler(deadline(_CHECK_S), _STEPS)
            fault = _fault(con)
            if fault is not None:
                raise refuse(path, fault)
            return _quick_check(con)
    except sqlite3.Error as error:
        code = error.sqlite_errorcode & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return Inspection(State.DAMAGED, str(error))
        raise CacheUnavailableError(f"{path}: cannot be read ({error})") from error


def _fault(con: sqlite3.Connection) -> str | None:
    rows: list[SchemaRow] = con.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master"
    ).fetchmany(_MAX_OBJECTS)
    (user_version,) = con.execute("PRAGMA user_version").fetchone()
    fault = version_fault(user_version) or schema_fault(rows)
    if fault is None and any(row[1] == "Settings" for row in rows):
        fault = settings_fault(
            con.execute("SELECT key, value FROM Settings").fetchmany(_MAX_OBJECTS)
        )
    return fault


def _quick_check(con: sqlite3.Connection) -> Inspection:
    try:
        (said,) = con.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        # too large to be checked at each start: every row read has a checksum of its own
        return Inspection(State.SOUND)
    return Inspection(State.SOUND) if said == "ok" else Inspection(State.DAMAGED, str(said))


def set_aside(path: Path) -> Path:
    """Rename a damaged cache file and its side files to `*.corrupt-<utc time>`; its new path.

    Nothing is deleted. The side files keep SQLite's naming, so the pair can still be read.

    Raises:
        CacheUnavailableError: it cannot be renamed.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    aside = path.with_name(f"{path.name}.corrupt-{stamp}")
    try:
        for side in (*_SIDES, ""):  # the database last: until then the next start finds it again
            source = path.with_name(path.name + side)
            if os.path.lexists(source):
                source.rename(aside.with_name(aside.name + side))
    except OSError as error:
        raise CacheUnavailableError(
            f"{path}: damaged, and cannot be set aside: {error.strerror}"
        ) from error
    return aside


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold the file lock at `path`: one process at a time looks at, mends and opens a cache.

    Raises:
        CacheUnavailableError: the lock file cannot be had within a minute, or is no plain file.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(path, flags, 0o600)
    except OSError as error:
        raise refuse(path, f"cannot be used as a lock: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise refuse(path, "is no plain file")
        _lock(handle, path)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, path: Path) -> None:
    end = time.monotonic() + _LOCK_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES) or time.monotonic() > end:
                raise CacheUnavailableError(f"{path}: no lock: {error.strerror}") from error
            time.sleep(0.02)
        else:
            return
