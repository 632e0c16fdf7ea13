"""The means of both sides: recomputed from the list, or as the files give them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.types import Query, match_key
from relgate.eval.metrics.conventions import Metric
from relgate.eval.metrics.types import RunScores
from relgate.eval.review.types import Aggregate, QueryEvidence, Side
from relgate.eval.runs.types import GivenScores, Run

__all__ = ["given_aggregate", "query_keys", "recomputed_aggregates", "traffic_of"]

_SAME_MEAN = 5e-4
"""Given details are the whole query set when their mean is the aggregate to three digits."""


def query_keys(query: Query) -> set[str]:
    """What a query may be called by: its id and its text, as match keys."""
    return {match_key(name) for name in (query.id, query.text) if name is not None}


def traffic_of(queries: Sequence[Query], weights: Mapping[str, float]) -> NDArray[np.float64]:
    """The traffic weight of each query, found by id or text; NaN where nobody weighed it."""
    by_key = {match_key(name): weight for name, weight in weights.items()}
    return np.array(
        [max((by_key[key] for key in query_keys(q) & by_key.keys()), default=nan) for q in queries]
    )


def recomputed_aggregates(
    scores: Sequence[RunScores], gate: Metric, traffic: NDArray[np.float64]
) -> tuple[Aggregate, ...]:
    """Every metric with a query to average over, the gating one first.

    Both means of a metric are over the same queries: those that count on both sides. Only judged@k
    counts others on each side, those with a document there.

    Args:
        scores: before and after.
        gate: the metric that gates.
        traffic: per query, from `traffic_of`; all NaN for no weights.
    """
    weights = None if np.isnan(traffic).all() else np.nan_to_num(traffic, nan=0.0)
    before, after = scores
    out: list[Aggregate] = []
    for metric in sorted(Metric, key=lambda m: m is not gate):
        both = before.counted(metric) & after.counted(metric)
        n = int(both.sum())
        if metric is not gate and not n:
            continue
        was, now = (side.mean(metric, weights=both.astype(np.float64)) for side in scores)
        out.append(
            Aggregate(
                key=metric.value,
                name=was.name,
                before=was.value,
                after=now.value,
                n=n,
                weighted_before=_weighted(before, metric, weights, both),
                weighted_after=_weighted(after, metric, weights, both),
            )
        )
    return tuple(out)


def _weighted(
    scores: RunScores,
    metric: Metric,
    weights: NDArray[np.float64] | None,
    both: NDArray[np.bool_],
) -> float | None:
    if weights is None:
        return None
    value = scores.mean(metric, weights=weights * both).value
    return None if isnan(value) else value


def given_aggregate(before: Run, after: Run, queries: Sequence[QueryEvidence]) -> Aggregate:
    """The files' own means; `n` is known only when each is the mean of its file's details.

    Then a failed query counts as 0 on its side: engines leave it out of their mean in silence.
    Where the details are only some of the queries, an aggregate that a file lacks is NaN: a mean
    of those few beside the other file's mean of all would compare two things.
    """
    own = [_own_mean([q.was for q in queries]), _own_mean([q.now for q in queries])]
    given = [_stated_mean(before), _stated_mean(after)]
    paired = [q for q in queries if q.paired]
    whole = all(g is None or abs(g - o) < _SAME_MEAN for g, o in zip(given, own, strict=True))
    if whole and (before.failures or after.failures or None in given):
        values = [_mean([q.before for q in paired]), _mean([q.after for q in paired])]
    else:
        values = [nan if g is None else g for g in given]
    n = len(paired) if whole else None
    return Aggregate("given", _given_name(after.given), values[0], values[1], n)


def _given_name(given: GivenScores | None) -> str:
    """The metric as its file states it, `nDCG@10 as given`."""
    if given is None or given.metric is None:
        return "score as given"
    metric = "nDCG" if given.metric == "dcg" and given.normalized else given.metric
    return f"{metric} as given" if given.k is None else f"{metric}@{given.k} as given"


def _stated_mean(run: Run) -> float | None:
    return None if run.given is None else run.given.metric_score


def _own_mean(sides: Sequence[Side]) -> float:
    """The mean of the details that the engine averaged: those that did not fail."""
    return _mean([s.value for s in sides if not s.absent and s.error is None])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else nan
