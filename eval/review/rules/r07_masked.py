"""R7: a mean that rises over many queries that fall."""

from __future__ import annotations

from math import isfinite

from relgate.eval.review.rules.base import Rule, failed, fallen, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import TOLERANCE, Evidence, Finding, RuleOutcome, Verdict
from relgate.eval.wording import named, percent

__all__ = ["RULE"]


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Fails when the mean improved while too many queries got worse.

    A mean that is not a finite number is R3's; here it counts as one that may have improved.
    """
    worse = fallen(evidence, 0.0)
    if worse is None:
        return not_checked("R7", "no query is scored on both sides", cap=Verdict.NEEDS_WORK)
    line = worse.line("got worse")
    delta = evidence.main.delta
    if isfinite(delta) and delta <= TOLERANCE:
        return passed("R7", f"{line}; the mean did not improve, so it masks nothing")
    if worse.share <= settings.max_masked_share + TOLERANCE:
        return passed("R7", line)
    return failed(
        "R7",
        line,
        Finding(
            "R7",
            Verdict.NEEDS_WORK,
            f"the mean improved ({delta:+.4f}) while {line}; "
            f"{percent(settings.max_masked_share)} is the limit",
            worse.figures("worse"),
            advice=(
                "do not read the mean alone: split the change, or accept by name what it costs "
                f"{named(worse.texts)}"
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
    mend="do not read the mean alone: split the change, or accept by name what it costs",
    check=check,
)
