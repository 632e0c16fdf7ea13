"""R1: the evidence fits every type of change."""

from __future__ import annotations

from relgate.eval.review.change import ChangeType
from relgate.eval.review.rules.base import Rule, failed, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Basis, Evidence, Finding, RuleOutcome, Verdict

__all__ = ["RULE"]

# NDCG and MRR as engines call them; "dcg" only where it is not said to be without its ideal.
_RANKED = frozenset({"dcg", "mean_reciprocal_rank"})

# What a type needs beyond a ranking metric, and which this version cannot yet take in.
_BEYOND: dict[ChangeType, str] = {
    ChangeType.EMBEDDING_MODEL: "recall@k against newly computed ground truth",
    ChangeType.HNSW_PARAMS: "recall@k and p95 latency",
    ChangeType.HYBRID_WEIGHTS: "relevance and recall for each mode",
    ChangeType.FILTER_LOGIC: "filtered relevance and filter-correctness cases",
    ChangeType.REWRITER: "the stage switched on and off",
    ChangeType.RERANKER: "the stage switched on and off",
}


def check(evidence: Evidence, _settings: ReviewSettings) -> RuleOutcome:
    """Refuses when a type of change is judged on evidence that cannot show its damage."""
    change = evidence.change
    if change is None or not change.types:
        return not_checked("R1", "no type of change was given")
    problems = [p for kind in change.types if (p := _problem(kind, evidence)) is not None]
    kinds = ", ".join(change.types)
    if not problems and evidence.basis is Basis.GIVEN and "metric" not in evidence.settings_after:
        return not_checked("R1", f"{kinds}: the files do not name the metric of their scores")
    if not problems:
        return passed("R1", f"{kinds}: judged on {evidence.main.name}")
    return failed(
        "R1",
        f"{kinds}: the evidence does not fit",
        *(
            Finding(
                "R1",
                Verdict.REFUSE,
                problem,
                {"types": list(change.types), "metric": evidence.main.name},
                advice="supply that evidence, or have this change reviewed by a person",
            )
            for problem in problems
        ),
    )


def _problem(kind: ChangeType, evidence: Evidence) -> str | None:
    if kind in _BEYOND:
        return (
            f"a change of type {kind} must be judged on {_BEYOND[kind]}; what was supplied is "
            f"{evidence.main.name}"
        )
    if kind is ChangeType.SYNONYMS:  # any metric, but query by query
        return None if evidence.paired else f"no query is scored on both sides, and {kind} need it"
    if evidence.basis is Basis.RECOMPUTED:
        return None
    metric, normalized = (evidence.settings_after.get(name) for name in ("metric", "normalized"))
    if metric is None or (metric in _RANKED and normalized is not False):
        return None
    return (
        f"a change of type {kind} must be judged on NDCG or MRR; what was supplied is {metric}"
        + (" that is not normalized" if metric in _RANKED else "")
    )


RULE = Rule(
    id="R1",
    name="scope",
    asks="Does the evidence fit every type of change?",
    default="the table of change types",
    severity="REFUSE",
    source="R",
    unchecked="no change given, or the files do not name their metric: note",
    check=check,
)
