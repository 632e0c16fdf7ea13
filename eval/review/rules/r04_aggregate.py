"""R4: the mean of the primary metric; with binary labels MRR and P@k are both primary."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Literal

from relgate.eval.review.rules.base import Rule, failed, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import (
    TOLERANCE,
    Aggregate,
    Evidence,
    Finding,
    RuleOutcome,
    Verdict,
)
from relgate.eval.wording import beside

__all__ = ["RULE", "movement"]


def movement(
    deltas: Iterable[float], settings: ReviewSettings
) -> Literal["improved", "flat", "dropped"]:
    """What the primary metrics did: any drop counts, then any improvement.

    A delta that is not a finite number is a drop: R3 refuses it, and here it fails closed.
    """
    known = list(deltas)
    if any(_dropped(delta, settings) for delta in known):
        return "dropped"
    best = max(known, default=0.0)
    return "improved" if best >= settings.min_improvement - TOLERANCE else "flat"


def _dropped(delta: float, settings: ReviewSettings) -> bool:
    return not isfinite(delta) or delta < -settings.max_mean_drop - TOLERANCE


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Blocks a drop beyond the limit; a flat mean needs work unless no change was wanted."""
    primary = evidence.primary
    line = "; ".join(_told(a, settings) for a in primary)
    moved = movement([a.delta for a in primary], settings)
    if moved == "improved":
        return passed("R4", f"{line}: improvement")
    if moved == "dropped":
        fallen = [a for a in primary if _dropped(a.delta, settings)]
        return failed("R4", f"{line}: drop", *(_drop(a, settings) for a in fallen))
    intent = None if evidence.change is None else evidence.change.intent
    if intent == "neutral":
        return passed("R4", f"{line}: flat, as a neutral change should be")
    return failed(
        "R4",
        f"{line}: flat",
        Finding(
            "R4",
            Verdict.NEEDS_WORK,
            f"aggregate flat: {line}; an improvement is {settings.min_improvement:+g} or more",
            _figures(evidence.main),
            advice=None if intent else 'if no relevance change is wanted, say intent = "neutral"',
        ),
    )


def _told(aggregate: Aggregate, settings: ReviewSettings) -> str:
    limit = settings.min_improvement if aggregate.delta > 0 else -settings.max_mean_drop
    delta = beside(aggregate.delta, limit, 4, sign=True)
    return f"{aggregate.name} {aggregate.before:.4f} to {aggregate.after:.4f} ({delta})"


def _figures(aggregate: Aggregate) -> dict[str, float]:
    return {"before": aggregate.before, "after": aggregate.after, "delta": aggregate.delta}


def _drop(aggregate: Aggregate, settings: ReviewSettings) -> Finding:
    return Finding(
        "R4",
        Verdict.BLOCK,
        f"aggregate dropped: {_told(aggregate, settings)}; at most {settings.max_mean_drop:g} "
        "is allowed",
        _figures(aggregate),
        advice="do not merge; start with the top losers",
    )


RULE = Rule(
    id="R4",
    name="aggregate",
    asks=(
        "Did the mean of the primary metric drop, or not move? Primary: NDCG@k with graded labels, "
        "MRR and P@k with binary ones"
    ),
    default="> 0.01 drop; -0.01 to +0.02 is flat unless intent is neutral",
    severity="BLOCK / NEEDS-WORK",
    source="R, G",
    unchecked="-",
    mend=(
        "look at the losers first; a change that is meant to change nothing says intent = 'neutral'"
    ),
    check=check,
)
