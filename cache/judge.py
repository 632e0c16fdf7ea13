"""A judge that asks the store before it asks the judge inside it. I/O through both.

Only grades are stored: a failed row is asked again next time. Each batch is stored as soon as it
comes back, so whatever ends a run, what was paid for stays. What another process or task is paying
for right now is waited for, not paid twice (see `holding`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from relgate.cache.base import Store
from relgate.cache.claims import CLAIM_S
from relgate.cache.hits import hit_of, row_of
from relgate.cache.holding import Holding
from relgate.cache.keys import grade_key
from relgate.cache.rows import StoredRow, clean_reason, decode_row, encode_row, fits
from relgate.cache.saved import Tokens, encode_saved, new_saved_key, tokens_of
from relgate.judge.around import JudgeAround
from relgate.judge.parts import PartName, shown_parts
from relgate.judge.types import Candidate, Judge, JudgedHit
from relgate.rubrics import Rubric
from relgate.rubrics.errors import CacheUnavailableError, UsageError

__all__ = ["Batch", "CachedJudge", "Got", "Pair", "with_id"]

_log = logging.getLogger(__name__)

Got = Callable[[Mapping[str, JudgedHit]], Awaitable[None]]
"""Told rows by their key."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A candidate that is to be graded for a query; `ask` says with which others."""

    query: str
    candidate: Candidate
    ask: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """What goes to the inner judge at once: candidates of one query, by their keys."""

    query: str
    candidates: Mapping[str, Candidate]


def _now() -> datetime:
    return datetime.now(UTC)


class CachedJudge(JudgeAround):
    """A `Judge` around another: same version, same fingerprint, grades paid for once.

    Args:
        inner: the judge to ask for what the store lacks. It must state a version and a
            fingerprint: without them an edited judge would get the old judge's grades.
        store: from `open_store`. The caller closes it.
        rubric: which label means which grade; by default the inner judge's own `rubric`, where it
            has one. A row that does not fit it is neither read nor stored.
        since: grades from before this instant count as missing, and are replaced by what the
            inner judge then says; None for all of them count. May be changed between calls.
        clock: the time written into rows, with its offset.
        claim_s: seconds after which another process takes over what this one, gone without a
            word, was paying for.

    Attributes:
        since: see above.
        hits: distinct pairs answered from the store, paid for earlier or by somebody else just now.
        misses: distinct pairs sent to the inner judge.
        stored: grades stored for later runs.
        unsaved: grades that came back and could not be stored.
        invalid: rows found that did not validate, and so counted as misses.
        saved: tokens that the hits had cost, as far as they record them.

    Raises:
        UsageError: the inner judge has no version or no fingerprint.
    """

    def __init__(
        self,
        inner: Judge,
        store: Store,
        *,
        rubric: Rubric | None = None,
        since: datetime | None = None,
        clock: Callable[[], datetime] = _now,
        claim_s: float = CLAIM_S,
    ) -> None:
        if not inner.version or not inner.fingerprint:
            raise UsageError("a judge without a version and a fingerprint cannot be cached")
        super().__init__(inner, rubric)
        self.hits = self.misses = self.stored = self.unsaved = self.invalid = 0
        self.saved = Tokens()
        self.since = since
        self._recorded = Tokens()
        self._store = store
        self._clock = clock
        self._claim_s = claim_s
        self._known_parts: tuple[str, Mapping[PartName, str] | None] | None = None
        self._warned: set[str] = set()
        self._counting = threading.Lock()

    @property
    def parts(self) -> Mapping[PartName, str] | None:
        """As `JudgeAround.parts`, asked for once: every row that is stored names them."""
        known = self._inner.fingerprint
        if self._known_parts is None or self._known_parts[0] != known:
            self._known_parts = (known, shown_parts(self._inner))
        return self._known_parts[1]

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """One row a candidate, in their order, from the store or from the inner judge.

        What is missing is graded in batches ordered by key, so that retrieval order reaches no
        batch; identical texts are graded once. Never raises for a failed grade.

        Raises:
            CacheUnavailableError: a grade could not be stored, and the store is required.
        """
        keys = [self._key(query, candidate.text) for candidate in candidates]
        ids = {key: candidate.id for key, candidate in zip(keys, candidates, strict=True)}
        found = await asyncio.to_thread(self._look_up, ids)

        async def got(rows: Mapping[str, JudgedHit]) -> None:
            found.update(rows)

        missing = {
            key: candidate
            for key, candidate in zip(keys, candidates, strict=True)
            if key not in found
        }
        self._served(found)
        if missing:
            await self._pay({key: Pair(query, each) for key, each in missing.items()}, got)
        return [
            with_id(found[key], candidate.id)
            for key, candidate in zip(keys, candidates, strict=True)
        ]

    async def _pay(self, wanted: Mapping[str, Pair], got: Got) -> None:
        """Tells `got` the rows of `wanted`: graded here, or by another who is at it already."""
        left = dict(wanted)

        async def look(keys: Iterable[str]) -> None:
            ids = {key: left[key].candidate.id for key in keys}
            found = await asyncio.to_thread(self._look_up, ids, again=True)
            self._served(found)
            for key in found:
                del left[key]
            await got(found)

        async with Holding(self._store, seconds=self._claim_s, tell=self._told) as held:
            while left:
                mine = await held.take(left)
                await look(mine)  # it may have been stored between the look-up and the claim
                await held.give_back(mine - left.keys())
                asked = {key: left.pop(key) for key in wanted if key in mine and key in left}
                await self._ask(asked, held, got)
                if left and not asked:
                    await held.wait()
                await look(left)

    async def _ask(self, asked: Mapping[str, Pair], held: Holding, got: Got) -> None:
        """Have the inner judge grade `asked`, batch by batch."""
        self._count(misses=len(asked))
        # every batch is awaited, also when one raises: the others are being paid for
        graded = await asyncio.gather(
            *(self._batch(batch, held, got) for batch in self._batches(asked)),
            return_exceptions=True,
        )
        for raised in graded:
            if raised is not None:
                raise raised

    def missing(self, query: str, candidates: Sequence[Candidate]) -> list[list[Candidate]]:
        """What `grade` would send to the inner judge, batch by batch; nothing is sent.

        For plans: one entry a batch, distinct texts only, in the order of their keys.
        """
        keys = [self._key(query, candidate.text) for candidate in candidates]
        asked = dict(zip(keys, candidates, strict=True))
        found = self._look_up({key: candidate.id for key, candidate in asked.items()})
        left = {key: Pair(query, each) for key, each in asked.items() if key not in found}
        return [list(batch.candidates.values()) for batch in self._batches(left)]

    def _batches(self, missing: Mapping[str, Pair]) -> list[Batch]:
        """What is missing, by ask, ordered by key: retrieval order reaches no batch."""
        by_ask: dict[int, list[str]] = {}
        for key in sorted(missing):
            by_ask.setdefault(missing[key].ask, []).append(key)
        size = max(1, self.batch_size)
        return [
            Batch(
                missing[keys[0]].query,
                {key: missing[key].candidate for key in keys[start : start + size]},
            )
            for _, keys in sorted(by_ask.items())
            for start in range(0, len(keys), size)
        ]

    def _key(self, query: str, text: str) -> str:
        # asked anew each time: a judge whose settings are changed must not get stale hits
        return grade_key(
            version=self._inner.version,
            fingerprint=self._inner.fingerprint,
            query=query,
            text=text,
        )

    def _look_up(self, ids: Mapping[str, str], *, again: bool = False) -> dict[str, JudgedHit]:
        """The grades that are there, of {key: the candidate's id}."""
        texts = self._store.get_many(ids)
        rows = {key: self._valid(decode_row(text, key=key)) for key, text in texts.items()}
        invalid = sum(row is None for row in rows.values())
        if invalid and not again:
            self._count(invalid=invalid)
            self._warn("cached rows that are damaged or do not fit the rubric are graded again")
        return {
            key: hit_of(row, ids[key])
            for key, row in rows.items()
            if row is not None and self._is_recent(row)
        }

    def _is_recent(self, row: StoredRow) -> bool:
        return self.since is None or datetime.fromisoformat(row.judged_at) >= self.since

    def _valid(self, row: StoredRow | None) -> StoredRow | None:
        if row is None or self.rubric is None:
            return row
        return row if fits(grade=row.grade, label=row.esci, rubric=self.rubric) else None

    async def _batch(self, batch: Batch, held: Holding, got: Got) -> None:
        hits = await self._inner.grade(batch.query, list(batch.candidates.values()))
        await got(await self._keep([(batch, hits)], held))

    async def _keep(
        self, graded: Sequence[tuple[Batch, list[JudgedHit]]], held: Holding
    ) -> dict[str, JudgedHit]:
        """Store what came back in one write, and give back the claims on what failed."""
        judged_at = self._clock().isoformat(timespec="seconds")
        rows: dict[str, JudgedHit] = {}
        items: dict[str, str] = {}
        for batch, hits in graded:
            by_key = _dated(batch, hits, judged_at)
            items |= self._encode(batch, by_key)
            rows |= by_key
        if items:
            await held.end(items, self._put, items, held.owner)
        await held.give_back(rows)
        return rows

    def _encode(self, batch: Batch, hits: Mapping[str, JudgedHit]) -> dict[str, str]:
        items: dict[str, str] = {}
        for key, hit in hits.items():
            if hit.graded:
                row = self._valid(
                    row_of(
                        hit,
                        judge=self._inner,
                        parts=self.parts,
                        query=batch.query,
                        candidate=batch.candidates[key],
                    )
                )
                if row is None:
                    self._count(unsaved=1)
                    self._warn("grades that do not fit the rubric are not stored")
                else:
                    items[key] = encode_row(row, key=key)
        return items

    def _put(self, items: Mapping[str, str], owner: str) -> bool:
        """Store `items`, which ends the owner's claims on them; whether that was done."""
        try:
            stored = self._store.put_many(items, owner=owner)
        except CacheUnavailableError as error:
            if self._store.required:
                raise
            self._count(unsaved=len(items))
            self._warn(f"{error}: grades are returned, but not stored", about="stored")
            return False
        self._count(stored=stored, unsaved=len(items) - stored)
        return True

    def record_saved(self) -> None:
        """Keep what was saved so far, once: for `relgate cache stats`, at the end of a run.

        Where it cannot be stored it is left: a count is no reason to stop.
        """
        saved = self.saved - self._recorded
        if not saved.grades:
            return
        key = new_saved_key()
        text = encode_saved(
            saved, version=self._inner.version, model=self._inner.model, at=self._clock(), key=key
        )
        with contextlib.suppress(CacheUnavailableError):
            self._store.put_many({key: text})
            self._recorded = self.saved

    def _served(self, found: Mapping[str, JudgedHit]) -> None:
        tokens = tokens_of(hit.usage for hit in found.values())
        with self._counting:
            self.hits += tokens.grades
            self.saved += tokens

    def _count(self, **more: int) -> None:
        with self._counting:  # batches end in threads
            for name, value in more.items():
                setattr(self, name, getattr(self, name) + value)

    def _told(self, error: CacheUnavailableError) -> None:
        """Claims cannot be kept: a reason to stop only where the store is required."""
        if self._store.required:
            raise error
        self._warn(f"{error}: another process may pay for the same grades", about="claims")

    def _warn(self, message: str, *, about: str | None = None) -> None:
        if (about or message) not in self._warned:
            self._warned.add(about or message)
            _log.warning("%s", message)


def _dated(batch: Batch, hits: Sequence[JudgedHit], judged_at: str) -> dict[str, JudgedHit]:
    """The rows by key, as they are kept."""
    if [hit.id for hit in hits] != [candidate.id for candidate in batch.candidates.values()]:
        # stored under the wrong key, such a grade would be served for ever
        raise RuntimeError("the judge did not return one row a candidate in their order")
    return {
        key: replace(
            hit, reason=clean_reason(hit.reason), judged_at=judged_at if hit.graded else None
        )
        for key, hit in zip(batch.candidates, hits, strict=True)
    }


def with_id(hit: JudgedHit, candidate_id: str) -> JudgedHit:
    """`hit` for a candidate; for another one with the same text it is another hit."""
    return hit if hit.id == candidate_id else replace(hit, id=candidate_id)
