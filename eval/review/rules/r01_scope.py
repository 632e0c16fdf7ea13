"""R1: the evidence fits every type of change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

from relgate.eval.review.change import ChangeDescription, ChangeType, Detected
from relgate.eval.review.rules.base import Rule, failed, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Basis, Evidence, Finding, ModeFigures, RuleOutcome, Verdict

__all__ = ["RULE"]

# NDCG and MRR as engines call them; "dcg" only where it is not said to be without its ideal.
_RANKED = frozenset({"dcg", "mean_reciprocal_rank"})

_MIN_MODES = 2
"""A hybrid search blends at least two."""


def check(evidence: Evidence, _settings: ReviewSettings) -> RuleOutcome:
    """Refuses when a type of change is judged on evidence that cannot show its damage."""
    change = evidence.change
    if change is None or not change.types:
        shown = change is not None and change.detected is not None
        none = ", and the diff shows none" if shown else ""
        return not_checked("R1", f"no type of change was given{none}")
    problems = [p for kind in change.types if (p := _problem(kind, evidence)) is not None]
    undeclared = _undeclared(change)
    kinds = ", ".join(change.types)
    if undeclared:
        summary = f"{kinds}: the diff shows {', '.join(f.figures['type'] for f in undeclared)} too"
        return failed("R1", summary, *_refusals(problems, evidence), *undeclared)
    if not problems and evidence.basis is Basis.GIVEN and "metric" not in evidence.settings_after:
        return not_checked("R1", f"{kinds}: the files do not name the metric of their scores")
    if not problems:
        return passed("R1", f"{kinds}: judged on {evidence.main.name}")
    return failed("R1", f"{kinds}: the evidence does not fit", *_refusals(problems, evidence))


def _refusals(problems: Sequence[str], evidence: Evidence) -> Iterator[Finding]:
    types = [] if evidence.change is None else list(evidence.change.types)
    for problem in problems:
        yield Finding(
            "R1",
            Verdict.REFUSE,
            problem,
            {"types": types, "metric": evidence.main.name},
            advice="supply that evidence, or have this change reviewed by a person",
        )


def _undeclared(change: ChangeDescription) -> list[Finding]:
    """One finding a type that the diff shows and nobody declared."""
    first: dict[ChangeType, Detected] = {}
    for found in change.detected or ():
        if found.kind not in change.types:
            first.setdefault(found.kind, found)
    declared = ", ".join(change.types)
    return [
        Finding(
            "R1",
            Verdict.NEEDS_WORK,
            f"the change is said to be {declared}, but the diff changes {kind}: {found.key} in "
            f"{found.place}",
            {"type": kind.value, "file": found.file, "line": found.line, "key": found.key},
            advice=f"declare {kind} too, so that its evidence is asked for, or split the change",
        )
        for kind, found in first.items()
    ]


def _problem(kind: ChangeType, evidence: Evidence) -> str | None:
    """What the evidence lacks for this type of change, or None."""
    match kind:
        case ChangeType.HYBRID_WEIGHTS:
            return _not_by_mode(kind, evidence) or _not_ranked(kind, evidence)
        case ChangeType.REWRITER | ChangeType.RERANKER:
            return _switched(kind, evidence) or _not_ranked(kind, evidence)
        case ChangeType.SYNONYMS:  # any metric, but query by query
            none = f"no query is scored on both sides, and {kind} need it"
            return None if evidence.paired else none
        case ChangeType.EMBEDDING_MODEL | ChangeType.HNSW_PARAMS:
            return _not_recall(kind, evidence)
        case ChangeType.FILTER_LOGIC if not evidence.filter_cases:
            return _needs(kind, "filtered relevance and filter-correctness cases", evidence)
        case _:
            return _not_ranked(kind, evidence)


def _not_by_mode(kind: ChangeType, evidence: Evidence) -> str | None:
    """Relevance and recall of every mode, on the queries under review."""
    if len(evidence.modes) < _MIN_MODES:
        return _needs(kind, f"relevance and recall of each mode, {_MIN_MODES} or more", evidence)
    lacking = [f"mode {mode.name}: {why}" for mode in evidence.modes if (why := _lacks(mode))]
    if not lacking:
        return None
    return f"a change of type {kind} must be judged on each mode; {'; '.join(lacking)}"


def _lacks(mode: ModeFigures) -> str | None:
    if mode.lacks is not None:
        return mode.lacks
    absent = [
        name
        for name, figure in (("relevance", mode.relevance), ("recall", mode.recall))
        if figure is None or not isfinite(figure.delta)
    ]
    return f"it has no {' and no '.join(absent)}" if absent else None


def _not_recall(kind: ChangeType, evidence: Evidence) -> str | None:
    if kind is ChangeType.EMBEDDING_MODEL:
        fits = evidence.gives_recall or _states_recall(evidence)
        needed = "recall@k against newly computed ground truth"
    else:
        fits = evidence.gives_recall and _times_both_sides(evidence)
        needed = "recall@k and p95 latency"
    return None if fits else _needs(kind, needed, evidence)


def _switched(kind: ChangeType, evidence: Evidence) -> str | None:
    """One side must have been measured without the stage: its own gain is what is asked for."""
    stage = None if evidence.change is None else evidence.change.stage
    if stage is None:
        return (
            f"a change of type {kind} must be judged on the stage switched on and off; stage in "
            "the change description does not say on which side it ran"
        )
    if stage[0] == stage[1]:
        return (
            f"a change of type {kind} must be judged on the stage switched on and off; it was "
            f"{stage[0]} on both sides"
        )
    return None


def _needs(kind: ChangeType, needed: str, evidence: Evidence) -> str:
    supplied = [evidence.main.name]
    if _times_both_sides(evidence):
        supplied.append("p95 latency")
    if evidence.filter_cases:
        supplied.append("filter cases")
    if evidence.modes:
        supplied.append(f"mode {', '.join(mode.name for mode in evidence.modes)}")
    return (
        f"a change of type {kind} must be judged on {needed}; what was supplied is "
        f"{' and '.join(supplied)}"
    )


def _states_recall(evidence: Evidence) -> bool:
    truth = None if evidence.change is None else evidence.change.ground_truth
    return truth is not None and None not in (truth.recall_before, truth.recall_after)


def _times_both_sides(evidence: Evidence) -> bool:
    latency = None if evidence.change is None else evidence.change.latency
    sides = () if latency is None else (latency.before, latency.after)
    return bool(sides) and all(side is not None and side.p95_ms is not None for side in sides)


def _not_ranked(kind: ChangeType, evidence: Evidence) -> str | None:
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
    asks="Does the evidence fit every type of change, and does the diff show no other type?",
    default="the table of change types",
    severity="REFUSE; NEEDS-WORK for a type in the diff that is not declared",
    source="R",
    unchecked="no change given, or the files do not name their metric: note",
    mend="bring the evidence that the type needs (docs/change.md lists it), or correct the type",
    check=check,
)
