"""Which judgments are stale, and why. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from relgate.cache.keys import text_hash
from relgate.eval.lists.types import JudgmentList, Provenance, Source
from relgate.rubrics.errors import UsageError

__all__ = ["Check", "Present", "RowState", "Staleness", "State", "find_stale", "oldest_time"]

_HASH = re.compile(r"[0-9a-f]{64}")
_MAX_DAYS = 100_000
_CLOCKS_DIFFER = timedelta(days=1)  # a date without a zone may lie this far ahead of ours


class Check(StrEnum):
    """What can make a judgment stale. Rubric and judge are checked for a judge's grades alone."""

    GONE = "document-gone"
    TEXT = "text-changed"
    RUBRIC = "rubric-changed"
    JUDGE = "judge-changed"
    AGE = "too-old"


class State(StrEnum):
    """What is known of a judgment.

    `unknown`: nothing speaks against it, and at least one check lacks what it needs. It is not
    fresh.
    """

    FRESH = "fresh"
    STALE = "stale"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Present:
    """The judge as it is now.

    Attributes:
        version: its rubric, `<tag>@<hash>`.
        fingerprint: what else shapes its answers.
    """

    version: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class RowState:
    """What the checks say of one judgment.

    Attributes:
        why: the checks that call it stale; `Check.GONE` stands alone.
        unknown: the checks that lack what they need.
    """

    why: tuple[Check, ...] = ()
    unknown: tuple[Check, ...] = ()

    @property
    def state(self) -> State:
        """Gone before stale before unknown before fresh."""
        if Check.GONE in self.why:
            return State.GONE
        if self.why:
            return State.STALE
        return State.UNKNOWN if self.unknown else State.FRESH


@dataclass(frozen=True, slots=True, eq=False)
class Staleness:
    """What the checks say of a list.

    Attributes:
        rows: one a judgment, in the list's order.
        by_judge: whether a judge made it; shape (rows,).
    """

    rows: tuple[RowState, ...]
    by_judge: NDArray[np.bool_]

    def where(self, state: State, *, by_judge: bool | None = None) -> NDArray[np.bool_]:
        """The judgments of one state, of all sources or of one kind; shape (rows,)."""
        found = np.fromiter((row.state is state for row in self.rows), np.bool_, len(self.rows))
        return found if by_judge is None else found & (self.by_judge == by_judge)

    def count(self, state: State, *, by_judge: bool | None = None) -> int:
        """How many judgments are in that state."""
        return int(self.where(state, by_judge=by_judge).sum())

    def reasons(self, *, by_judge: bool) -> dict[Check, int]:
        """How many judgments each check calls stale; one may be called so by several."""
        return self._tally([row.why for row in self.rows], by_judge=by_judge)

    def unknowns(self, *, by_judge: bool) -> dict[Check, int]:
        """How many judgments each check cannot speak of, stale ones by another check included."""
        return self._tally([row.unknown for row in self.rows], by_judge=by_judge)

    def _tally(self, said: Sequence[tuple[Check, ...]], *, by_judge: bool) -> dict[Check, int]:
        mine: list[bool] = (self.by_judge == by_judge).tolist()
        counts = Counter(
            check for checks, own in zip(said, mine, strict=True) if own for check in checks
        )
        return {check: counts[check] for check in Check if counts[check]}


def oldest_time(now: datetime, max_age_days: float | None) -> datetime | None:
    """What is from before is too old; None without a limit.

    Raises:
        UsageError: an age that is not from 0 to 100,000 days.
    """
    if max_age_days is None:
        return None
    if not 0 <= max_age_days <= _MAX_DAYS:
        raise UsageError(
            f"the greatest age is {max_age_days} days; it must be from 0 to {_MAX_DAYS}"
        )
    return now - timedelta(days=max_age_days)


def find_stale(
    judgments: JudgmentList,
    text_of: Callable[[str], str | None],
    *,
    present: Present | None,
    now: datetime,
    max_age_days: float | None = None,
) -> Staleness:
    """Checks every judgment of a list.

    A text is another when its hash is; a judgment that brings no SHA-256 of the text that was
    judged is unknown. A time without a zone is taken as UTC; a time that cannot be read, or that
    lies ahead by more than a day, is unknown.

    Args:
        judgments: the list.
        text_of: document id -> its text now; the empty text when nothing of it can be shown, None
            when the catalogue lacks it.
        present: the judge that would grade anew; None leaves rubric and judge unknown.
        now: the time, with its zone.
        max_age_days: older judgments are stale; None checks no age.

    Raises:
        UsageError: as `oldest_time`.
    """
    oldest = oldest_time(now, max_age_days)
    origins = [_origin_state(origin, present, now, oldest) for origin in judgments.origins]
    texts = _Texts(text_of)
    hashes = judgments.text_hash or (None,) * len(judgments)
    shared: dict[RowState, RowState] = {}
    rows: list[RowState] = []
    index: list[int] = judgments.origin.tolist()
    for doc_id, then, origin in zip(judgments.doc_id, hashes, index, strict=True):
        state = texts.joined(doc_id, then, origins[origin])
        rows.append(shared.setdefault(state, state))
    by_judge = np.array([o.source is Source.JUDGE for o in judgments.origins], np.bool_)
    return Staleness(tuple(rows), by_judge[judgments.origin])


class _Texts:
    """The catalogue's texts as hashes, each made once."""

    def __init__(self, text_of: Callable[[str], str | None]) -> None:
        self._text_of = text_of
        self._hashes: dict[str, str | None] = {}

    def joined(self, doc_id: str, then: str | None, rest: RowState) -> RowState:
        """The state of one judgment: its document's, then that of its provenance."""
        if doc_id not in self._hashes:
            text = self._text_of(doc_id)
            self._hashes[doc_id] = None if text is None else text_hash(text)
        now = self._hashes[doc_id]
        if now is None:
            return RowState(why=(Check.GONE,))
        if then is None or not _HASH.fullmatch(then):
            return RowState(rest.why, (Check.TEXT, *rest.unknown))
        return rest if then == now else RowState((Check.TEXT, *rest.why), rest.unknown)


def _origin_state(
    origin: Provenance, present: Present | None, now: datetime, oldest: datetime | None
) -> RowState:
    """What the provenance alone says; many rows share one."""
    why: list[Check] = []
    unknown: list[Check] = []
    if origin.source is Source.JUDGE:
        for check, then, today in (
            (Check.RUBRIC, origin.judge_version, present and present.version),
            (Check.JUDGE, origin.fingerprint, present and present.fingerprint),
        ):
            if not then or not today:
                unknown.append(check)
            elif then != today:
                why.append(check)
    if oldest is not None:
        judged_at = _time(origin.judged_at)
        if judged_at is None or judged_at > now + _CLOCKS_DIFFER:
            unknown.append(Check.AGE)
        elif judged_at < oldest:
            why.append(Check.AGE)
    return RowState(tuple(why), tuple(unknown))


def _time(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
