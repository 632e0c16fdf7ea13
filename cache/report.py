"""What a cache holds, by judge, without changing it. I/O: reads."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from relgate.cache.guard import FILE_NAME, State, inspect
from relgate.cache.reader import Reader
from relgate.cache.rows import decode_row
from relgate.cache.store import DEFAULT_DIRECTORY
from relgate.rubrics.errors import CacheUnavailableError

__all__ = ["CacheStats", "JudgeModel", "cache_stats"]


@dataclass(frozen=True, slots=True, order=True)
class JudgeModel:
    """Who made a grade.

    Attributes:
        version: the judge's version, `<tag>@<hash>`.
        model: the model asked for; the empty text for a judge without one.
    """

    version: str
    model: str


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache holds.

    Attributes:
        directory: where it is.
        rows: grades that can be served.
        invalid: rows that cannot: damaged, pickled, foreign, of another format.
        bytes: size on disk, its write-ahead log included.
        by_judge: grades by judge version and model, sorted.
        oldest: time of the first grade, ISO 8601, or None in an empty cache.
        newest: time of the last grade, ISO 8601, or None in an empty cache.
        set_aside: how many damaged files lie beside it.
    """

    directory: str
    rows: int
    invalid: int
    bytes: int
    by_judge: Mapping[JudgeModel, int]
    oldest: str | None
    newest: str | None
    set_aside: int


def cache_stats(directory: str | Path = DEFAULT_DIRECTORY) -> CacheStats:
    """Count what the cache in `directory` holds; a missing cache holds nothing.

    Every row is validated as if it were to be served. Writes nothing: no directory, row or lock.

    Raises:
        CacheUnavailableError: what is there is not a cache of ours, or it is damaged.
    """
    path = Path(directory) / FILE_NAME
    by_judge: Counter[JudgeModel] = Counter()
    invalid = 0
    times: list[str] = []
    state = inspect(path, frozen=True)
    if state.state is State.DAMAGED:
        raise CacheUnavailableError(
            f"{path}: damaged ({state.reason}); the next run sets it aside and starts a fresh one"
        )
    if state.state is State.SOUND:
        try:
            with closing(Reader(path, frozen=True)) as reader:
                for item in reader.scan():
                    row = None if item is None else decode_row(item[1], key=item[0])
                    if row is None:
                        invalid += 1
                        continue
                    by_judge[JudgeModel(row.version, row.model or "")] += 1
                    times = _span([*times, row.judged_at])
        except sqlite3.Error as error:
            raise CacheUnavailableError(f"{path}: cannot be read ({error})") from error
    return CacheStats(
        directory=str(directory),
        rows=by_judge.total(),
        invalid=invalid,
        bytes=sum(_size(path.with_name(path.name + side)) for side in ("", "-wal")),
        by_judge=MappingProxyType(dict(sorted(by_judge.items()))),
        oldest=times[0] if times else None,
        newest=times[-1] if times else None,
        set_aside=_count_aside(path),
    )


def _span(times: list[str]) -> list[str]:
    """The first and the last of `times`, as instants: offsets may differ."""
    return [min(times, key=datetime.fromisoformat), max(times, key=datetime.fromisoformat)]


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _count_aside(path: Path) -> int:
    sides = ("-wal", "-shm", "-journal")
    found = path.parent.glob(f"{path.name}.corrupt-*")
    return sum(not file.name.endswith(sides) for file in found)
