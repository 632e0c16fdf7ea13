"""R5: how many queries dropped far, whatever the mean says."""

from __future__ import annotations

from relgate.eval.review.rules.base import (
    Rule,
    counted,
    failed,
    named,
    not_checked,
    passed,
    percent,
)
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import TOLERANCE, Evidence, Finding, RuleOutcome, Verdict

__all__ = ["RULE"]


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Fails when the share of queries that dropped by more than the limit reaches its bound."""
    paired = evidence.paired
    if not paired:
        return not_checked("R5", "no query is scored on both sides", cap=Verdict.NEEDS_WORK)
    dropped = sorted(
        (q for q in paired if q.delta < -settings.query_drop - TOLERANCE), key=lambda q: q.delta
    )
    share = len(dropped) / len(paired)
    line = (
        f"{len(dropped)} of {counted(len(paired), 'query', 'queries')} ({percent(share)}) dropped "
        f"by more than {settings.query_drop:g}"
    )
    if not dropped or share < settings.max_dropped_share - TOLERANCE:
        return passed("R5", line)
    return failed(
        "R5",
        line,
        Finding(
            "R5",
            Verdict.NEEDS_WORK,
            f"{line}, worst {named([q.query.shown for q in dropped[:3]])}; "
            f"{percent(settings.max_dropped_share)} is the limit",
            {"dropped": len(dropped), "queries": len(paired), "share": share},
            advice=f"look one by one at {named([q.query.shown for q in dropped])}",
            queries=tuple(q.query.id for q in dropped),
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
    check=check,
)
