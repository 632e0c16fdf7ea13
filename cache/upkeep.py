"""Looking a cache over, and taking out of it what nobody wants any more. I/O.

Nothing here is done on the way: each function first says what it would do, and does it only when it
is told to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from relgate.cache.base import Store
from relgate.cache.contents import contents
from relgate.cache.guard import FILE_NAME
from relgate.cache.redis_store import redis_url, shown_place
from relgate.cache.report import JudgeModel, set_aside_files
from relgate.cache.rows import StoredRow
from relgate.cache.saved import SavedRecord, decode_item
from relgate.rubrics.errors import UsageError

__all__ = ["Selection", "Verified", "delete_keys", "remove_set_aside", "select", "verify_cache"]

_AT_ONCE: Final = 1_000
_MOST_NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found in a cache, row by row.

    Attributes:
        place: where it is.
        sound: grades that can be served.
        foreign: rows that are no plain text, or not readable as text.
        damaged: rows whose checksum, format or fields do not fit: misses.
        damaged_keys: the first of their keys.
    """

    place: str
    sound: int
    foreign: int
    damaged: int
    damaged_keys: tuple[str, ...]


def verify_cache(place: str | Path) -> Verified:
    """Read every row of the cache in `place` as if it were to be served.

    Raises:
        CacheUnavailableError: the cache as a whole is damaged, foreign or unreachable.
    """
    sound = foreign = 0
    damaged: list[str] = []
    count = 0
    with contents(place) as rows:
        for item in rows:
            row = None if item is None else decode_item(*item)
            if item is None:
                foreign += 1
            elif row is not None:
                sound += not isinstance(row, SavedRecord)
            else:
                count += 1
                damaged += [item[0]] if len(damaged) < _MOST_NAMED else []
    return Verified(shown_place(place), sound, foreign, count, tuple(damaged))


@dataclass(frozen=True, slots=True)
class Selection:
    """Which grades to take out: those that fit all that is given.

    Attributes:
        version: the judge's version, or its tag alone, or None for any.
        model: the model asked for, or None for any.
        before: graded before this instant, or None for any time.

    Raises:
        UsageError: nothing is given: that would be everything.
    """

    version: str | None = None
    model: str | None = None
    before: datetime | None = None

    def __post_init__(self) -> None:
        if self.version is None and self.model is None and self.before is None:
            raise UsageError("say what to prune: --version, --model or --older-than")

    def holds(self, row: StoredRow) -> bool:
        """Whether `row` is among them."""
        return (
            self.version in (None, row.version, row.version.rpartition("@")[0])
            and self.model in (None, row.model)
            and (self.before is None or datetime.fromisoformat(row.judged_at) < self.before)
        )


def select(
    rows: Iterable[tuple[str, StoredRow]], selection: Selection
) -> tuple[list[str], Mapping[JudgeModel, int]]:
    """The keys of the grades in `selection`, and how many there are by judge."""
    keys: list[str] = []
    by_judge: Counter[JudgeModel] = Counter()
    for key, row in rows:
        if selection.holds(row):
            keys.append(key)
            by_judge[JudgeModel(row.version, row.model or "")] += 1
    return keys, dict(sorted(by_judge.items()))


def delete_keys(store: Store, keys: list[str]) -> int:
    """Take the rows under `keys` out of `store`; how many there were.

    Raises:
        CacheUnavailableError: some could not be deleted.
    """
    parts = (keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE))
    return sum(store.delete_many(part) for part in parts)


def remove_set_aside(place: str | Path, *, yes: bool) -> list[Path]:
    """The damaged files that were set aside in `place`; deleted with their side files if `yes`.

    Only while the cache itself is sound: nothing is thrown away in the step that starts a fresh
    file, because what lies aside may be all there is.

    Raises:
        UsageError: `place` is a server.
        CacheUnavailableError: the cache is damaged, foreign, or not there.
    """
    if redis_url(place) is not None:
        raise UsageError("a server has no files set aside")
    folder = Path(place)
    with contents(place):  # raises for a cache that is not sound
        files = set_aside_files(folder)
    if files and not (folder / FILE_NAME).exists():
        raise UsageError(
            f"{folder} has no cache, so what was set aside may be all there is; run once, look at "
            "`relgate cache stats`, then collect"
        )
    if yes:
        for file in files:
            for side in ("-wal", "-shm", "-journal", ""):
                file.with_name(file.name + side).unlink(missing_ok=True)
    return files
