"""R18: a regression cannot hide by trading one metric for another."""

from __future__ import annotations

from math import isfinite

from relgate.eval.review.rules.base import Rule, failed, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import (
    TOLERANCE,
    Aggregate,
    Evidence,
    Finding,
    RuleOutcome,
    Verdict,
)

__all__ = ["RULE"]


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Holds MRR and P@k, where they are not the primary metric, to the drift budgets."""
    budgets = {
        "mrr": (settings.mrr_soft_drop, settings.mrr_hard_drop),
        "precision": (settings.precision_soft_drop, settings.precision_hard_drop),
    }
    checked = [
        (aggregate, *budgets[aggregate.key])
        for aggregate in evidence.aggregates
        if aggregate.key in budgets and aggregate not in evidence.primary
    ]
    if not checked:
        return not_checked("R18", "no second metric was computed")
    line = ", ".join(f"{a.name} {a.delta:+.4f}" for a, _, _ in checked)
    findings = [f for a, soft, hard in checked if (f := _drop(a, soft, hard)) is not None]
    return failed("R18", line, *findings) if findings else passed("R18", line)


def _drop(aggregate: Aggregate, soft: float, hard: float) -> Finding | None:
    finite = isfinite(aggregate.delta)
    if finite and aggregate.delta >= -soft - TOLERANCE:
        return None
    blocks = not finite or aggregate.delta < -hard - TOLERANCE
    limit = hard if blocks else soft
    return Finding(
        "R18",
        Verdict.BLOCK if blocks else Verdict.NEEDS_WORK,
        f"{aggregate.name} dropped {aggregate.before:.4f} to {aggregate.after:.4f} "
        f"({aggregate.delta:+.4f}); the budget is {limit:g}",
        {"metric": aggregate.name, "delta": aggregate.delta, "budget": limit},
        advice=f"see which queries lost good results under {aggregate.name}",
    )


RULE = Rule(
    id="R18",
    name="secondary",
    asks="Did MRR or P@k drop while the primary metric held?",
    default="MRR 0.01 / 0.03, P@k 0.02 / 0.04",
    severity="NEEDS-WORK / BLOCK",
    source="G",
    unchecked="note",
    check=check,
)
