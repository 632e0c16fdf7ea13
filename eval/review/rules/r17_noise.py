"""R17: whether the delta can be told from chance."""

from __future__ import annotations

from relgate.eval.review.rules.base import Rule, failed, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Evidence, Finding, RuleOutcome, Verdict

__all__ = ["RULE"]


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Says the interval, p and what could have been detected; a claimed improvement must stand."""
    noise = evidence.noise
    if not evidence.covers_all:
        return not_checked("R17", "the queries listed are not the whole query set")
    if noise is None or noise.n < settings.min_noise_queries:
        n = 0 if noise is None else noise.n
        return not_checked(
            "R17", f"{n} queries scored on both sides; {settings.min_noise_queries} are needed"
        )
    inside = not noise.p < settings.max_p
    line = (
        f"delta {evidence.main.delta:+.4f}, 95 % interval [{noise.low:+.4f}, {noise.high:+.4f}], "
        f"p {noise.p:.3f}, smallest detectable effect {noise.detectable:.4f} (n {noise.n})"
        + (": inside the noise" if inside else "")
    )
    claimed = evidence.change is not None and evidence.change.intent == "improve"
    if not (inside and claimed):
        return passed("R17", line)
    return failed(
        "R17",
        line,
        Finding(
            "R17",
            Verdict.NEEDS_WORK,
            f"an improvement is claimed, and the delta is inside the noise: {line}",
            {"p": noise.p, "low": noise.low, "high": noise.high, "detectable": noise.detectable},
            advice="add queries, or claim no improvement",
        ),
    )


RULE = Rule(
    id="R17",
    name="noise",
    asks="Is the delta distinguishable from chance?",
    default="p < 0.05, from 30 queries on",
    severity="note; NEEDS-WORK when an improvement is claimed",
    source="X",
    unchecked="note",
    check=check,
)
