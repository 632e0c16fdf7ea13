"""R6: the queries that must not suffer."""

from __future__ import annotations

from relgate.eval.review.rules.base import Rule, failed, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import (
    TOLERANCE,
    Basis,
    Evidence,
    Finding,
    QueryEvidence,
    RuleOutcome,
    Verdict,
)
from relgate.eval.wording import counted, named

__all__ = ["RULE"]


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Fails for each head query that dropped, fell out of the top ranks or cannot be scored.

    Critical queries are held to the ranks and to being scored. Where the files list no documents
    there are no ranks, and a critical query is held to the drop instead.
    """
    if not evidence.has_heads:
        return not_checked("R6", "no head or critical queries were given")
    marked = [q for q in evidence.queries if q.head or q.critical]
    if not marked and not evidence.heads_missing:
        return not_checked("R6", "the list of head or critical queries names no query")
    ranked = evidence.basis is Basis.RECOMPUTED
    found = [
        *(_drop(q, settings) for q in marked if q.head or not ranked),
        *(_fell_out(q, settings) for q in marked),
        _unscored([q.query.shown for q in marked if not q.paired], evidence.heads_missing),
    ]
    findings = [f for f in found if f is not None]
    line = f"{_marked(sum(q.paired for q in marked))} scored on both sides"
    if not ranked:
        line += "; ranks not looked at, since the scores are those given in the files"
    return failed("R6", line, *findings) if findings else passed("R6", f"{line}, none suffered")


def _marked(n: int) -> str:
    return counted(n, "head or critical query", "head or critical queries")


def _unscored(unscored: list[str], missing: tuple[str, ...]) -> Finding | None:
    lost = [*unscored, *missing]
    if not lost:
        return None
    return Finding(
        "R6",
        Verdict.NEEDS_WORK,
        f"{_marked(len(lost))} could not be scored on both sides: {named(lost)}",
        {"unscored": len(unscored), "not_in_the_runs": len(missing)},
        advice="replay and judge every head query",
    )


def _drop(query: QueryEvidence, settings: ReviewSettings) -> Finding | None:
    if not query.delta < -settings.head_drop - TOLERANCE:
        return None
    return Finding(
        "R6",
        Verdict.NEEDS_WORK,
        f"{_called(query)} dropped {query.before:.2f} to {query.after:.2f} "
        f"({query.delta:+.2f}); at most {settings.head_drop:g} is allowed",
        {"before": query.before, "after": query.after, "delta": query.delta},
        queries=(query.query.id,),
    )


def _called(query: QueryEvidence) -> str:
    return f'{"head" if query.head else "critical"} query "{query.query.shown}"'


def _fell_out(query: QueryEvidence, settings: ReviewSettings) -> Finding | None:
    before, after = query.was.best_rank, query.now.best_rank
    if before is None or before > settings.top_rank:
        return None
    if after is not None and after <= settings.top_rank:
        return None
    place = "out of the list" if after is None else f"at rank {after}"
    return Finding(
        "R6",
        Verdict.NEEDS_WORK,
        f"the best document of {_called(query)} was at rank {before} and is now "
        f"{place}; it must stay within the top {settings.top_rank}",
        {"rank_before": before, "rank_after": after},
        queries=(query.query.id,),
    )


RULE = Rule(
    id="R6",
    name="head",
    asks=(
        "Did a head query drop, or the best document of a head or critical query leave the top 3?"
    ),
    default="> 0.05; top 3",
    severity="NEEDS-WORK",
    source="R, G",
    unchecked="no head list: note",
    mend=(
        "see what took the place of the best document; head queries are named by "
        "--head-query, the change description or the query table"
    ),
    check=check,
)
