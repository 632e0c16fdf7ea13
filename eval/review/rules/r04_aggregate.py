"""R4: the mean of the primary metric."""

from __future__ import annotations

from relgate.eval.review.rules.base import Rule, failed, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import TOLERANCE, Evidence, Finding, RuleOutcome, Verdict

__all__ = ["RULE"]


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Blocks a drop beyond the limit; a flat mean needs work unless no change was wanted.

    A mean that is not a number is R3's; here it fails closed all the same.
    """
    main = evidence.main
    figures = {"before": main.before, "after": main.after, "delta": main.delta}
    line = f"{main.name} {main.before:.4f} to {main.after:.4f} ({main.delta:+.4f})"
    if main.delta >= settings.min_improvement - TOLERANCE:
        return passed("R4", f"{line}: improvement")
    intent = None if evidence.change is None else evidence.change.intent
    if main.delta >= -settings.max_mean_drop - TOLERANCE:
        if intent == "neutral":
            return passed("R4", f"{line}: flat, as a neutral change should be")
        return failed(
            "R4",
            f"{line}: flat",
            Finding(
                "R4",
                Verdict.NEEDS_WORK,
                f"aggregate flat: {line}; an improvement is {settings.min_improvement:+g} or more",
                figures,
                advice=(
                    None if intent else 'if no relevance change is wanted, say intent = "neutral"'
                ),
            ),
        )
    return failed(
        "R4",
        f"{line}: drop",
        Finding(
            "R4",
            Verdict.BLOCK,
            f"aggregate dropped: {line}; at most {settings.max_mean_drop:g} is allowed",
            figures,
            advice="do not merge; start with the top losers",
        ),
    )


RULE = Rule(
    id="R4",
    name="aggregate",
    asks="Did the mean of the primary metric drop, or not move?",
    default="> 0.01 drop; -0.01 to +0.02 is flat unless intent is neutral",
    severity="BLOCK / NEEDS-WORK",
    source="R, G",
    unchecked="-",
    check=check,
)
