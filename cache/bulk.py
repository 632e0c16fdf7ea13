"""A cache around a judge that takes many queries at once. I/O through both.

The store is looked up for thousands of pairs at a time, only what it lacks is sent on, and what
comes back is written as it comes: whatever ends the run loses what is under way, and no more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from relgate.cache.base import Store
from relgate.cache.holding import Holding
from relgate.cache.judge import CachedJudge, Got, Pair, with_id
from relgate.judge.types import Ask, BulkJudge, JudgedHit, Took

__all__ = ["PAIRS_AT_ONCE", "BulkCachedJudge"]

PAIRS_AT_ONCE = 50_000
"""Pairs looked up, claimed and sent together; memory grows with it, not with the list."""


class BulkCachedJudge(CachedJudge):
    """A `CachedJudge` that is a `BulkJudge` too; its inner judge must be one.

    Attributes:
        pairs_at_once: see `PAIRS_AT_ONCE`; may be changed between calls.
    """

    def __init__(self, inner: BulkJudge, store: Store, *, since: datetime | None = None) -> None:
        super().__init__(inner, store, since=since)
        self.pairs_at_once = PAIRS_AT_ONCE
        self._bulk = inner

    async def grade_many(self, asks: Iterable[Ask], took: Took) -> None:
        """Grades every ask, from the store or by the inner judge; each is told once.

        Raises:
            CacheUnavailableError: a grade could not be stored, and the store is required.
            RelgateError: what the inner judge raises.
        """
        for window in _windows(asks, self.pairs_at_once):
            await self._window(window, took)

    async def _window(self, window: Mapping[int, Ask], took: Took) -> None:
        state = _Window(
            {
                number: (ask, [self._key(ask.query, each.text) for each in ask.candidates])
                for number, ask in window.items()
            }
        )
        ids = {key: pair.candidate.id for key, pair in state.pairs.items()}
        found = await asyncio.to_thread(self._look_up, ids)
        self._served(found)

        async def got(rows: Mapping[str, JudgedHit]) -> None:
            if answered := state.answered(rows):
                await took(answered)

        await got(found)
        missing = {key: pair for key, pair in state.pairs.items() if key not in found}
        if missing:
            await self._pay(missing, got)

    async def _ask(self, asked: Mapping[str, Pair], held: Holding, got: Got) -> None:
        if not asked:
            return
        self._count(misses=len(asked))
        batches = self._batches(asked)

        async def took(graded: Sequence[tuple[int, list[JudgedHit]]]) -> None:
            await got(await self._keep([(batches[n], hits) for n, hits in graded], held))

        asks = [Ask(batch.query, tuple(batch.candidates.values())) for batch in batches]
        await self._bulk.grade_many(asks, took)


def _windows(asks: Iterable[Ask], pairs: int) -> Iterator[dict[int, Ask]]:
    """Asks by their number, as many as hold `pairs` candidates, one at least."""
    window: dict[int, Ask] = {}
    held = 0
    for number, ask in enumerate(asks):
        if window and held + len(ask.candidates) > pairs:
            yield window
            window, held = {}, 0
        window[number] = ask
        held += len(ask.candidates)
    if window:
        yield window


class _Window:
    """Asks under way, and which of them are answered.

    Args:
        asks: by number, each with its candidates' keys.

    Attributes:
        pairs: every distinct pair among them, by its key.
    """

    def __init__(self, asks: Mapping[int, tuple[Ask, list[str]]]) -> None:
        self._asks = dict(asks)
        self.pairs: dict[str, Pair] = {}
        self._rows: dict[str, JudgedHit] = {}
        self._left: dict[int, int] = {}
        self._wanted_by: dict[str, list[int]] = {}
        self._empty = [number for number, (ask, _) in asks.items() if not ask.candidates]
        for number, (ask, keys) in asks.items():
            for key, candidate in zip(keys, ask.candidates, strict=True):
                self.pairs.setdefault(key, Pair(ask.query, candidate, number))
            distinct = set(keys)
            self._left[number] = len(distinct)
            for key in distinct:
                self._wanted_by.setdefault(key, []).append(number)

    def answered(self, rows: Mapping[str, JudgedHit]) -> list[tuple[int, list[JudgedHit]]]:
        """The asks that `rows` make whole; those without a candidate are whole from the start."""
        self._rows.update(rows)
        whole, self._empty = self._empty, []
        for key in rows:
            for number in self._wanted_by.pop(key, ()):
                self._left[number] -= 1
                if not self._left[number]:
                    whole.append(number)
        return [(number, self._take(number)) for number in whole]

    def _take(self, number: int) -> list[JudgedHit]:
        ask, keys = self._asks.pop(number)
        return [
            with_id(self._rows[key], candidate.id)
            for key, candidate in zip(keys, ask.candidates, strict=True)
        ]
