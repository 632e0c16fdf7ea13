"""R9: recall that costs too much time."""

from __future__ import annotations

from math import isfinite

from relgate.eval.review.change import ChangeType
from relgate.eval.review.rules.base import Rule, failed, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.supplied import Latency, Percentiles
from relgate.eval.review.types import TOLERANCE, Evidence, Finding, RuleOutcome, Verdict
from relgate.eval.wording import beside

__all__ = ["RULE"]

_VECTOR = frozenset({ChangeType.EMBEDDING_MODEL, ChangeType.HNSW_PARAMS})
_ABSENT = Percentiles()
_SAMPLES_FOR_P99 = 100
"""Of fewer samples, the 99th percentile is next to the slowest one."""


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Blocks a p95 that rose beyond its ratio, and a p99 beyond its ceiling.

    Each half is judged when it is there. A half that is absent leaves the rule unchecked, unless
    the other half fails. A figure that is not a finite number refuses.
    """
    change = evidence.change
    vector = change is not None and not _VECTOR.isdisjoint(change.types)
    cap = Verdict.NEEDS_WORK if vector else None
    if change is None or change.latency is None:
        return not_checked("R9", "no latency was given", cap=cap)
    before, after = change.latency.before or _ABSENT, change.latency.after or _ABSENT
    line = _line(before, after)
    if unreadable := _unreadable(change.latency):
        return failed("R9", line, unreadable)
    found = [_slower(before, after, settings), _over_the_ceiling(after, settings)]
    if findings := [f for f in found if f is not None]:
        return failed("R9", line, *findings)
    if absent := _lacking(before, after):
        return not_checked("R9", f"{line}; {', '.join(absent)} not given", cap=cap)
    return passed("R9", line, *_few_samples(after))


def _line(before: Percentiles, after: Percentiles) -> str:
    parts = [
        f"{name} {_ms(was)} to {_ms(now)}"
        for name, was, now in (
            ("p50", before.p50_ms, after.p50_ms),
            ("p95", before.p95_ms, after.p95_ms),
            ("p99", before.p99_ms, after.p99_ms),
        )
        if was is not None or now is not None
    ]
    return ", ".join(parts) or "no percentile was given"


def _ms(value: float | None) -> str:
    return "?" if value is None else f"{value:.1f} ms"


def _lacking(before: Percentiles, after: Percentiles) -> list[str]:
    needed = {
        "p95 before": before.p95_ms,
        "p95 after": after.p95_ms,
        "p99 after": after.p99_ms,
    }
    return [name for name, value in needed.items() if value is None]


def _unreadable(latency: Latency) -> Finding | None:
    figures = {
        f"{name} {side}": value
        for side, given in (("before", latency.before), ("after", latency.after))
        if given is not None
        for name, value in (("p50", given.p50_ms), ("p95", given.p95_ms), ("p99", given.p99_ms))
    }
    bad = [name for name, value in figures.items() if value is not None and not isfinite(value)]
    if not bad:
        return None
    return Finding(
        "R9",
        Verdict.REFUSE,
        f"latency is not a finite number: {', '.join(bad)}",
        {name: str(figures[name]) for name in bad},
        advice="measure latency again",
    )


def _slower(before: Percentiles, after: Percentiles, settings: ReviewSettings) -> Finding | None:
    was, now, ratio = before.p95_ms, after.p95_ms, settings.max_p95_ratio
    if was is None or now is None or now <= was * ratio + TOLERANCE:
        return None
    return Finding(
        "R9",
        Verdict.BLOCK,
        f"p95 latency regressed {was:.1f} ms to {beside(now, was * ratio, 1)} ms; at most "
        f"{beside(was * ratio, now, 1)} ms (x {ratio:g}) is allowed",
        {"p95_before_ms": was, "p95_after_ms": now, "max_ratio": ratio},
        advice="win the time back (ef, m, candidates, a cheaper stage), or do not merge",
    )


def _over_the_ceiling(after: Percentiles, settings: ReviewSettings) -> Finding | None:
    p99, ceiling = after.p99_ms, settings.max_p99_ms
    if p99 is None or p99 <= ceiling + TOLERANCE:
        return None
    return Finding(
        "R9",
        Verdict.BLOCK,
        f"p99 latency {beside(p99, ceiling, 1)} ms exceeds the {ceiling:g} ms ceiling",
        {"p99_after_ms": p99, "ceiling_ms": ceiling},
        advice="look at the slowest queries, or set the ceiling that this service has",
    )


def _few_samples(after: Percentiles) -> list[Finding]:
    if after.samples is None or after.samples >= _SAMPLES_FOR_P99:
        return []
    note = f"p99 after rests on {after.samples} samples; it is little more than the slowest one"
    return [Finding("R9", Verdict.APPROVE, note, {"samples": after.samples})]


RULE = Rule(
    id="R9",
    name="latency",
    asks="Did p95 rise too far, or does p99 exceed its ceiling, after?",
    default="p95 x 1.20; p99 100 ms",
    severity="BLOCK; REFUSE for a figure that is not a number",
    source="R",
    unchecked="embedding-model and hnsw-params: cap NEEDS-WORK; else note",
    mend=(
        "measure both sides again under the same load; then lower ef or the depth, or "
        "give the change up"
    ),
    check=check,
)
