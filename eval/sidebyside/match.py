"""Which queries people compare, in which order, and which run stands on the left. Pure.

Every choice is by lot, a hash of the seed, the rater and the query: nothing on the page, and no
pattern from query to query, tells which run is which, and the same inputs give the same page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from relgate.eval.inputs import Aligned
from relgate.eval.lists.types import Query, match_key
from relgate.rubrics.errors import InputError, UsageError

__all__ = ["Match", "Matches", "Side", "left_of", "match_runs", "order_for"]

_SIDES = 2


class Side(StrEnum):
    """One of the two runs."""

    BEFORE = "before"
    AFTER = "after"

    @property
    def other(self) -> Side:
        """The run that it is compared with."""
        return Side.AFTER if self is Side.BEFORE else Side.BEFORE


@dataclass(frozen=True, slots=True)
class Match:
    """One query and what each run shows for it.

    Attributes:
        query: the query.
        before: documents, best first, at most k; empty where nothing was found.
        after: likewise.
    """

    query: Query
    before: tuple[str, ...]
    after: tuple[str, ...]

    def docs(self, side: Side) -> tuple[str, ...]:
        """What a run shows."""
        return self.before if side is Side.BEFORE else self.after


@dataclass(frozen=True, slots=True)
class Matches:
    """All that two runs give people to compare.

    Attributes:
        matches: queries whose lists differ within k and that were drawn, by lot.
        same: queries with one list on both sides: nobody is asked.
        undrawn: queries that differ and were not drawn.
        unknown: queries that a side lacks, or whose documents it does not say.
        k: depth.
        seed: of the lots.
        key: hash of all lists, k and seed: votes of one key never count for another.
    """

    matches: tuple[Match, ...]
    same: tuple[Query, ...]
    undrawn: int
    unknown: tuple[Query, ...]
    k: int
    seed: int
    key: str


def match_runs(aligned: Aligned, *, k: int, seed: int = 0, sample: int | None = None) -> Matches:
    """Pairs the lists of two runs, query by query.

    Args:
        aligned: two runs, before and after, on one axis.
        k: how many documents people see of each.
        seed: another seed is another lot.
        sample: compare so many queries that differ; None compares all.

    Raises:
        InputError: the runs share no query, or all lists within k are the same.
        UsageError: not two runs, or a sample below 1.
    """
    if len(aligned.runs) != _SIDES:
        raise UsageError(f"{len(aligned.runs)} runs cannot stand side by side; give two")
    if sample is not None and sample < 1:
        raise UsageError(f"the sample is {sample} queries; it must be 1 or more")
    found, unknown = _pairs(aligned, k)
    differ = [m for m in found if m.before != m.after]
    names = " and ".join(run.name for run in aligned.runs)
    if not found:
        raise InputError(f"{names} share no query whose documents both say", mend="give two runs")
    if not differ:
        said = f"{names} show the same {k} documents for all {len(found):,} queries"
        raise InputError(said, mend="there is nothing to compare; look deeper with --k")
    drawn = sorted(differ, key=lambda m: _lot(str(seed), "draw", match_key(m.query.id)))[:sample]
    return Matches(
        matches=tuple(drawn),
        same=tuple(m.query for m in found if m.before == m.after),
        undrawn=len(differ) - len(drawn),
        unknown=tuple(unknown),
        k=k,
        seed=seed,
        key=_key(found, k, seed),
    )


def left_of(matches: Matches, rater: str, query_id: str) -> Side:
    """The run that stands on the left for this rater and query: one of two by lot."""
    lot = _lot(str(matches.seed), "left", rater, match_key(query_id))
    return Side.BEFORE if lot[0] & 1 else Side.AFTER


def order_for(matches: Matches, rater: str) -> tuple[Match, ...]:
    """The queries in this rater's order: tired eyes then fall on other queries for each."""
    return tuple(
        sorted(
            matches.matches,
            key=lambda m: _lot(str(matches.seed), "order", rater, match_key(m.query.id)),
        )
    )


def _pairs(aligned: Aligned, k: int) -> tuple[list[Match], list[Query]]:
    found: list[Match] = []
    unknown: list[Query] = []
    places: list[list[int]] = [index.tolist() for index in aligned.axis.run_index]
    for i, query in enumerate(aligned.axis.queries):
        before, after = (
            run.docs[at[i]] if at[i] >= 0 else None
            for run, at in zip(aligned.runs, places, strict=True)
        )
        if before is not None and after is not None:
            found.append(Match(query, before[:k], after[:k]))
        elif any(at[i] >= 0 for at in places):
            unknown.append(query)
    return found, unknown


def _key(found: Iterable[Match], k: int, seed: int) -> str:
    digest = hashlib.sha256()
    for match in sorted(found, key=lambda m: match_key(m.query.id)):
        docs = (str(len(match.before)), *match.before, *match.after)
        digest.update(_lot(match_key(match.query.id), *docs))
    return _lot(digest.hexdigest(), str(k), str(seed)).hex()[:16]


def _lot(*parts: str) -> bytes:
    digest = hashlib.sha256(b"relgate side by side 1")
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8) + data)
    return digest.digest()
