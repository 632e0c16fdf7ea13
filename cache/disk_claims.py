# pyright: basic
"""Claims as rows of the cache file, apart from its grades. I/O through an open diskcache."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

from relgate.cache.claims import is_free, is_gone
from relgate.cache.reader import CLAIM_PREFIX

__all__ = ["claim", "release"]

_CHUNK: Final = 500
_RAW: Final = 1  # diskcache's MODE_RAW: the value stands in the row itself

# One statement for all rows, as for grades: diskcache's own calls cost ten times as much.
_TAKE: Final = """
INSERT INTO Cache (key, raw, store_time, expire_time, access_time, mode, value)
VALUES (?, 1, ?, ?, ?, ?, ?)
ON CONFLICT (key, raw) DO UPDATE SET store_time = excluded.store_time,
expire_time = excluded.expire_time, access_time = excluded.access_time, access_count = 0,
tag = NULL, size = 0, mode = excluded.mode, filename = NULL, value = excluded.value
"""
_HELD: Final = "SELECT key, mode, filename, value, expire_time FROM Cache WHERE raw = 1 AND key IN"
_RELEASE: Final = "DELETE FROM Cache WHERE key = ? AND raw = 1 AND value = ?"


def claim(rows: Any, keys: Iterable[str], *, owner: str, seconds: float) -> set[str]:  # noqa: ANN401 - diskcache has no types
    """Claim `keys`; those that are now the owner's. Call it inside a transaction."""
    wanted = list(keys)
    held = _held(rows, wanted)
    gone, now = cache(is_gone), time.time()
    mine = {
        key
        for key in wanted
        if key not in held or is_free(*held[key], owner=owner, now=now, gone=gone)
    }
    rows._con.executemany(  # noqa: SLF001 - no public way
        _TAKE,
        [(_slot(key), now, now + seconds, now, _RAW, owner) for key in sorted(mine)],
    )
    return mine


def release(rows: Any, keys: Iterable[str], *, owner: str) -> None:  # noqa: ANN401 - diskcache has no types
    """End the claims of `owner` on `keys`. Call it inside a transaction."""
    rows._con.executemany(_RELEASE, [(_slot(key), owner) for key in keys])  # noqa: SLF001 - no public way


def _slot(key: str) -> str:
    return f"{CLAIM_PREFIX}{key}"


def _held(rows: Any, keys: list[str]) -> dict[str, tuple[str | None, float | None]]:  # noqa: ANN401 - diskcache has no types
    """Who holds those of `keys` that are claimed, and until when; a foreign row names nobody."""
    found: dict[str, tuple[str | None, float | None]] = {}
    for start in range(0, len(keys), _CHUNK):
        slots = [_slot(key) for key in keys[start : start + _CHUNK]]
        marks = ",".join("?" * len(slots))
        sql = f"{_HELD} ({marks})"
        for slot, mode, file, holder, expires in rows._con.execute(sql, slots):  # noqa: SLF001 - no public way
            plain = mode == _RAW and file is None and isinstance(holder, str)
            found[slot.removeprefix(CLAIM_PREFIX)] = (
                holder if plain else None,
                expires if isinstance(expires, float) else None,
            )
    return found
