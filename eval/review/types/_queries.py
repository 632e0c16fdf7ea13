"""One query on both sides. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan

from relgate.eval.lists.types import Query, Source

__all__ = [
    "TOLERANCE",
    "QueryEvidence",
    "RankedDoc",
    "Side",
]

TOLERANCE = 1e-9
"""A delta counts as a change when it is larger than this; a drop equal to its limit passes."""


@dataclass(frozen=True, slots=True)
class RankedDoc:
    """A document in a result list, with its grade and who gave it; None where unrated."""

    doc_id: str
    grade: int | None = None
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One query on one side.

    Attributes:
        value: the primary metric; NaN where it has no value. A failed query has 0.
        error: why the engine could not answer, or None.
        absent: neither in the details nor in the failures of this side.
        listed: the file lists its documents, perhaps none.
        returned: distinct documents within k; where they are not listed, the k the file tells of.
        unrated: those of them without a grade.
        unrated_known: whether the files tell which are unrated.
        top: the documents within k, best first, repeats kept; empty where the file lists none.
        best_rank: rank of the best-graded relevant document, None when not within k.
    """

    value: float = nan
    error: str | None = None
    absent: bool = False
    listed: bool = True
    returned: int = 0
    unrated: int = 0
    unrated_known: bool = True
    top: tuple[RankedDoc, ...] = ()
    best_rank: int | None = None

    def mostly_unrated(self, limit: float) -> bool:
        """Whether more than this share (0..1) of what came back is known to be unrated."""
        return self.unrated_known and self.unrated > limit * self.returned + TOLERANCE

    @property
    def answered(self) -> bool:
        """Whether it came back with a document, as far as the file tells."""
        if self.absent or self.error is not None:
            return False
        return self.returned > 0 or not self.unrated_known


@dataclass(frozen=True, slots=True)
class QueryEvidence:
    """One query on both sides.

    Attributes:
        query: id and text.
        was: the before side.
        now: the after side.
        head: marked as a head query.
        critical: marked as critical.
        no_ideal: no judgment above grade 0, so the metric is undefined.
        unjudged: no judgment at all.
        expects_empty: it is meant to find nothing.
        strata: the groups that it is in.
    """

    query: Query
    was: Side
    now: Side
    head: bool = False
    critical: bool = False
    no_ideal: bool = False
    unjudged: bool = False
    expects_empty: bool = False
    strata: tuple[str, ...] = ()

    @property
    def before(self) -> float:
        """The primary metric before."""
        return self.was.value

    @property
    def after(self) -> float:
        """The primary metric after."""
        return self.now.value

    @property
    def delta(self) -> float:
        """After minus before; NaN where either has no value."""
        return self.after - self.before

    @property
    def paired(self) -> bool:
        """Whether it has a value on both sides."""
        return not (isnan(self.before) or isnan(self.after))
