"""A cached judge for which old grades in the cache do not count. I/O through its store.

A judgment that is stale by age alone has the same judge and the same text as when it was made, so
its key is the same, and the cache would give the old grade back.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relgate.cache.judge import CachedJudge
from relgate.judge.types import JudgedHit

__all__ = ["RecentJudge"]


class RecentJudge(CachedJudge):
    """As the judge it is made of, but grades from before `since` count as missing.

    What is graded anew is stored in their place, so a second run finds it there.

    Args:
        cached: the judge behind its cache.
        since: the oldest time that counts, with its zone.
    """

    def __init__(self, cached: CachedJudge, *, since: datetime) -> None:
        # a judge of its own kind: the same store, the same judge inside
        super().__init__(cached._inner, cached._store, rubric=cached.rubric)  # noqa: SLF001 - see above
        self._since = since

    def _look_up(self, keys: Sequence[str], **how: bool) -> dict[str, JudgedHit]:
        found = super()._look_up(keys, **how)
        return {key: hit for key, hit in found.items() if self._is_recent(hit)}

    def _is_recent(self, hit: JudgedHit) -> bool:
        return hit.judged_at is not None and (datetime.fromisoformat(hit.judged_at) >= self._since)
