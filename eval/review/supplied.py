"""Evidence that comes with the change description: latency, ground truth, filter cases. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from types import MappingProxyType
from typing import Literal

import numpy as np

from relgate.eval.runs.types import Run
from relgate.rubrics.errors import UsageError

__all__ = [
    "Expectation",
    "FilterCase",
    "FilterStrategy",
    "GroundTruth",
    "Latency",
    "ModeRuns",
    "Observed",
    "Percentiles",
    "SetRuns",
    "percentiles_of",
]

Expectation = Literal["non-empty", "empty", ">=1 grade>=2"]
"""What a query with its filter must bring back."""


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Latency of one side in milliseconds; a figure is None where it was not given, NaN as given.

    Attributes:
        p50_ms: median.
        p95_ms: 95th percentile.
        p99_ms: 99th percentile.
        samples: how many samples they were computed from here; None where they were given.
    """

    p50_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    samples: int | None = None


@dataclass(frozen=True, slots=True)
class Latency:
    """Latency on both sides; a side is None where it was not given."""

    before: Percentiles | None = None
    after: Percentiles | None = None


def percentiles_of(samples_ms: Sequence[float]) -> Percentiles:
    """Percentiles of raw samples, interpolated linearly between ranks (Hyndman & Fan's type 7).

    Args:
        samples_ms: one number a request, in milliseconds. One that is not finite makes all
            three NaN.

    Raises:
        UsageError: no sample.
    """
    if not len(samples_ms):
        raise UsageError("no latency sample")
    samples = np.array(samples_ms, np.float64)
    if not np.isfinite(samples).all():
        return Percentiles(nan, nan, nan, len(samples_ms))
    p50, p95, p99 = np.quantile(samples, [0.50, 0.95, 0.99]).tolist()
    return Percentiles(p50, p95, p99, len(samples_ms))


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """What the author says of the neighbours that recall was measured against.

    Attributes:
        recomputed: computed anew with the new model (True), reused (False), or None when not said.
        model: the model that it was computed with.
        source: where its queries and documents were sampled, free text.
        recall_before: recall@k of the old model against its own ground truth, 0..1.
        recall_after: recall@k of the new model against the new ground truth, 0..1.
    """

    recomputed: bool | None = None
    model: str | None = None
    source: str | None = None
    recall_before: float | None = None
    recall_after: float | None = None


@dataclass(frozen=True, slots=True)
class Observed:
    """What one side brought back for a filter case.

    Attributes:
        hits: how many documents.
        doc_ids: their ids, or None where only the number was recorded.
    """

    hits: int
    doc_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class FilterCase:
    """A query with a filter, and what must come back.

    Attributes:
        query: the query's id or text.
        filter: the filter as text, for reports.
        expect: what must come back.
        before: what came back before the change; None when it was not recorded.
        after: likewise after it.
        grades: {doc id: grade} of this case; it wins over the judgment list.
        line: the line in the case file.
    """

    query: str
    filter: str
    expect: Expectation
    before: Observed | None = None
    after: Observed | None = None
    grades: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    line: int | None = None


@dataclass(frozen=True, slots=True)
class FilterStrategy:
    """When filters apply, and the cases that must not break.

    Attributes:
        before: `pre`, `post` or the engine's own word; None when not said.
        after: likewise after the change.
        intended: whether a change of strategy is meant.
        cases: the cases; None when no file of cases was named.
    """

    before: str | None = None
    after: str | None = None
    intended: bool = False
    cases: tuple[FilterCase, ...] | None = None


@dataclass(frozen=True, slots=True)
class ModeRuns:
    """What one mode of a hybrid search returns by itself, before and after the change."""

    name: str
    before: Run
    after: Run


@dataclass(frozen=True, slots=True)
class SetRuns:
    """The queries of one set that never gates, challenge or shadow, before and after."""

    name: str
    before: Run
    after: Run
