"""The evidence that came with a change, as the reports show it. Pure.

A figure that is not finite is null, as in the rest of `review.json`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from relgate.eval.review.supplied import Percentiles
from relgate.eval.review.types import Aggregate, Evidence

__all__ = ["latency_rows", "mode_rows", "mode_values", "strata_values", "supplied_values"]

_DIGITS = 6


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
        else {
            "recomputed": truth.recomputed,
            "model": truth.model,
            "source": truth.source,
            "recall_before": _number(truth.recall_before),
            "recall_after": _number(truth.recall_after),
        },
        "filters": None
        if filters is None
        else {
            "before": filters.before,
            "after": filters.after,
            "intended": filters.intended,
            "cases": [
                {
                    "query": checked.case.query,
                    "filter": checked.case.filter,
                    "expect": checked.case.expect,
                    "held_before": checked.held_before,
                    "held_after": checked.held_after,
                }
                for checked in evidence.filter_cases
            ],
        },
    }


def strata_values(evidence: Evidence) -> list[dict[str, Any]]:
    """One object a stratum: its means, how many queries, and its p before any adjustment."""
    return [
        {
            "name": stratum.name,
            "before": _number(stratum.before),
            "after": _number(stratum.after),
            "delta": _number(stratum.delta),
            "n": stratum.n,
            "p": _number(stratum.p),
        }
        for stratum in evidence.strata
    ]


def mode_values(evidence: Evidence) -> list[dict[str, Any]]:
    """One object a mode of a hybrid search: relevance and recall of its own runs."""
    return [
        {
            "name": mode.name,
            "relevance": _aggregate(mode.relevance),
            "recall": _aggregate(mode.recall),
            "unrated_after": _number(mode.unrated_after),
            "lacks": mode.lacks,
        }
        for mode in evidence.modes
    ]


def _aggregate(aggregate: Aggregate | None) -> dict[str, Any] | None:
    if aggregate is None:
        return None
    return {
        "name": aggregate.name,
        "before": _number(aggregate.before),
        "after": _number(aggregate.after),
        "delta": _number(aggregate.delta),
        "n": aggregate.n,
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
    return "not given" if value is None else f"{value:.1f} ms"


def _side(side: Percentiles | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "p50_ms": _number(side.p50_ms),
        "p95_ms": _number(side.p95_ms),
        "p99_ms": _number(side.p99_ms),
        "samples": side.samples,
    }


def _number(value: float | None) -> float | None:
    return round(value, _DIGITS) if value is not None and isfinite(value) else None
