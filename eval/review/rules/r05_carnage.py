"""R5: how many queries dropped far, whatever the mean says."""

from __future__ import annotations

from relgate.eval.review.rules.base import Rule, failed, fallen, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import TOLERANCE, Evidence, Finding, RuleOutcome, Verdict
from relgate.eval.wording import named, percent

__all__ = ["RULE"]


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Fails when the share of queries that dropped by more than the limit reaches its bound."""
    dropped = fallen(evidence, settings.query_drop)
    if dropped is None:
        return not_checked("R5", "no query is scored on both sides", cap=Verdict.NEEDS_WORK)
    line = dropped.line(f"dropped by more than {settings.query_drop:g}")
    if not dropped.queries or dropped.share < settings.max_dropped_share - TOLERANCE:
        return passed("R5", line)
    return failed(
        "R5",
        line,
        Finding(
            "R5",
            Verdict.NEEDS_WORK,
            f"{line}, worst {named(dropped.texts[:3])}; "
            f"{percent(settings.max_dropped_share)} is the limit",
            dropped.figures("dropped"),
            advice=f"look one by one at {named(dropped.texts)}",
            queries=tuple(q.query.id for q in dropped.queries),
        ),
    )


RULE = Rule(
    id="R5",
    name="carnage",
    asks="What share of queries dropped by more than 0.10?",
    default=">= 5 %",
    severity="NEEDS-WORK",
    source="R",
    unchecked="no query scored on both sides: cap NEEDS-WORK",
    mend=(
        "look at what the dropped queries have in common, and narrow the change so that "
        "it spares them"
    ),
    check=check,
)
