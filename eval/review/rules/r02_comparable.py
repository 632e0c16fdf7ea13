"""R2: both sides were measured the same way, on the same queries."""

from __future__ import annotations

from relgate.eval.review.rules.base import Rule, failed, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import (
    Basis,
    Evidence,
    Finding,
    QueryEvidence,
    RuleOutcome,
    Verdict,
)
from relgate.eval.wording import counted, named

__all__ = ["RULE"]

_ROUNDING = 1e-6
"""Two engines, or one by other threads, may round apart by less."""

_MIN_CUT_QUERIES = 10
"""Fewer lists that end at one depth may do so by chance."""


def check(evidence: Evidence, _settings: ReviewSettings) -> RuleOutcome:
    """Refuses differing settings, query ids or depths, and a before side that is no baseline.

    A query that moved to the failures of the other side is not R2's but R12's.
    """
    findings = [
        *_settings_that_differ(evidence),
        *_queries_that_differ(evidence),
        *_depths_that_differ(evidence),
        *_no_baseline(evidence),
        *_ratings_that_differ(evidence),
        *_one_list_two_scores(evidence),
    ]
    if findings:
        return failed("R2", "the two sides are not comparable", *findings)
    line = f"{counted(len(evidence.queries), 'query id')} on both sides"
    both = sorted(k for k in evidence.settings_before if k in evidence.settings_after)
    if both:
        line += f"; the files agree on {', '.join(both)}"
    elif evidence.basis is Basis.GIVEN:
        line += "; the metric's settings were not compared: the files do not state them"
    if any(q.now.top for q in evidence.queries) and all(_same(q) for q in evidence.queries):
        line += "; both sides list the same documents in the same order for every query"
    return passed("R2", line)


def _same(query: QueryEvidence) -> bool:
    return query.was.top == query.now.top


def _depths_that_differ(evidence: Evidence) -> list[Finding]:
    """One side was cut above k: what it lacks below its cut would count against it."""
    before = [len(q.was.top) for q in evidence.queries if q.was.top]
    after = [len(q.now.top) for q in evidence.queries if q.now.top]
    if not (before and after) or max(before) == max(after):
        return []
    shallow = min(before, after, key=max)
    if len(shallow) < _MIN_CUT_QUERIES or 2 * shallow.count(max(shallow)) < len(shallow):
        return []  # lists of many lengths were not cut, they ended
    return [
        Finding(
            "R2",
            Verdict.REFUSE,
            f"the two sides were cut at different depths: the before side lists at most "
            f"{max(before)} documents a query, the after side {max(after)}",
            {"before": max(before), "after": max(after)},
            advice=f"replay both sides to depth {evidence.conventions.k}",
        )
    ]


def _no_baseline(evidence: Evidence) -> list[Finding]:
    """Nothing to compare with: from zero, any change is an improvement."""
    if any(q.was.answered for q in evidence.queries):
        return []
    return [
        Finding(
            "R2",
            Verdict.REFUSE,
            f"the before side answered none of its {len(evidence.queries)} queries with a document",
            {"queries": len(evidence.queries)},
            advice="run the before side again, on the index and engine that are live",
        )
    ]


def _ratings_that_differ(evidence: Evidence) -> list[Finding]:
    """The two files were rated by different lists, so their own scores do not compare."""
    if evidence.basis is not Basis.GIVEN or not evidence.unlike_ratings:
        return []
    return [
        Finding(
            "R2",
            Verdict.REFUSE,
            f"the two files rate {len(evidence.unlike_ratings)} documents differently: "
            f"{evidence.unlike_ratings[0]}",
            {"documents": len(evidence.unlike_ratings)},
            advice="run both sides against one judgment list",
        )
    ]


def _one_list_two_scores(evidence: Evidence) -> list[Finding]:
    """The same documents in the same order cannot score differently under one list.

    Looked at for the scores that the files give: a change of the judge looks like a change of the
    search there.
    """
    if evidence.basis is not Basis.GIVEN:
        return []
    whole = [q for q in evidence.queries if q.paired and _listed_whole(q, evidence) and _same(q)]
    unlike = [q for q in whole if abs(q.delta) > _ROUNDING]
    if not unlike:
        return []
    names = named([q.query.shown for q in unlike])
    return [
        Finding(
            "R2",
            Verdict.REFUSE,
            f"{len(unlike)} of the {counted(len(whole), 'query', 'queries')} that list the same "
            f"documents in the same order on both sides score differently: {names}; the two sides "
            "were rated by different lists or judges",
            {"queries": len(whole), "unlike": len(unlike), "delta": evidence.main.delta},
            advice="rate both sides by one list and one judge version",
            queries=tuple(q.query.id for q in unlike),
        )
    ]


def _listed_whole(query: QueryEvidence, evidence: Evidence) -> bool:
    """Whether the lists are all that the score is over: they end above k, or its k is less."""
    k = evidence.conventions.k
    ends = 0 < len(query.was.top) < k and len(query.now.top) < k
    stated = evidence.settings_after.get("k")
    return ends or (bool(query.was.top) and isinstance(stated, int) and stated <= k)


def _settings_that_differ(evidence: Evidence) -> list[Finding]:
    before, after = evidence.settings_before, evidence.settings_after
    differing = {
        name: (before[name], after[name])
        for name in before
        if name in after and before[name] != after[name]
    }
    if not differing:
        return []
    listed = "; ".join(f"{name} {b!r} before, {a!r} after" for name, (b, a) in differing.items())
    return [
        Finding(
            "R2",
            Verdict.REFUSE,
            f"the two sides were measured in different ways: {listed}",
            {name: {"before": b, "after": a} for name, (b, a) in differing.items()},
            advice="run both sides with the same metric settings",
        )
    ]


def _queries_that_differ(evidence: Evidence) -> list[Finding]:
    findings: list[Finding] = []
    for side, absent in (
        ("before", [q for q in evidence.queries if q.was.absent]),
        ("after", [q for q in evidence.queries if q.now.absent]),
    ):
        if absent:
            findings.append(
                Finding(
                    "R2",
                    Verdict.REFUSE,
                    f"{len(absent):,} of {counted(len(evidence.queries), 'query', 'queries')} on "
                    "one side only: "
                    f"the {side} side lacks {named([q.query.shown for q in absent])}",
                    {"side": side, "absent": len(absent), "queries": len(evidence.queries)},
                    advice="replay the same queries on both sides",
                    queries=tuple(q.query.id for q in absent),
                )
            )
    return findings


RULE = Rule(
    id="R2",
    name="comparable",
    asks=(
        "Same metric, k, gain, floor, judgment list, golden version, depth and query ids on both "
        "sides, as far as the files tell, and a before side that answers?"
    ),
    default="exact",
    severity="REFUSE",
    source="G, X",
    unchecked="note",
    mend="score both sides with the same metric, k, queries and judgment list, and save both again",
    check=check,
)
