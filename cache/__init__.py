"""Grades that were paid for are never paid for again: a store, and a judge that asks it first.

Knows judges, knows no metric. The names below are loaded when they are first used, so that
importing this package imports neither diskcache nor pydantic.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relgate.cache.base import MemoryStore, Store, StoreStats
    from relgate.cache.judge import CachedJudge
    from relgate.cache.keys import grade_key, query_hash, text_hash
    from relgate.cache.report import CacheStats, JudgeModel, cache_stats
    from relgate.cache.store import DEFAULT_DIRECTORY, open_store

__all__ = [
    "DEFAULT_DIRECTORY",
    "CacheStats",
    "CachedJudge",
    "JudgeModel",
    "MemoryStore",
    "Store",
    "StoreStats",
    "cache_stats",
    "grade_key",
    "open_store",
    "query_hash",
    "text_hash",
]

_HOME = {
    "CacheStats": "report",
    "CachedJudge": "judge",
    "DEFAULT_DIRECTORY": "store",
    "JudgeModel": "report",
    "MemoryStore": "base",
    "Store": "base",
    "StoreStats": "base",
    "cache_stats": "report",
    "grade_key": "keys",
    "open_store": "store",
    "query_hash": "keys",
    "text_hash": "keys",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a name may be anything
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
