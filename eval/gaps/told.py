"""Says in a review what a verdict-driven fill left open, and why that was safe. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from relgate.eval.bounds.rules import Standing
from relgate.eval.gaps.doubt import DoubtedJudge
from relgate.eval.gaps.fill_open import OpenFacts
from relgate.eval.review.types import Review, RuleOutcome, RuleState, Verdict
from relgate.eval.wording import counted, percent

__all__ = ["open_fill_lines", "with_open_facts"]

_SHOWN = 5


def open_fill_lines(facts: OpenFacts) -> tuple[str, ...]:
    """How many grades were saved and why it was safe to stop; or what is still open."""
    return (*_lines(facts), *_doubt_lines(facts))


def _lines(facts: OpenFacts) -> Iterator[str]:
    if not facts.pairs:
        yield "no document within k is open to a judge, so there was nothing to fill"
    elif facts.settled:
        yield _settled(facts)
    elif facts.left:
        yield _unsettled(facts)
    else:
        yield f"all {facts.pairs} gaps within k were put to the judge: none could be spared"
    deciding = [s.rule for s in facts.standings if s.least is facts.least]
    if facts.settled and facts.left and facts.least is not Verdict.APPROVE:
        yield f"what makes it {facts.least.word} for every fill: {', '.join(deciding)}"
    if not facts.exact:
        yield "some bounds are outer ones, not proven to be reached: more may be open than need be"


def _settled(facts: OpenFacts) -> str:
    verdict = facts.least.word
    if not facts.left:
        return f"all {facts.pairs} gaps within k were put to the judge: none could be spared"
    if not facts.waves:
        return (
            f"no grade was needed: whatever the {_documents(facts.pairs)} unrated within k are "
            f"worth, the verdict is {verdict} by its exact bounds; {facts.pairs} grades saved "
            "against --fill top-k"
        )
    return (
        f"{facts.asked} of {facts.pairs} gaps within k were put to the judge, in "
        f"{counted(facts.waves, 'wave')}; then the verdict was settled: whatever the other "
        f"{facts.left} are worth, it is {verdict}; {facts.left} grades saved against "
        "--fill top-k"
    )


def _unsettled(facts: OpenFacts) -> str:
    open_ = _some([(gap.query.shown, len(gap.doc_ids)) for gap in facts.open])
    return (
        f"the judge stopped after {facts.asked} of {facts.pairs} gaps within k, and the verdict "
        f"is {_between(facts)}: {', '.join(facts.open_rules)} can still turn; still to grade: "
        f"{open_}"
    )


def _between(facts: OpenFacts) -> str:
    return f"open between {facts.least.word} and {facts.most.word}"


def _some(queries: list[tuple[str, int]]) -> str:
    names = [f'"{text}" ({n})' for text, n in queries[:_SHOWN]]
    more = f" and {len(queries) - _SHOWN} more" if len(queries) > _SHOWN else ""
    return ", ".join(names) + more


def _doubt_lines(facts: OpenFacts) -> Iterator[str]:
    """What the judges may have got wrong, and whether it matters."""
    error = facts.judge_error
    if error is None:
        return
    of = f"of {_documents(facts.doubted)} graded by a judge more than one grade is possible"
    if not facts.doubted:
        yield "judge error: by its certificates no judge got a grade of this review wrong"
    elif facts.settled:
        yield f"judge error: {of}, and the verdict is {facts.least.word} for all of them"
    else:
        listed = _some([(query.shown, len(docs)) for query, docs in facts.doubtful])
        tail = f"; for people to grade: {listed}" if listed else ""
        yield (
            f"judge error: {of}, and the verdict is {_between(facts)} "
            f"({', '.join(facts.open_rules)}){tail}"
        )
    yield from (_sets(judge, error.level) for judge in error.judges.values())


def _sets(judge: DoubtedJudge, level: float) -> str:
    kept = "; ".join(
        f"{grade}: {', '.join(map(str, grades))}" for grade, grades in enumerate(judge.possible)
    )
    return (
        f"judge error: where {judge.version} gives a grade, these of people's stay possible: "
        f"{kept}; each holds {percent(level)} of them in its certificate "
        f"({counted(judge.labels, 'label')}), by itself and not for all documents at once"
    )


def with_open_facts(done: Review, facts: OpenFacts) -> Review:
    """The review with what is open in its rules, and no approval while the verdict is open."""
    by_rule = {s.rule: s for s in facts.standings}
    outcomes = tuple(_told(o, by_rule.get(o.rule), facts) for o in done.outcomes)
    if facts.settled or done.verdict is Verdict.REFUSE:
        return replace(done, outcomes=outcomes)
    return replace(
        done,
        outcomes=outcomes,
        verdict=max(done.verdict, Verdict.NEEDS_WORK),
        headline=(
            f"the verdict is {_between(facts)}, since {_cause(facts)}; on the grades so far: "
            f"{done.headline}"
        ),
        actions=(*_actions(facts), *done.actions),
    )


def _cause(facts: OpenFacts) -> str:
    causes = [f"{_documents(facts.left)} are not graded"] if facts.left else []
    if facts.doubted:
        causes.append(f"the judge may have got {_documents(facts.doubted)} wrong")
    return " and ".join(causes)


def _actions(facts: OpenFacts) -> Iterator[str]:
    if facts.open:
        yield (
            f"Grade the {_documents(sum(len(g.doc_ids) for g in facts.open))} that can still "
            "change the verdict: run again with a larger budget; what was graded is kept."
        )
    if facts.doubtful:
        docs = sum(len(docs) for _, docs in facts.doubtful)
        first, shown = facts.doubtful[0]
        yield (
            f"Have people grade the {_documents(docs)} whose grade by the judge can be wrong "
            f'enough to change the verdict, "{first.shown}" first: {", ".join(shown[:_SHOWN])}'
        )


def _told(outcome: RuleOutcome, standing: Standing | None, facts: OpenFacts) -> RuleOutcome:
    if standing is None or not (facts.left or facts.doubted):
        return outcome
    if outcome.rule == "R8":
        return _about_unrated(outcome, facts) if facts.left else outcome
    if not standing.open:
        return outcome
    causes = [f"grades of the {_documents(facts.left)} left"] if facts.left else []
    causes += [f"errors of the judge's on {facts.doubted}"] if facts.doubted else []
    tail = "the rule, not the verdict" if facts.settled else "the rule"
    said = f"{outcome.summary}; not final: {' or '.join(causes)} could change {tail}"
    return replace(outcome, summary=said)


def _about_unrated(outcome: RuleOutcome, facts: OpenFacts) -> RuleOutcome:
    left = _documents(facts.left)
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
