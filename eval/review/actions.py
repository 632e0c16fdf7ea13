"""What to do next, each step naming its queries. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from relgate.eval.lists.types import Source, match_key
from relgate.eval.review.change import ChangeType
from relgate.eval.review.types import (
    TOLERANCE,
    Evidence,
    QueryEvidence,
    RankedDoc,
    RuleOutcome,
    Verdict,
)

__all__ = ["losers", "recommended_actions", "winners"]

_SHOWN_LOSERS = 3
_SHOWN_DOCS = 3
_NOTABLE_DROP = 0.05


def losers(evidence: Evidence) -> list[QueryEvidence]:
    """Queries that got worse, worst first; of equal drops, in the runs' order."""
    return sorted((q for q in evidence.paired if q.delta < -TOLERANCE), key=lambda q: q.delta)


def winners(evidence: Evidence) -> list[QueryEvidence]:
    """Queries that got better, best first."""
    return sorted((q for q in evidence.paired if q.delta > TOLERANCE), key=lambda q: -q.delta)


def recommended_actions(
    verdict: Verdict, evidence: Evidence, outcomes: Sequence[RuleOutcome]
) -> tuple[str, ...]:
    """Steps in the order to take them; none for a clean approval.

    When no verdict can be given, only what would make one possible. A rule that could not run and
    so caps the verdict asks for its input.
    """
    if verdict is Verdict.APPROVE:
        return ()
    advice = [
        f.advice
        for outcome in outcomes
        for f in outcome.findings
        if f.advice is not None and f.severity is verdict
    ]
    if verdict is Verdict.REFUSE:
        return tuple(dict.fromkeys(map(_sentence, advice)))
    others = [
        f.advice
        for outcome in outcomes
        for f in outcome.findings
        if f.advice is not None and f.severity is not verdict
    ]
    lacking = [f"give {o.rule} its input: {o.summary}" for o in outcomes if o.cap is not None]
    steps = map(_sentence, [*advice, *others, *lacking])
    return tuple(dict.fromkeys([*_about_losers(evidence), *steps]))


def _sentence(advice: str) -> str:
    return f"{advice[0].upper()}{advice[1:]}."


def _about_losers(evidence: Evidence) -> Iterator[str]:
    worst = [q for q in losers(evidence) if q.delta < -_NOTABLE_DROP]
    ordered = sorted(worst, key=lambda q: not q.head)[:_SHOWN_LOSERS]
    if not ordered:
        return
    names = ", ".join(f'"{q.query.shown}"' for q in ordered)
    types = evidence.change.types if evidence.change is not None else ()
    if ChangeType.SYNONYMS in types:
        yield (
            f"Make the synonyms that touch {names} one-way (specific to general) instead of "
            "two-way, then test again against the same judgments."
        )
    for query in ordered:
        pushed = _pushed_in(query, evidence.titles)
        if pushed:
            yield (
                f'Look at what came into the top of "{query.query.shown}" '
                f"({query.before:.2f} to {query.after:.2f}): {pushed}."
            )
    yield (
        f"Explain the new ranks of {names} with Splainer "
        "(github.com/o19s/splainer-search), and judge doubtful documents in Quepid."
    )


def _pushed_in(query: QueryEvidence, titles: Mapping[str, str]) -> str:
    old = {match_key(doc.doc_id) for doc in query.was.top}
    new = [
        (rank, doc)
        for rank, doc in enumerate(query.now.top, start=1)
        if match_key(doc.doc_id) not in old
    ]
    weak = sorted(new, key=lambda x: (-1 if x[1].grade is None else x[1].grade, x[0]))
    return ", ".join(
        f"{_named(d, titles)} at rank {rank} ({_grade(d)})" for rank, d in weak[:_SHOWN_DOCS]
    )


def _named(doc: RankedDoc, titles: Mapping[str, str]) -> str:
    title = titles.get(doc.doc_id)
    return doc.doc_id if title is None else f'{doc.doc_id} "{title}"'


def _grade(doc: RankedDoc) -> str:
    if doc.grade is None:
        return "unrated"
    made = ", by a judge" if doc.source is Source.JUDGE else ""
    return f"grade {doc.grade}{made}"
