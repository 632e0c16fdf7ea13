"""What a cache holds, by judge, without changing it. I/O: reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from relgate.cache.contents import contents
from relgate.cache.guard import FILE_NAME
from relgate.cache.redis_store import redis_url, shown_place
from relgate.cache.rows import StoredRow
from relgate.cache.saved import SavedRecord, Tokens, decode_item, tokens_of
from relgate.cache.store import DEFAULT_DIRECTORY
from relgate.judge.types import Usage

__all__ = ["CacheStats", "JudgeModel", "cache_stats", "set_aside_files"]


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
        directory: where it is; an address without its password.
        rows: grades that can be served.
        invalid: rows that cannot: damaged, pickled, foreign, of another format.
        bytes: size on disk, its write-ahead log included; on a server, length of keys and rows.
        by_judge: grades by judge version and model with the tokens that they cost, sorted.
        saved: what runs were served from it, by the records that they left, sorted likewise.
        oldest: time of the first grade, ISO 8601, or None in an empty cache.
        newest: time of the last grade, ISO 8601, or None in an empty cache.
        set_aside: how many damaged files lie beside it.
    """

    directory: str
    rows: int
    invalid: int
    bytes: int
    by_judge: Mapping[JudgeModel, Tokens]
    saved: Mapping[JudgeModel, Tokens]
    oldest: str | None
    newest: str | None
    set_aside: int


def cache_stats(directory: str | Path = DEFAULT_DIRECTORY) -> CacheStats:
    """Count what the cache in `directory` holds; a missing cache holds nothing.

    Every row is validated as if it were to be served. Writes nothing: no directory, row or lock.

    Raises:
        CacheUnavailableError: what is there is not a cache of ours, or it is damaged.
    """
    tally = _Tally()
    with contents(directory) as rows:
        for item in rows:
            tally.add(item)
    path = None if redis_url(directory) else Path(directory) / FILE_NAME
    sides = () if path is None else (path, path.with_name(f"{path.name}-wal"))
    return CacheStats(
        directory=shown_place(directory),
        rows=sum(tokens.grades for tokens in tally.by_judge.values()),
        invalid=tally.invalid,
        bytes=tally.chars if path is None else sum(map(_size, sides)),
        by_judge=MappingProxyType(dict(sorted(tally.by_judge.items()))),
        saved=MappingProxyType(dict(sorted(tally.saved.items()))),
        oldest=tally.oldest,
        newest=tally.newest,
        set_aside=0 if path is None else len(set_aside_files(path.parent)),
    )


class _Tally:
    """Counts rows as they pass."""

    def __init__(self) -> None:
        self.by_judge: defaultdict[JudgeModel, Tokens] = defaultdict(Tokens)
        self.saved: defaultdict[JudgeModel, Tokens] = defaultdict(Tokens)
        self.invalid = 0
        self.chars = 0
        self.oldest: str | None = None
        self.newest: str | None = None

    def add(self, item: tuple[str, str] | None) -> None:
        row = None if item is None else decode_item(*item)
        self.chars += 0 if item is None else len(item[0]) + len(item[1])
        if row is None:
            self.invalid += 1
        elif isinstance(row, SavedRecord):
            self.saved[JudgeModel(row.version, row.model or "")] += row.tokens
        else:
            self._grade(row)

    def _grade(self, row: StoredRow) -> None:
        usage = Usage(row.prompt_tokens, row.completion_tokens, batch=row.batch)
        self.by_judge[JudgeModel(row.version, row.model or "")] += tokens_of([usage])
        time = datetime.fromisoformat(row.judged_at)  # as instants: offsets may differ
        if self.oldest is None or time < datetime.fromisoformat(self.oldest):
            self.oldest = row.judged_at
        if self.newest is None or time > datetime.fromisoformat(self.newest):
            self.newest = row.judged_at


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def set_aside_files(directory: Path) -> list[Path]:
    """The damaged cache files kept in `directory`, without their side files, oldest first."""
    sides = ("-wal", "-shm", "-journal")
    found = directory.glob(f"{FILE_NAME}.corrupt-*")
    return sorted(file for file in found if not file.name.endswith(sides))
