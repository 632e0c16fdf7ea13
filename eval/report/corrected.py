"""The corrected delta as `review.json` holds it. Pure."""

from __future__ import annotations

from typing import Any

from relgate.eval.report.values import number, picked
from relgate.eval.review.types import Delta, Evidence

__all__ = ["correction_values"]


def correction_values(evidence: Evidence) -> dict[str, Any] | None:
    """Null where no judge's grade counts; else the corrected delta, or `why` there is none."""
    found = evidence.correction
    if found is None:
        return None
    return {
        "method": "PPI++, Student's t over queries, 95 %",
        "n": found.labelled,
        "corrected": _delta(found.corrected),
        "people": _delta(found.people),
        "judge": _delta(found.judge),
        "lambda": number(found.weight),
        **picked(found, "metric", "unlabelled", "needed", "why", "asked", "notes"),
    }


def _delta(delta: Delta | None) -> dict[str, float | None] | None:
    if delta is None:
        return None
    return {"delta": number(delta.point), "low": number(delta.low), "high": number(delta.high)}
