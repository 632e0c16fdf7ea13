"""The means of a run that is scored whole or in parts, and how its queries fared. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum, nan
from types import MappingProxyType

from relgate.eval.metrics.conventions import Conventions, Further, Metric
from relgate.eval.metrics.types import Mean, RunScores

__all__ = ["RunTotals", "Totals"]


@dataclass(frozen=True, slots=True)
class RunTotals:
    """A run, scored, without its queries.

    Attributes:
        name: the run's name.
        conventions: what the figures depend on.
        means: the macro mean of every metric, those that gate nothing last.
        queries: queries of the axis.
        missing: judged queries that are not in the run; they count as 0.
        failed: queries that the engine could not answer.
        unlisted: queries of which the file lists no documents.
        apart: judged queries that no mean is over.
        repeats: documents within k that repeat one higher up.
    """

    name: str
    conventions: Conventions
    means: Mapping[Metric | Further, Mean]
    queries: int
    missing: int
    failed: int
    unlisted: int
    apart: int
    repeats: int


class Totals:
    """Adds up the parts of a run: any parts, as long as no query stands in two.

    Args:
        name: the run's name.
        conventions: those that every part is scored under.
    """

    def __init__(self, name: str, conventions: Conventions) -> None:
        self.name = name
        self.conventions = conventions
        metrics: tuple[Metric | Further, ...] = (*Metric, *Further)
        self._sums: dict[Metric | Further, list[float]] = {metric: [] for metric in metrics}
        self._n = dict.fromkeys(metrics, 0)
        self._queries = self._missing = self._failed = 0
        self._unlisted = self._apart = self._repeats = 0

    def add(self, part: RunScores) -> None:
        """Takes in some queries."""
        for metric, values in part.all_values().items():
            counted = part.counted(metric)
            self._sums[metric].append(fsum(values[counted].tolist()))  # exact, in whatever order
            self._n[metric] += int(counted.sum())
        self._queries += len(part.queries)
        self._missing += int((part.missing & part.judged).sum())
        self._failed += int(part.failed.sum())
        self._unlisted += int(part.unlisted.sum())
        self._apart += int((part.judged & ~part.scored).sum())
        self._repeats += int(part.repeats.sum())

    def _mean(self, metric: Metric | Further) -> Mean:
        n = self._n[metric]
        value = fsum(self._sums[metric]) / n if n else nan
        return Mean(self.conventions.name(metric), value, n)

    def totals(self) -> RunTotals:
        """What all parts come to."""
        return RunTotals(
            name=self.name,
            conventions=self.conventions,
            means=MappingProxyType({metric: self._mean(metric) for metric in self._n}),
            queries=self._queries,
            missing=self._missing,
            failed=self._failed,
            unlisted=self._unlisted,
            apart=self._apart,
            repeats=self._repeats,
        )
