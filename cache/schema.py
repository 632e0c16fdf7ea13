"""What a cache file may contain besides rows: diskcache's own schema and settings, no more. Pure.

SQLite runs what a file's schema says (triggers on writes, views on reads), so a file is compared
with this list before it is used. The list is that of diskcache 5.6.3, unchanged since its
version 4; a test compares it with a fresh cache of the installed library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

__all__ = [
    "EXPECTED_SCHEMA",
    "FILE_FORMAT",
    "SETTINGS",
    "SchemaRow",
    "schema_fault",
    "settings_fault",
    "version_fault",
]

FILE_FORMAT: Final = 1
"""Kept in SQLite's `user_version`. A greater number is a newer relgate's file; 0 is unmarked."""

SchemaRow = tuple[object, object, object, object]
"""A row of `sqlite_master`: type, name, tbl_name, sql."""


_COUNT: Final = 'UPDATE Settings SET value = value {} WHERE key = "{}"'

_SQL: Final[Mapping[tuple[str, str], str]] = {
    ("table", "Settings"): "CREATE TABLE Settings ( key TEXT NOT NULL UNIQUE, value)",
    ("table", "Cache"): (
        "CREATE TABLE Cache ( rowid INTEGER PRIMARY KEY, key BLOB, raw INTEGER, store_time REAL,"
        " expire_time REAL, access_time REAL, access_count INTEGER DEFAULT 0, tag BLOB,"
        " size INTEGER DEFAULT 0, mode INTEGER DEFAULT 0, filename TEXT, value BLOB)"
    ),
    ("index", "Cache_key_raw"): "CREATE UNIQUE INDEX Cache_key_raw ON Cache(key, raw)",
    ("index", "Cache_expire_time"): "CREATE INDEX Cache_expire_time ON Cache (expire_time)",
} | {
    ("trigger", f"Settings_{setting}_{event}"): (
        f"CREATE TRIGGER Settings_{setting}_{event} AFTER {event.upper()} ON Cache"
        f" FOR EACH ROW BEGIN {_COUNT.format(change, setting)}; END"
    )
    for setting, event, change in (
        ("count", "insert", "+ 1"),
        ("count", "delete", "- 1"),
        ("size", "insert", "+ NEW.size"),
        ("size", "update", "+ NEW.size - OLD.size"),
        ("size", "delete", "- OLD.size"),
    )
}

EXPECTED_SCHEMA: Final[frozenset[SchemaRow]] = frozenset(
    {
        (kind, name, "Settings" if name == "Settings" else "Cache", sql)
        for (kind, name), sql in _SQL.items()
    }
    | {("index", "sqlite_autoindex_Settings_1", "Settings", None)}
)

SETTINGS: Final[Mapping[str, int | str]] = {
    "eviction_policy": "none",  # a grade that was paid for is never culled
    "cull_limit": 0,
    "size_limit": 2**62,
    "statistics": 0,
    "tag_index": 0,
    "sqlite_auto_vacuum": 1,
    "sqlite_cache_size": 2**13,
    "sqlite_journal_mode": "wal",
    "sqlite_mmap_size": 0,  # a file cut short under a mapping would kill the process
    "sqlite_synchronous": 1,
}
"""What diskcache is opened with."""

_NUMBERS: Final = frozenset(
    {"count", "size", "hits", "misses", "disk_min_file_size", "disk_pickle_protocol"}
    | {name for name, value in SETTINGS.items() if isinstance(value, int)}
)
_WORDS: Final = {name: value for name, value in SETTINGS.items() if isinstance(value, str)}


def schema_fault(rows: Iterable[SchemaRow]) -> str | None:
    """What in `sqlite_master` is foreign, or None.

    A part of the expected schema passes: a start that was killed left it, diskcache completes it.
    """
    for row in rows:
        if row not in EXPECTED_SCHEMA:
            return f"it has a {row[0]} {row[1]!r} that does not belong there"
    return None


def settings_fault(rows: Iterable[tuple[object, object]]) -> str | None:
    """What in the Settings table is foreign, or None.

    diskcache turns these rows into PRAGMA statements and attributes before it looks at its own
    arguments, so only known names with plain values pass.
    """
    for name, value in rows:
        number = name in _NUMBERS and type(value) is int
        word = name in _WORDS and _WORDS[str(name)] == value
        if not (number or word):
            return f"its setting {name!r} does not belong there"
    return None


def version_fault(user_version: int) -> str | None:
    """Why a file of this `user_version` is not ours to touch, or None."""
    if user_version in (0, FILE_FORMAT):
        return None
    return f"it has format {user_version}, and this relgate knows format {FILE_FORMAT}"
