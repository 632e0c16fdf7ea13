"""R12: queries that the change broke outright."""

from __future__ import annotations

from collections.abc import Iterator

from relgate.eval.review.rules.base import Rule, failed, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Evidence, Finding, QueryEvidence, RuleOutcome, Verdict
from relgate.eval.wording import counted, named

__all__ = ["RULE"]

_SHOWN = 5


def check(evidence: Evidence, _settings: ReviewSettings) -> RuleOutcome:
    """Blocks when a query answered before and fails after; its after score counts as 0.

    A query that failed before has no score to compare with: its 0 makes any after score a gain.
    """
    broken = [q for q in evidence.queries if q.now.error is not None and q.was.error is None]
    unknown = [q for q in evidence.queries if q.was.error is not None]
    line = f"{_fail(len(broken)) if broken else 'no queries fail'} that answered before"
    if unknown:
        mended = sum(q.now.error is None for q in unknown)
        line += f"; {len(unknown)} failed before, {mended} of them answering now"
    findings = [*_broken(broken), *_unknown(unknown)]
    return failed("R12", line, *findings) if findings else passed("R12", line)


def _broken(queries: list[QueryEvidence]) -> Iterator[Finding]:
    if queries:
        yield Finding(
            "R12",
            Verdict.BLOCK,
            f"{_fail(len(queries))} after the change: {_with_errors(queries)}",
            {"failed": len(queries)},
            advice=f"mend the failing queries first: {named([q.query.shown for q in queries])}",
            queries=tuple(q.query.id for q in queries),
        )


def _unknown(queries: list[QueryEvidence]) -> Iterator[Finding]:
    if queries:
        names = named([q.query.shown for q in queries])
        yield Finding(
            "R12",
            Verdict.NEEDS_WORK,
            f"{counted(len(queries), 'query', 'queries')} failed before the change, so what "
            f"it does there is not known, and the 0 it counts as flatters the after side: {names}",
            {"failed_before": len(queries)},
            advice=f"run the before side again for {names}",
            queries=tuple(q.query.id for q in queries),
        )


def _fail(n: int) -> str:
    return counted(n, "query fails", "queries fail")


def _with_errors(broken: list[QueryEvidence]) -> str:
    shown = "; ".join(f'"{q.query.shown}" ({_drop(q)}{q.now.error})' for q in broken[:_SHOWN])
    more = len(broken) - _SHOWN
    return f"{shown}; and {more:,} more" if more > 0 else shown


def _drop(query: QueryEvidence) -> str:
    return f"a drop of {-query.delta:.2f}: " if query.paired else ""


RULE = Rule(
    id="R12",
    name="failures",
    asks="Does a query fail after that answered before, or did it fail before?",
    default="any",
    severity="BLOCK; NEEDS-WORK for queries that failed before",
    source="X",
    unchecked="note",
    mend="mend the queries that fail: the error beside each is the engine's own",
    check=check,
)
