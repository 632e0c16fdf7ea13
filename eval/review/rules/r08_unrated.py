"""R8: whether the judgments still know what the search returns."""

from __future__ import annotations

from relgate.eval.review.rules.base import Rule, failed, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import TOLERANCE, Evidence, Finding, RuleOutcome, Verdict
from relgate.eval.wording import counted, percent

__all__ = ["RULE"]


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Refuses when too many queries of the after side have most of their top k unrated.

    The share is of the documents returned, at most k: 3 unrated of 3 is all of them. Queries of
    which the file does not tell count as rated, so that what is known may already be too much.
    A recall@k report has no unrated documents: that it lists none holds nothing back.
    """
    sides = [q.now for q in evidence.queries if q.now.answered]
    if not sides:
        return not_checked(
            "R8", "no query returned a document on the after side", cap=Verdict.NEEDS_WORK
        )
    stale = sum(side.mostly_unrated(settings.mostly_unrated) for side in sides)
    share = stale / len(sides)
    line = (
        f"{stale:,} of {counted(len(sides), 'query', 'queries')} ({percent(share)}) have more than "
        f"{percent(settings.mostly_unrated)} of their top {evidence.conventions.k} unrated"
    )
    if share <= settings.max_stale_share + TOLERANCE:
        untold = sum(not side.unrated_known for side in sides)
        if evidence.gives_recall and untold == len(sides):
            return not_checked("R8", "recall against known neighbours: no document is unrated")
        if not untold:
            return passed("R8", line)
        return not_checked(
            "R8",
            f"of {untold:,} of {counted(len(sides), 'query', 'queries')} the files do not say "
            "which documents are unrated",
            cap=Verdict.NEEDS_WORK,
        )
    return failed(
        "R8",
        line,
        Finding(
            "R8",
            Verdict.REFUSE,
            f"{line}: the judgment list is stale; {percent(settings.max_stale_share)} is the limit",
            {"mostly_unrated": stale, "queries": len(sides), "share": share},
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
    unchecked="cap NEEDS-WORK; recall@k reports: note",
    mend=(
        "have the unrated documents graded: relgate review --judge J --fill, or by "
        "people: relgate sample"
    ),
    check=check,
)
