"""Says in a review what a verdict-driven fill left open, and why that was safe. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from relgate.eval.bounds.rules import Standing
from relgate.eval.gaps.fill_open import OpenFacts
from relgate.eval.review.rules.base import counted
from relgate.eval.review.types import Review, RuleOutcome, RuleState, Verdict

__all__ = ["open_fill_lines", "with_open_facts"]

_SHOWN = 5


def open_fill_lines(facts: OpenFacts) -> tuple[str, ...]:
    """How many grades were saved and why it was safe to stop; or what is still open."""
    return tuple(_lines(facts))


def _lines(facts: OpenFacts) -> Iterator[str]:
    verdict = facts.least.word
    if not facts.pairs:
        yield "no document within k is open to a judge, so there was nothing to fill"
    elif facts.settled and not facts.left:
        yield f"all {facts.pairs} gaps within k were put to the judge: none could be spared"
    elif facts.settled and not facts.waves:
        yield (
            f"no grade was needed: whatever the {_documents(facts.pairs)} unrated within k are "
            f"worth, the verdict is {verdict} by its exact bounds; {facts.pairs} grades saved "
            "against --fill top-k"
        )
    elif facts.settled:
        yield (
            f"{facts.asked} of {facts.pairs} gaps within k were put to the judge, in "
            f"{counted(facts.waves, 'wave')}; then the verdict was settled: whatever the other "
            f"{facts.left} are worth, it is {verdict}; {facts.left} grades saved against "
            "--fill top-k"
        )
    else:
        yield _unsettled(facts)
    deciding = [s.rule for s in facts.standings if s.least is facts.least]
    if facts.settled and facts.left and facts.least is not Verdict.APPROVE:
        yield f"what makes it {verdict} for every fill: {', '.join(deciding)}"
    if not facts.exact:
        yield "some bounds are outer ones, not proven to be reached: more may be open than need be"


def _unsettled(facts: OpenFacts) -> str:
    names = [f'"{gap.query.shown}" ({len(gap.doc_ids)})' for gap in facts.open]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (
        f"the judge stopped after {facts.asked} of {facts.pairs} gaps within k, and the verdict "
        f"is open between {facts.least.word} and {facts.most.word}: "
        f"{', '.join(facts.open_rules)} can still turn; still to grade: "
        f"{', '.join(names[:_SHOWN])}{more}"
    )


def with_open_facts(done: Review, facts: OpenFacts) -> Review:
    """The review with what is open in its rules, and no approval while the verdict is open."""
    by_rule = {s.rule: s for s in facts.standings}
    outcomes = tuple(_told(o, by_rule.get(o.rule), facts) for o in done.outcomes)
    if facts.settled or done.verdict is Verdict.REFUSE:
        return replace(done, outcomes=outcomes)
    grade = (
        f"Grade the {_documents(sum(len(g.doc_ids) for g in facts.open))} that can still change "
        "the verdict: run again with a larger budget; what was graded is kept."
    )
    return replace(
        done,
        outcomes=outcomes,
        verdict=max(done.verdict, Verdict.NEEDS_WORK),
        headline=(
            f"the verdict is open between {facts.least.word} and {facts.most.word}, since "
            f"{_documents(facts.left)} are not graded; on the grades so far: {done.headline}"
        ),
        actions=(grade, *done.actions),
    )


def _told(outcome: RuleOutcome, standing: Standing | None, facts: OpenFacts) -> RuleOutcome:
    if not facts.left or standing is None:
        return outcome
    left = _documents(facts.left)
    if outcome.rule == "R8":
        return _about_unrated(outcome, facts, left)
    if not standing.open:
        return outcome
    tail = "the rule, not the verdict" if facts.settled else "the rule"
    said = f"{outcome.summary}; not final: grades of the {left} left could change {tail}"
    return replace(outcome, summary=said)


def _about_unrated(outcome: RuleOutcome, facts: OpenFacts, left: str) -> RuleOutcome:
    if facts.settled:
        said = f"{outcome.summary}; {left} left ungraded do not count, since no grade of theirs"
        return replace(outcome, summary=f"{said} can change the verdict")
    if outcome.state is not RuleState.PASSED:
        return outcome
    rules = ", ".join(facts.open_rules)
    said = f"{outcome.summary}; but grades of {left} can still change {rules}"
    return replace(outcome, state=RuleState.NOT_CHECKED, summary=said, cap=Verdict.NEEDS_WORK)


def _documents(n: int) -> str:
    return counted(n, "document")
