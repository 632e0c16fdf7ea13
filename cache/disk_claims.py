# pyright: basic
"""Claims as rows of the cache file, apart from its grades. I/O through an open diskcache."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import cache
from typing import Any

from relgate.cache.claims import is_free, is_gone
from relgate.cache.reader import CLAIM_PREFIX

__all__ = ["claim", "release"]


def claim(rows: Any, keys: Iterable[str], *, owner: str, seconds: float) -> set[str]:  # noqa: ANN401 - diskcache has no types
    """Claim `keys`; those that are now the owner's. Call it inside a transaction."""
    gone = cache(is_gone)
    mine: set[str] = set()
    for key in keys:
        slot = f"{CLAIM_PREFIX}{key}"
        if _add(rows, slot, owner, seconds):
            mine.add(key)
            continue
        holder, expires = _holder(rows, slot)
        if is_free(holder, expires, owner=owner, now=time.time(), gone=gone):
            rows.set(slot, owner, expire=seconds)
            mine.add(key)
    return mine


def _add(rows: Any, slot: str, owner: str, seconds: float) -> bool:  # noqa: ANN401 - diskcache has no types
    try:
        return bool(rows.add(slot, owner, expire=seconds))
    except TypeError:  # a foreign row whose end is no number
        rows.delete(slot)
        return bool(rows.add(slot, owner, expire=seconds))


def release(rows: Any, keys: Iterable[str], *, owner: str) -> None:  # noqa: ANN401 - diskcache has no types
    """End the claims of `owner` on `keys`. Call it inside a transaction."""
    for key in keys:
        slot = f"{CLAIM_PREFIX}{key}"
        if _holder(rows, slot)[0] == owner:
            rows.delete(slot)


def _holder(rows: Any, slot: str) -> tuple[str | None, float | None]:  # noqa: ANN401 - diskcache has no types
    try:
        holder, expires = rows.get(slot, expire_time=True)
    except (TypeError, ValueError):  # a foreign row in a claim's place holds nothing
        return None, None
    return holder, expires
