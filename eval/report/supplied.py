"""The evidence that came with a change, as the reports show it. Pure.

A figure that is not finite is null, as in the rest of `review.json`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import Any

from relgate.eval.report.values import moved, picked
from relgate.eval.review.supplied import Percentiles
from relgate.eval.review.types import Aggregate, Evidence

__all__ = [
    "aggregate_values",
    "apart_values",
    "latency_rows",
    "mode_rows",
    "mode_values",
    "strata_values",
    "supplied_values",
]


def supplied_values(evidence: Evidence) -> dict[str, Any]:
    """What the change description brought, each part null where it brought none."""
    change = evidence.change
    latency, truth, filters = (
        (None, None, None)
        if change is None
        else (change.latency, change.ground_truth, change.filters)
    )
    return {
        "latency": None
        if latency is None
        else {"before": _side(latency.before), "after": _side(latency.after)},
        "ground_truth": None
        if truth is None
        else picked(truth, "recomputed", "model", "source", "recall_before", "recall_after"),
        "filters": None
        if filters is None
        else {
            **picked(filters, "before", "after", "intended"),
            "cases": [
                {
                    **picked(checked.case, "query", "filter", "expect"),
                    **picked(checked, "held_before", "held_after"),
                }
                for checked in evidence.filter_cases
            ],
        },
    }


def strata_values(evidence: Evidence) -> list[dict[str, Any]]:
    """One object a stratum: its means, how many queries, and its p before any adjustment."""
    return [
        {"name": s.name, **moved(s.before, s.after), **picked(s, "n", "p")} for s in evidence.strata
    ]


def mode_values(evidence: Evidence) -> list[dict[str, Any]]:
    """One object a mode of a hybrid search: relevance and recall of its own runs."""
    return [
        {
            "name": mode.name,
            "relevance": None if mode.relevance is None else aggregate_values(mode.relevance),
            "recall": None if mode.recall is None else aggregate_values(mode.recall),
            **picked(mode, "unrated_after", "lacks"),
        }
        for mode in evidence.modes
    ]


def apart_values(evidence: Evidence) -> list[dict[str, Any]]:
    """One object a set of queries that never gates."""
    return [
        {
            **picked(one, "name", "queries"),
            "relevance": None if one.relevance is None else aggregate_values(one.relevance),
            "emptied": list(one.emptied),
        }
        for one in evidence.apart
    ]


def aggregate_values(aggregate: Aggregate) -> dict[str, Any]:
    """A metric's mean on both sides."""
    return {
        "name": aggregate.name,
        **moved(aggregate.before, aggregate.after),
        **picked(aggregate, "n", "weighted_before", "weighted_after"),
    }


def mode_rows(evidence: Evidence) -> Iterator[tuple[str, str, str, str, str]]:
    """Mode, metric, before, after and delta; a mode without figures says why."""
    for mode in evidence.modes:
        figures = [a for a in (mode.relevance, mode.recall) if a is not None]
        for a in figures:
            yield mode.name, a.name, f"{a.before:.4f}", f"{a.after:.4f}", f"{a.delta:+.4f}"
        if not figures:
            yield mode.name, mode.lacks or "no figure", "", "", ""


def latency_rows(evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    """Percentile, before and after, in ms; nothing where no latency was given."""
    latency = None if evidence.change is None else evidence.change.latency
    if latency is None:
        return
    before, after = latency.before or Percentiles(), latency.after or Percentiles()
    for name, was, now in (
        ("p50", before.p50_ms, after.p50_ms),
        ("p95", before.p95_ms, after.p95_ms),
        ("p99", before.p99_ms, after.p99_ms),
    ):
        if was is not None or now is not None:
            yield name, _ms(was), _ms(now)


def _ms(value: float | None) -> str:
    return "no figure" if value is None or isnan(value) else f"{value:.1f} ms"


def _side(side: Percentiles | None) -> dict[str, Any] | None:
    return None if side is None else picked(side, "p50_ms", "p95_ms", "p99_ms", "samples")
