"""What a scored run is: values per query with their states, and means over them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.types import Query
from relgate.eval.metrics import kernel
from relgate.eval.metrics.conventions import Conventions, Further, Metric
from relgate.rubrics.errors import UsageError

__all__ = ["Mean", "RunScores"]

_Bools = NDArray[np.bool_]
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with what it is a mean of.

    Attributes:
        name: the metric with its convention, `nDCG(gain=exp2)@10`.
        value: the mean, 0..1; NaN over no query, or when a query's value is unknown.
        n: how many queries it is over.
    """

    name: str
    value: float
    n: int

    def __str__(self) -> str:
        return f"{self.name} {self.value:.4f} (n={self.n})"


@dataclass(frozen=True, slots=True, eq=False)
class RunScores:
    """One run, scored. All arrays have one entry a query of the axis, shape (nq,).

    A query is in exactly one of four states: `answered`, `failed`, `missing`, `unlisted`.

    Attributes:
        name: the run's name.
        queries: the axis's queries.
        conventions: what the figures depend on.
        values: per metric, its values; NaN where undefined: a query that is not judged, NDCG
            without an ideal, recall without a relevant judgment, judged without a hit, and
            everything but judged where `unlisted`. A judged query missing or failed has 0.
        ideal: ideal DCG at k; NaN where the query has no judgment.
        relevant: how many judged documents are at the floor or above.
        answered: the run lists this query's documents, perhaps none.
        failed: the engine could not answer it.
        missing: it is not in the run.
        unlisted: it is in the run, but the file lists no documents: nothing can be recomputed.
        returned: distinct documents within k; where `unlisted`, the file's k if the file says
            which documents are unrated.
        unrated: those of them without a judgment.
        repeats: documents within k that repeat one higher up.
        few: answered with fewer than three documents.
        top: the grade at each rank, as scored: see `kernel`; shape (nq, w), w <= k.
        hist: judged documents of each grade, shape (nq, levels).
    """

    name: str
    queries: tuple[Query, ...]
    conventions: Conventions
    values: Mapping[Metric, _Floats]
    ideal: _Floats
    relevant: _Ints
    answered: _Bools
    failed: _Bools
    missing: _Bools
    unlisted: _Bools
    returned: _Ints
    unrated: _Ints
    repeats: _Ints
    few: _Bools
    top: NDArray[np.int16]
    hist: _Ints

    @property
    def judged(self) -> _Bools:
        """The query has at least one judgment."""
        return np.isfinite(self.ideal)

    @property
    def has_ideal(self) -> _Bools:
        """The query has a judgment above grade 0."""
        return np.greater(self.ideal, 0)

    @property
    def scored(self) -> _Bools:
        """The queries that means are over: with an ideal, or all judged when no ideal is zero."""
        return self.has_ideal if self.conventions.no_ideal == "apart" else self.judged

    @property
    def unrated_share(self) -> _Floats:
        """Unrated share of the documents returned within k, 0..1; NaN where there are none."""
        return kernel.share(self.unrated, self.returned)

    def mostly_unrated(self, threshold: float = 0.5) -> _Bools:
        """Queries with more than `threshold` of their documents unrated.

        A query without a hit is not among them; one that the list does not have is.
        """
        return np.greater(self.unrated_share, threshold)

    def counted(self, metric: Metric | Further) -> _Bools:
        """The queries that the mean of `metric` is over.

        Those `scored`; recall and AP leave out those without a relevant judgment, unless no ideal
        is zero; judged is over all queries with a document.
        """
        if metric is Metric.JUDGED:
            return np.greater(self.returned, 0)
        if metric in (Metric.RECALL, Further.AP) and self.conventions.no_ideal == "apart":
            return self.scored & np.greater(self.relevant, 0)
        return self.scored

    def mean(self, metric: Metric, *, weights: _Floats | None = None) -> Mean:
        """The macro mean of a metric, or its weighted mean.

        Args:
            metric: which.
            weights: per query of the axis, for example its traffic; finite, not negative.

        Raises:
            UsageError: weights of another shape, negative, or not finite.
        """
        counted = self.counted(metric)
        values = self.values[metric][counted]
        name, n = self.conventions.name(metric), int(counted.sum())
        w = np.ones(n) if weights is None else _checked(weights, len(self.queries))[counted]
        total = float(w.sum())
        return Mean(name, float(w @ values) / total if total > 0 else float("nan"), n)

    def further(self) -> Mapping[Further, _Floats]:
        """Values of the metrics that gate nothing; NaN as in `values`. Shape (nq,) each.

        AP needs a relevant judgment, as recall does.
        """
        c, levels = self.conventions, self.hist.shape[1]
        found = {
            Further.AP: kernel.average_precision(self.top, self.hist, c.floor),
            Further.ERR: kernel.expected_reciprocal_rank(self.top, levels),
            Further.RBP: kernel.rank_biased_precision(self.top, c.gains(levels), c.persistence),
            Further.RBP_RESIDUAL: kernel.rank_biased_residual(self.top, c.persistence),
        }
        for values in found.values():
            if c.no_ideal == "zero":
                values[np.isnan(values)] = 0.0
            values[self.unlisted | ~self.judged] = np.nan
        return MappingProxyType(found)

    def all_values(self) -> Mapping[Metric | Further, _Floats]:
        """Those of `values` and of `further`."""
        return dict([*self.values.items(), *self.further().items()])

    def means(self, *, weights: _Floats | None = None) -> Mapping[Metric, Mean]:
        """The mean of every metric."""
        return MappingProxyType({m: self.mean(m, weights=weights) for m in Metric})

    @property
    def empty_rate(self) -> float:
        """Share of the answered queries without any document; NaN when none is answered."""
        return self._share_of_answered(self.answered & (self.returned == 0))

    @property
    def lt3_rate(self) -> float:
        """Share of the answered queries with fewer than three documents, the empty ones too."""
        return self._share_of_answered(self.few)

    def _share_of_answered(self, which: _Bools) -> float:
        n = int(self.answered.sum())
        return int(which.sum()) / n if n else float("nan")


def _checked(weights: _Floats, n: int) -> _Floats:
    if weights.shape != (n,) or not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise UsageError(f"weights must be {n} finite numbers, none below 0")
    return weights
