"""R3: every figure is a finite number. NaN never passes."""

from __future__ import annotations

from math import isfinite

from relgate.eval.review.rules.base import Rule, failed, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Evidence, Finding, QueryEvidence, RuleOutcome, Verdict
from relgate.eval.wording import counted, named

__all__ = ["RULE"]


def check(evidence: Evidence, _settings: ReviewSettings) -> RuleOutcome:
    """Refuses a mean that is not a number, and a query whose score is missing without a reason.

    A query without an ideal has no NDCG by definition and is reported apart: no finding.
    """
    findings = [
        Finding(
            "R3",
            Verdict.REFUSE,
            f"the mean of {a.name} is not a number: {a.before} before, {a.after} after",
            {"before": str(a.before), "after": str(a.after)},
            advice="look at why no query could be scored",
        )
        for a in evidence.aggregates
        if not (isfinite(a.before) and isfinite(a.after))
    ]
    lost = [q for q in evidence.queries if _unexplained(q)]
    if lost:
        findings.append(
            Finding(
                "R3",
                Verdict.REFUSE,
                f"{counted(len(lost), 'query has', 'queries have')} no finite score and no reason "
                f"for it: {named([q.query.shown for q in lost])}",
                {"queries": len(lost)},
                advice="run these queries again",
                queries=tuple(q.query.id for q in lost),
            )
        )
    findings += [
        Finding(
            "R3",
            Verdict.REFUSE,
            sentence,
            advice="save the response again; a file that contradicts itself proves nothing",
        )
        for sentence in evidence.contradictions
    ]
    scored = evidence.paired
    if scored and all(q.no_ideal for q in scored):
        findings.append(
            Finding(
                "R3",
                Verdict.REFUSE,
                f"none of the {len(scored)} scored queries has a judgment above grade 0, so no "
                "ranking of theirs could score above 0",
                {"queries": len(scored)},
                advice="judge documents that answer these queries",
            )
        )
    if findings:
        return failed("R3", "a figure is not a finite number, or contradicts its file", *findings)
    return passed("R3", f"all figures of {_scored(evidence)} are finite")


def _scored(evidence: Evidence) -> str:
    return counted(len(evidence.paired), "scored query", "scored queries")


def _unexplained(query: QueryEvidence) -> bool:
    if query.paired and isfinite(query.before) and isfinite(query.after):
        return False
    absent = query.was.absent or query.now.absent  # R2 has these
    return not (query.no_ideal or query.unjudged or absent)


RULE = Rule(
    id="R3",
    name="finite",
    asks="Is every figure a finite number?",
    default="-",
    severity="REFUSE",
    source="X",
    unchecked="-",
    mend=(
        "find where the figure that is no number comes from (a query without relevant "
        "judgments, an engine's division by zero), and save again"
    ),
    check=check,
)
