"""R13: queries that find nothing, or next to nothing, which a mean hides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from relgate.eval.review.rules.base import Rule, failed, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import (
    TOLERANCE,
    Evidence,
    Finding,
    QueryEvidence,
    RuleOutcome,
    Side,
    Verdict,
)
from relgate.eval.wording import counted, named, percent

__all__ = ["RULE"]

_FEW = 3
_KINDS = (("no document", 1), ("fewer than three documents", _FEW))


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Holds the rise of the empty rate, and of the fewer-than-three rate, to its budgets.

    Both rates are over the queries whose documents both sides list: judged or not, with an ideal
    or without. A failed query is R12's. A query that is meant to be empty counts in neither rate,
    and an answer to it after the change is a finding.
    """
    listed = [q for q in evidence.queries if _lists(q.now)]
    answers = [q for q in listed if q.expects_empty and q.now.returned]
    rated = [q for q in listed if _lists(q.was) and not q.expects_empty]
    findings = [*_unwanted(answers), *_shadow(evidence)]
    if not rated and not findings:
        return not_checked("R13", "no query has its documents listed on both sides")
    lines: list[str] = []
    for what, least in _KINDS:
        was, now = (sum(side.returned < least for side in sides) for sides in _sides(rated))
        lines.append(f"{what}: {was} before, {now} after")
        findings.extend(_rise(rated, what, least, settings))
    line = f"of {counted(len(rated), 'query', 'queries')}, {'; '.join(lines)}"
    meant = sum(q.expects_empty for q in listed)
    line += f"; {meant} meant to be empty" if meant else ""
    return failed("R13", line, *findings) if findings else passed("R13", line)


def _lists(side: Side) -> bool:
    return side.listed and not side.absent and side.error is None


def _sides(queries: Sequence[QueryEvidence]) -> tuple[list[Side], list[Side]]:
    return [q.was for q in queries], [q.now for q in queries]


def _unwanted(queries: Sequence[QueryEvidence]) -> Iterator[Finding]:
    if queries:
        names = named([q.query.shown for q in queries])
        yield Finding(
            "R13",
            Verdict.NEEDS_WORK,
            f"{counted(len(queries), 'query', 'queries')} meant to be empty "
            f"{'finds' if len(queries) == 1 else 'find'} documents: {names}",
            {"unwanted": len(queries)},
            advice=f"look at which filter or condition no longer holds for {names}",
            queries=tuple(q.query.id for q in queries),
        )


def _shadow(evidence: Evidence) -> Iterator[Finding]:
    """A shadow query never gates by its grades; that it finds nothing any more is told."""
    for one in evidence.apart:
        if one.name == "shadow" and one.emptied:
            names = named(one.emptied)
            yield Finding(
                "R13",
                Verdict.NEEDS_WORK,
                f"{counted(len(one.emptied), 'shadow query', 'shadow queries')} found documents "
                f"before and nothing after: {names}",
                {"shadow_emptied": len(one.emptied)},
                advice=f"find out what emptied {names}",
            )


def _rise(
    queries: Sequence[QueryEvidence], what: str, least: int, settings: ReviewSettings
) -> Iterator[Finding]:
    if not queries:
        return
    was, now = (sum(s.returned < least for s in side) / len(queries) for side in _sides(queries))
    rise = now - was
    if rise <= settings.empty_soft_rise + TOLERANCE:
        return
    blocks = rise > settings.empty_hard_rise + TOLERANCE
    limit = settings.empty_hard_rise if blocks else settings.empty_soft_rise
    new = [q for q in queries if q.now.returned < least <= q.was.returned]
    names = named([q.query.shown for q in new])
    yield Finding(
        "R13",
        Verdict.BLOCK if blocks else Verdict.NEEDS_WORK,
        f"the share of queries with {what} rose {percent(was)} to {percent(now)} of "
        f"{len(queries)}; {percent(limit)} more is the budget; new: {names}",
        {"before": was, "after": now, "rise": rise, "budget": limit, "queries": len(queries)},
        advice=f"find out what emptied {names}",
        queries=tuple(q.query.id for q in new),
    )


RULE = Rule(
    id="R13",
    name="empties",
    asks=(
        "Did the share of queries with no document rise, or with fewer than three? Does a query "
        "meant to be empty find something?"
    ),
    default="rise 0.005 / 0.015; any unwanted answer",
    severity="NEEDS-WORK / BLOCK",
    source="G",
    unchecked="no documents listed on both sides: note",
    mend=(
        "look at the queries that came back empty: filters, analyzers and "
        "minimum-should-match are the usual causes"
    ),
    check=check,
)
