"""R19: a judge that failed too often gives no verdict."""

from __future__ import annotations

from relgate.eval.review.rules.base import Rule, failed, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import (
    TOLERANCE,
    Evidence,
    FillFacts,
    Finding,
    RuleOutcome,
    Verdict,
)
from relgate.eval.wording import percent, tallied

__all__ = ["RULE"]


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Refuses when the share of failed grades is above its budget; a part of a fill is no fill."""
    fill = evidence.fill
    if fill is None:
        return passed("R19", "nothing was filled in this review")
    kinds = tallied(fill.errors)
    line = (
        f"judge error rate {percent(fill.error_rate)} ({fill.asked - fill.graded} of {fill.asked}"
    )
    line += f": {kinds})" if kinds else ")"
    if fill.not_asked:
        line += f"; {fill.not_asked} more not asked, since the run stopped"
    if fill.error_rate <= settings.max_error_rate + TOLERANCE:
        undone = _undone(fill)
        return passed("R19", line) if undone is None else failed("R19", line, undone)
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


def _undone(fill: FillFacts) -> Finding | None:
    """A fill that stopped closed less than it was asked to."""
    if not fill.not_asked:
        return None
    return Finding(
        "R19",
        Verdict.NEEDS_WORK,
        f"the fill stopped: it graded {fill.graded} of {fill.gaps} unrated documents, and "
        f"{fill.not_asked} were not asked about",
        {"gaps": fill.gaps, "graded": fill.graded, "not_asked": fill.not_asked},
        advice="run it again to its end; what was graded is kept in the cache",
    )


RULE = Rule(
    id="R19",
    name="errors",
    asks="What share of the judge's grades failed, and did the fill come to its end?",
    default="> 2 %",
    severity="REFUSE; NEEDS-WORK when it stopped",
    source="X",
    unchecked="no fill: passes",
    mend=(
        "run again: what was graded is kept in the cache; look at the kinds of errors and "
        "the judge's limits"
    ),
    check=check,
)
