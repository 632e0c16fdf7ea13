"""The queries that lost most, each with its two result lists and what moved. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import log2

from relgate.eval.lists.types import Source, match_key
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.review.types import TOLERANCE, Evidence, QueryEvidence, RankedDoc

__all__ = ["Loser", "Move", "Placed", "loser_of", "losers", "top_losers", "winners"]

_SHOWN = 10


class Move(StrEnum):
    """What became of a document within the top k."""

    ENTERED = "entered"
    LEFT = "left"
    UP = "up"
    DOWN = "down"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Placed:
    """A document of either list.

    Attributes:
        doc_id: its id.
        grade: its grade; None where unrated.
        source: who gave the grade: a person, a judge, a rule; never a name.
        before: its first rank before, from 1; None where it was not within the top k.
        after: likewise after.
    """

    doc_id: str
    grade: int | None
    source: Source | None
    before: int | None
    after: int | None

    @property
    def move(self) -> Move:
        """Where it went. Beyond the top k a list is not looked at."""
        if self.before is None:
            return Move.ENTERED
        if self.after is None:
            return Move.LEFT
        if self.before == self.after:
            return Move.KEPT
        return Move.UP if self.after < self.before else Move.DOWN


@dataclass(frozen=True, slots=True)
class Loser:
    """A query that got worse.

    Attributes:
        query: its scores and marks.
        before: the top k before, best first; a repeated document stands once, at its first rank.
        after: likewise after.
        cost: the documents whose moves cost gain, the dearest first: graded documents that fell
            or left.
        weak: what stands above them now: documents that entered or rose, the least graded first,
            unrated ones before grade 0.
    """

    query: QueryEvidence
    before: tuple[Placed, ...]
    after: tuple[Placed, ...]
    cost: tuple[Placed, ...]
    weak: tuple[Placed, ...]

    @property
    def listed(self) -> bool:
        """Whether the files list documents of it, on either side."""
        return bool(self.before or self.after)

    @property
    def left(self) -> tuple[Placed, ...]:
        """The documents that were within the top k and are not."""
        return tuple(doc for doc in self.before if doc.move is Move.LEFT)


def losers(evidence: Evidence) -> list[QueryEvidence]:
    """Queries that got worse, worst first; of equal drops, in the runs' order."""
    return sorted((q for q in evidence.paired if q.delta < -TOLERANCE), key=lambda q: q.delta)


def winners(evidence: Evidence) -> list[QueryEvidence]:
    """Queries that got better, best first."""
    return sorted((q for q in evidence.paired if q.delta > TOLERANCE), key=lambda q: -q.delta)


def top_losers(evidence: Evidence, limit: int = _SHOWN) -> list[Loser]:
    """The first `limit` losers with what moved in their lists."""
    return [loser_of(query, evidence.conventions) for query in losers(evidence)[:limit]]


def loser_of(query: QueryEvidence, conventions: Conventions) -> Loser:
    """A query's two lists side by side."""
    was, now = _ranks(query.was.top), _ranks(query.now.top)
    before, after = (
        tuple(
            Placed(doc.doc_id, doc.grade, doc.source, was.get(key), now.get(key))
            for key, doc in _first(top).items()
        )
        for top in (query.was.top, query.now.top)
    )
    fallen = [doc for doc in before if doc.move in {Move.LEFT, Move.DOWN}]
    priced = sorted(((_cost(doc, conventions), doc) for doc in fallen), key=lambda pair: -pair[0])
    cost = tuple(doc for price, doc in priced if price > 0)
    return Loser(query, before, after, cost, _weak(after, cost))


def _weak(after: tuple[Placed, ...], cost: tuple[Placed, ...]) -> tuple[Placed, ...]:
    """What rose above the lowest of the fallen without being as good as the best of them."""
    lowest = max((doc.after or len(after) + 1 for doc in cost), default=len(after) + 1)
    best = max((doc.grade or 0 for doc in cost), default=None)
    risen = [
        doc
        for rank, doc in enumerate(after, start=1)
        if doc.move in {Move.ENTERED, Move.UP}
        and rank < lowest
        and (doc.grade is None or best is None or doc.grade < best)
    ]
    return tuple(sorted(risen, key=lambda doc: -1 if doc.grade is None else doc.grade))


def _first(top: tuple[RankedDoc, ...]) -> dict[str, RankedDoc]:
    found: dict[str, RankedDoc] = {}
    for doc in top:
        found.setdefault(match_key(doc.doc_id), doc)
    return found


def _ranks(top: tuple[RankedDoc, ...]) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for rank, doc in enumerate(top, start=1):
        ranks.setdefault(match_key(doc.doc_id), rank)
    return ranks


def _cost(doc: Placed, conventions: Conventions) -> float:
    """The discounted gain that its move lost: gain times the fall of 1 / log2(1 + rank)."""
    if not doc.grade:
        return 0.0
    gain = 2.0**doc.grade - 1 if conventions.gain == "exp2" else float(doc.grade)
    return gain * (_discount(doc.before) - _discount(doc.after))


def _discount(rank: int | None) -> float:
    return 0.0 if rank is None else 1 / log2(1 + rank)
