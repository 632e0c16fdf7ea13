"""R17: whether the delta can be told from chance."""

from __future__ import annotations

from relgate.eval.review.rules.base import Rule, failed, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Evidence, Finding, RuleOutcome, Verdict
from relgate.eval.wording import counted

__all__ = ["RULE"]

_STEADY = (
    "if two replays of one configuration differ, send a fixed preference with each query and break "
    "ties in score with a sort on a unique field"
)


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Says the interval, p and what could have been detected; a claimed improvement must stand."""
    noise, n = evidence.noise, len(evidence.paired)
    if not evidence.covers_all:
        return not_checked("R17", "the queries listed are not the whole query set")
    if n < settings.min_noise_queries:
        return not_checked(
            "R17",
            f"{counted(n, 'query', 'queries')} scored on both sides; "
            f"{settings.min_noise_queries} are needed",
        )
    if noise is None:
        return not_checked("R17", "the deltas do not tell their spread")
    inside = not noise.p < settings.max_p
    line = (
        f"delta {evidence.main.delta:+.4f}, 95 % interval [{noise.low:+.4f}, {noise.high:+.4f}], "
        f"p {noise.p:.3f}, smallest detectable effect {noise.detectable:.4f} (n {noise.n})"
        + (": inside the noise" if inside else "")
    )
    claimed = evidence.change is not None and evidence.change.intent == "improve"
    if not inside:
        return passed("R17", line)
    if not claimed:
        note = f"the delta is inside the noise; {_STEADY}"
        return passed("R17", line, Finding("R17", Verdict.APPROVE, note))
    return failed(
        "R17",
        line,
        Finding(
            "R17",
            Verdict.NEEDS_WORK,
            f"an improvement is claimed, and the delta is inside the noise: {line}",
            {"p": noise.p, "low": noise.low, "high": noise.high, "detectable": noise.detectable},
            advice=f"add queries, or claim no improvement; {_STEADY}",
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
    mend="add queries until the effect can be told from chance, or claim no improvement",
    check=check,
)
