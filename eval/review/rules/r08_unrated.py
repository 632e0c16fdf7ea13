"""R8: whether the judgments still know what the search returns."""

from __future__ import annotations

from relgate.eval.review.rules.base import Rule, failed, not_checked, passed, percent
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import TOLERANCE, Evidence, Finding, RuleOutcome, Verdict

__all__ = ["RULE"]


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Refuses when too many queries of the after side have most of their top k unrated.

    The share is of the documents returned, at most k: 3 unrated of 3 is all of them.
    """
    unrated = evidence.coverage.now
    k = evidence.conventions.k
    if not unrated.known:
        return not_checked(
            "R8", "the files do not say which documents are unrated", cap=Verdict.NEEDS_WORK
        )
    if not unrated.queries:
        return not_checked(
            "R8", "no query returned a document on the after side", cap=Verdict.NEEDS_WORK
        )
    line = (
        f"{unrated.mostly} of {unrated.queries} queries ({percent(unrated.share_mostly)}) have "
        f"more than {percent(settings.mostly_unrated)} of their top {k} unrated"
    )
    if unrated.share_mostly <= settings.max_stale_share + TOLERANCE:
        return passed("R8", line)
    return failed(
        "R8",
        line,
        Finding(
            "R8",
            Verdict.REFUSE,
            f"{line}: the judgment list is stale; {percent(settings.max_stale_share)} is the limit",
            {
                "mostly_unrated": unrated.mostly,
                "queries": unrated.queries,
                "share": unrated.share_mostly,
            },
            advice=(
                "refresh the judgments: grade the unrated documents (review --judge ... --fill), "
                "or have people label them"
            ),
        ),
    )


RULE = Rule(
    id="R8",
    name="unrated",
    asks="What share of queries has more than half of its top k unrated, after?",
    default="> 30 %",
    severity="REFUSE",
    source="R",
    unchecked="cap NEEDS-WORK",
    check=check,
)
