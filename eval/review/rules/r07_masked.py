"""R7: a mean that rises over many queries that fall."""

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
    """Fails when the mean improved while too many queries got worse."""
    paired = evidence.paired
    if not paired:
        return not_checked("R7", "no query is scored on both sides", cap=Verdict.NEEDS_WORK)
    worse = sorted((q for q in paired if q.delta < -TOLERANCE), key=lambda q: q.delta)
    share = len(worse) / len(paired)
    line = (
        f"{len(worse)} of {counted(len(paired), 'query', 'queries')} ({percent(share)}) got worse"
    )
    if not evidence.main.delta > TOLERANCE:
        return passed("R7", f"{line}; the mean did not improve, so it masks nothing")
    if share <= settings.max_masked_share + TOLERANCE:
        return passed("R7", line)
    return failed(
        "R7",
        line,
        Finding(
            "R7",
            Verdict.NEEDS_WORK,
            f"the mean improved ({evidence.main.delta:+.4f}) while {line}; "
            f"{percent(settings.max_masked_share)} is the limit",
            {"worse": len(worse), "queries": len(paired), "share": share},
            advice=(
                "do not read the mean alone: split the change, or accept by name what it costs "
                f"{named([q.query.shown for q in worse])}"
            ),
        ),
    )


RULE = Rule(
    id="R7",
    name="masked",
    asks="Did the aggregate improve while many queries got worse?",
    default="> 10 % worse",
    severity="NEEDS-WORK",
    source="R",
    unchecked="no query scored on both sides: cap NEEDS-WORK",
    check=check,
)
