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
from relgate.cache.rows import StoredRow, decode_row
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
    tally = _Tally()
    state = inspect(path, frozen=True)
    if state.state is State.DAMAGED:
        raise CacheUnavailableError(
            f"{path}: damaged ({state.reason}); the next run sets it aside and starts a fresh one"
        )
    if state.state is State.SOUND:
        try:
            with closing(Reader(path, frozen=True)) as reader:
                for item in reader.scan():
                    tally.add(None if item is None else decode_row(item[1], key=item[0]))
        except sqlite3.Error as error:
            raise CacheUnavailableError(f"{path}: cannot be read ({error})") from error
    return CacheStats(
        directory=str(directory),
        rows=tally.by_judge.total(),
        invalid=tally.invalid,
        bytes=sum(_size(path.with_name(path.name + side)) for side in ("", "-wal")),
        by_judge=MappingProxyType(dict(sorted(tally.by_judge.items()))),
        oldest=tally.oldest,
        newest=tally.newest,
        set_aside=_count_aside(path),
    )


class _Tally:
    """Counts rows as they pass."""

    def __init__(self) -> None:
        self.by_judge: Counter[JudgeModel] = Counter()
        self.invalid = 0
        self.oldest: str | None = None
        self.newest: str | None = None

    def add(self, row: StoredRow | None) -> None:
        if row is None:
            self.invalid += 1
            return
        self.by_judge[JudgeModel(row.version, row.model or "")] += 1
        time = datetime.fromisoformat(row.judged_at)  # as instants: offsets may differ
        if self.oldest is None or time < datetime.fromisoformat(self.oldest):
            self.oldest = row.judged_at
        if self.newest is None or time > datetime.fromisoformat(self.newest):
            self.newest = row.judged_at


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _count_aside(path: Path) -> int:
    sides = ("-wal", "-shm", "-journal")
    found = path.parent.glob(f"{path.name}.corrupt-*")
    return sum(not file.name.endswith(sides) for file in found)
