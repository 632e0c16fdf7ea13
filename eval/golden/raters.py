"""Where several raters graded a pair: how far they agree, query by query. Pure.

Reports say how many raters and which grades, never who.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from relgate.eval.golden.types import GoldenJudgment, GoldenQuery, GoldenSet, SetName
from relgate.rubrics.errors import UsageError

__all__ = ["Disagreement", "Escalation", "disagreements", "escalations", "to_shadow"]

HIGH_SHARE = 0.5
LEAST_PAIRS = 2


@dataclass(frozen=True, slots=True)
class Disagreement:
    """How far a query's raters disagree.

    Attributes:
        query: its id.
        text: what the shopper types.
        set: the set it is in.
        pairs: pairs that several raters graded.
        differ: those of them with more than one grade.
        high: at least `LEAST_PAIRS` pairs, and at least half of them differ: the query's figures
            are noise until the rubric is clearer.
    """

    query: str
    text: str
    set: SetName
    pairs: int
    differ: int
    high: bool

    @property
    def share(self) -> float:
        """The share of pairs that differ, 0..1."""
        return self.differ / self.pairs


@dataclass(frozen=True, slots=True)
class Escalation:
    """A pair that needs a third rater, or whose grade of record is not what most raters say.

    Attributes:
        query: the query's id.
        doc: the document's locator, else its id.
        grades: what the raters gave, in file order.
        why: `tie` (no grade has more votes than any other), or `overruled`.
    """

    query: str
    doc: str
    grades: tuple[int, ...]
    why: str


def disagreements(
    golden: GoldenSet, *, share: float = HIGH_SHARE, least_pairs: int = LEAST_PAIRS
) -> tuple[Disagreement, ...]:
    """Every query with a pair that several raters graded, worst first.

    Args:
        golden: the set.
        share: from which share of differing pairs on disagreement is high, in (0, 1].
        least_pairs: how many such pairs it takes to say so.

    Raises:
        UsageError: a share outside (0, 1].
    """
    if not 0 < share <= 1:
        raise UsageError(f"a share of {share!r}; give one above 0, at most 1")
    found = [_of(query, share, least_pairs) for query in golden.queries]
    measured = [entry for entry in found if entry is not None]
    return tuple(sorted(measured, key=lambda d: (-d.share, -d.pairs, d.query)))


def _of(query: GoldenQuery, share: float, least_pairs: int) -> Disagreement | None:
    several = [judgment for judgment in query.judgments if len(judgment.ratings) > 1]
    if not several:
        return None
    differ = sum(len({rating.grade for rating in j.ratings}) > 1 for j in several)
    high = len(several) >= least_pairs and differ / len(several) >= share
    return Disagreement(query.id, query.text, query.set, len(several), differ, high)


def escalations(golden: GoldenSet) -> tuple[Escalation, ...]:
    """The pairs for a third rater or the search owner, in file order."""
    return tuple(
        Escalation(query.id, judgment.key, tuple(r.grade for r in judgment.ratings), why)
        for query, judgment in golden.pairs()
        if (why := _why(judgment)) is not None
    )


def _why(judgment: GoldenJudgment) -> str | None:
    if not judgment.ratings:
        return None
    votes = Counter(rating.grade for rating in judgment.ratings).most_common()
    if len(votes) > 1 and votes[0][1] == votes[1][1]:
        return "tie"
    return "overruled" if votes[0][0] != judgment.grade else None


def to_shadow(golden: GoldenSet, found: tuple[Disagreement, ...], version: str) -> GoldenSet:
    """The set with its highly disputed core queries moved to shadow, under another version."""
    moved = {entry.query for entry in found if entry.high and entry.set == "core"}
    queries = tuple(
        replace(query, set="shadow") if query.id in moved else query for query in golden.queries
    )
    return golden.with_queries(queries, version)
