"""What to do next, each step naming its queries. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from relgate.eval.review.advice import look_at, type_advice
from relgate.eval.review.losers import Loser, loser_of, losers
from relgate.eval.review.types import Evidence, RuleOutcome, Verdict

__all__ = ["recommended_actions"]

_SHOWN_LOSERS = 3
_NOTABLE_DROP = 0.05


def recommended_actions(
    verdict: Verdict, evidence: Evidence, outcomes: Sequence[RuleOutcome]
) -> tuple[str, ...]:
    """Steps in the order to take them; none for a clean approval.

    When no verdict can be given, only what would make one possible. A rule that could not run and
    so caps the verdict asks for its input.
    """
    if verdict is Verdict.APPROVE:
        return ()
    advice = [
        f.advice
        for outcome in outcomes
        for f in outcome.findings
        if f.advice is not None and f.severity is verdict
    ]
    if verdict is Verdict.REFUSE:
        return tuple(dict.fromkeys(map(_sentence, advice)))
    others = [
        f.advice
        for outcome in outcomes
        for f in outcome.findings
        if f.advice is not None and f.severity is not verdict
    ]
    lacking = [f"give {o.rule} its input: {o.summary}" for o in outcomes if o.cap is not None]
    steps = map(_sentence, [*advice, *others, *lacking])
    return tuple(dict.fromkeys([*_about_losers(evidence), *steps]))


def _sentence(advice: str) -> str:
    return f"{advice[0].upper()}{advice[1:]}."


def _about_losers(evidence: Evidence) -> Iterator[str]:
    named = _worth_naming(evidence)
    if not named:
        return
    yield from type_advice(evidence.change, named, evidence.titles)
    for loser in named:
        told = look_at(loser, evidence.titles)
        if told is not None:
            yield told
    names = ", ".join(f'"{loser.query.query.shown}"' for loser in named)
    yield (
        f"Explain the new ranks of {names} with Splainer "
        "(github.com/o19s/splainer-search), and judge doubtful documents in Quepid."
    )


def _worth_naming(evidence: Evidence) -> list[Loser]:
    """The few losers that fell far, head queries first."""
    worst = [q for q in losers(evidence) if q.delta < -_NOTABLE_DROP]
    ordered = sorted(worst, key=lambda q: not q.head)[:_SHOWN_LOSERS]
    return [loser_of(query, evidence.conventions) for query in ordered]
