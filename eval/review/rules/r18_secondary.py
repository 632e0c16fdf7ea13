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
    """Holds MRR and P@k, where they are not the primary metric, and each mode to their budgets."""
    budgets = {
        "mrr": (settings.mrr_soft_drop, settings.mrr_hard_drop),
        "precision": (settings.precision_soft_drop, settings.precision_hard_drop),
    }
    checked = [
        (aggregate, *budgets[aggregate.key])
        for aggregate in evidence.aggregates
        if aggregate.key in budgets and aggregate not in evidence.primary
    ]
    by_mode = [
        (mode.name, a) for mode in evidence.modes for a in (mode.relevance, mode.recall) if a
    ]
    if not checked and not by_mode:
        return not_checked("R18", "no second metric was computed")
    line = ", ".join(
        [
            *(f"{a.name} {a.delta:+.4f}" for a, _, _ in checked),
            *(f"{name} {a.name} {a.delta:+.4f}" for name, a in by_mode),
        ]
    )
    found = [
        *(_drop(a, soft, hard) for a, soft, hard in checked),
        *(_mode_drop(name, a, settings.max_mode_drop) for name, a in by_mode),
    ]
    findings = [f for f in found if f is not None]
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


def _mode_drop(mode: str, aggregate: Aggregate, limit: float) -> Finding | None:
    """A blend may hide that one of its modes lost; one that lost is no block by itself."""
    if isfinite(aggregate.delta) and aggregate.delta >= -limit - TOLERANCE:
        return None
    return Finding(
        "R18",
        Verdict.NEEDS_WORK,
        f"mode {mode}: {aggregate.name} dropped {aggregate.before:.4f} to {aggregate.after:.4f} "
        f"({aggregate.delta:+.4f}); the budget is {limit:g}",
        {"mode": mode, "metric": aggregate.name, "delta": aggregate.delta, "budget": limit},
        advice=f"look at what mode {mode} by itself finds and ranks now",
    )


RULE = Rule(
    id="R18",
    name="secondary",
    asks=(
        "Did MRR or P@k drop while the primary metric held, or relevance or recall of one mode of "
        "a hybrid search?"
    ),
    default="MRR 0.01 / 0.03, P@k 0.02 / 0.04; a mode 0.01",
    severity="NEEDS-WORK / BLOCK",
    source="G",
    unchecked="note",
    mend="see which queries lost good results under the metric that fell",
    check=check,
)
