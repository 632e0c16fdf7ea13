"""R12: queries that the change broke outright."""

from __future__ import annotations

from relgate.eval.review.rules.base import Rule, failed, named, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Evidence, Finding, QueryEvidence, RuleOutcome, Verdict

__all__ = ["RULE"]


def check(evidence: Evidence, _settings: ReviewSettings) -> RuleOutcome:
    """Blocks when a query answered before and fails after; its after score counts as 0."""
    broken = [q for q in evidence.queries if q.now.error is not None and q.was.error is None]
    both = [q for q in evidence.queries if q.now.error is not None and q.was.error is not None]
    mended = [q for q in evidence.queries if q.was.error is not None and q.now.error is None]
    tail = f"; {len(both)} fail on both sides" if both else ""
    tail += f"; {len(mended)} failed before and answer now" if mended else ""
    if not broken:
        return passed("R12", f"no query fails that answered before{tail}")
    return failed(
        "R12",
        f"{len(broken)} queries fail that answered before{tail}",
        Finding(
            "R12",
            Verdict.BLOCK,
            f"{len(broken)} queries fail after the change: {_with_errors(broken)}",
            {"failed": len(broken)},
            advice=f"mend the failing queries first: {named([q.query.shown for q in broken])}",
            queries=tuple(q.query.id for q in broken),
        ),
    )


def _with_errors(broken: list[QueryEvidence]) -> str:
    return "; ".join(f'"{q.query.shown}" ({_drop(q)}{q.now.error})' for q in broken[:5])


def _drop(query: QueryEvidence) -> str:
    return f"a drop of {-query.delta:.2f}: " if query.paired else ""


RULE = Rule(
    id="R12",
    name="failures",
    asks="Does a query fail after that answered before?",
    default="any",
    severity="BLOCK",
    source="X",
    unchecked="note",
    check=check,
)
