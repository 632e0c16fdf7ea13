"""R11: a filter change keeps its golden cases and its strategy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from relgate.eval.review.change import ChangeType
from relgate.eval.review.filters import CheckedCase
from relgate.eval.review.rules.base import Rule, failed, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.supplied import FilterStrategy, Observed
from relgate.eval.review.types import Evidence, Finding, RuleOutcome, Verdict
from relgate.eval.wording import counted

__all__ = ["RULE"]

_SHOWN = 5


def check(evidence: Evidence, _settings: ReviewSettings) -> RuleOutcome:
    """Blocks a case that broke or a strategy that changed unmeant; what is missing needs work.

    A case that did not hold before either is no regression: it needs work. One whose before side
    was not recorded, and that does not hold now, counts as broken.
    """
    change = evidence.change
    if change is None or ChangeType.FILTER_LOGIC not in change.types:
        return not_checked("R11", "no filter change")
    strategy, cases = change.filters or FilterStrategy(), evidence.filter_cases
    broken = [c for c in cases if c.held_after is False and c.held_before is not False]
    old = [c for c in cases if c.held_after is False and c.held_before is False]
    untold = [c for c in cases if c.held_after is None]
    held = len(cases) - len(broken) - len(old) - len(untold)
    findings = [
        *_broken(broken),
        *_strategy(strategy),
        *_cases_that(old, "did not hold before the change either", "mend or retire"),
        *_cases_that(untold, "cannot be told on the after side", "record hits and grades of"),
    ]
    if not cases:
        findings.append(_missing("no filter cases were given", "give filter_strategy.cases"))
    line = f"{held:,} of {counted(len(cases), 'filter case')} {'hold' if held != 1 else 'holds'}"
    line += f", strategy {strategy.before or '?'} to {strategy.after or '?'}"
    return failed("R11", line, *findings) if findings else passed("R11", line)


def _missing(message: str, advice: str) -> Finding:
    return Finding("R11", Verdict.NEEDS_WORK, message, advice=advice)


def _broken(cases: Sequence[CheckedCase]) -> Iterator[Finding]:
    if cases:
        yield Finding(
            "R11",
            Verdict.BLOCK,
            f"{counted(len(cases), 'filter case')} broke: {_listed(cases)}",
            {"broken": len(cases)},
            advice=f"restore what the filter let through: {_listed(cases)}",
            queries=tuple(dict.fromkeys(c.case.query for c in cases)),
        )


def _cases_that(cases: Sequence[CheckedCase], what: str, mend: str) -> Iterator[Finding]:
    if cases:
        yield _missing(
            f"{counted(len(cases), 'filter case')} {what}: {_listed(cases)}",
            f"{mend} {_listed(cases)}",
        )


def _listed(cases: Sequence[CheckedCase]) -> str:
    shown = "; ".join(
        f"{c.shown} (expected {c.case.expect}, {_seen(c.case.before)} before, "
        f"{_seen(c.case.after)} after)"
        for c in cases[:_SHOWN]
    )
    more = len(cases) - _SHOWN
    return f"{shown}; and {more:,} more" if more > 0 else shown


def _seen(observed: Observed | None) -> str:
    return "not recorded" if observed is None else counted(observed.hits, "hit")


def _strategy(strategy: FilterStrategy) -> Iterator[Finding]:
    before, after = strategy.before, strategy.after
    if before is None or after is None:
        yield _missing(
            "the filter strategy (pre or post) is not stated on both sides",
            "state filter_strategy.before and filter_strategy.after",
        )
    elif before.casefold() != after.casefold() and not strategy.intended:
        yield Finding(
            "R11",
            Verdict.BLOCK,
            f"the filter strategy changed from {before} to {after} without intent; filtering "
            "after the search loses recall@k",
            {"before": before, "after": after},
            advice="keep the strategy, or say filter_strategy.intended = true and show recall@k",
        )


RULE = Rule(
    id="R11",
    name="filters",
    asks="For a filter change: do its golden cases hold, and is its strategy kept or intended?",
    default="all",
    severity="BLOCK when broken, NEEDS-WORK when missing",
    source="R",
    unchecked="no filter change: note",
    mend=(
        "mend the filter or the case; record what each filter case returns on both sides; "
        "say intended = true when the strategy is meant to change"
    ),
    check=check,
)
