"""R19: a judge that failed too often gives no verdict."""

from __future__ import annotations

from relgate.eval.review.rules.base import Rule, failed, passed, percent
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import TOLERANCE, Evidence, Finding, RuleOutcome, Verdict

__all__ = ["RULE"]


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Refuses when the share of failed grades is above its budget."""
    fill = evidence.fill
    if fill is None:
        return passed("R19", "nothing was filled in this review")
    kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(fill.errors.items()))
    line = (
        f"judge error rate {percent(fill.error_rate)} ({fill.asked - fill.graded} of {fill.asked}"
    )
    line += f": {kinds})" if kinds else ")"
    if fill.not_asked:
        line += f"; {fill.not_asked} more not asked, since the run stopped"
    if fill.error_rate <= settings.max_error_rate + TOLERANCE:
        return passed("R19", line)
    return failed(
        "R19",
        line,
        Finding(
            "R19",
            Verdict.REFUSE,
            f"{line}; {percent(settings.max_error_rate)} is the limit",
            {"error_rate": fill.error_rate, "asked": fill.asked, "errors": dict(fill.errors)},
            advice="mend the judge's calls and run again; what it graded is kept in the cache",
        ),
    )


RULE = Rule(
    id="R19",
    name="errors",
    asks="What share of the judge's grades failed?",
    default="> 2 %",
    severity="REFUSE",
    source="X",
    unchecked="no fill: passes",
    check=check,
)
