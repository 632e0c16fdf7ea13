"""A review as plain values: what `review.json` holds, and what a saved result is read from. Pure.

Everything that any other output prints is in here.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from relgate.eval.gaps.fill_open import OpenFacts
from relgate.eval.report.losers import losers_values
from relgate.eval.report.supplied import mode_values, strata_values, supplied_values
from relgate.eval.review.types import (
    Aggregate,
    Coverage,
    Evidence,
    FillFacts,
    Finding,
    JudgeUse,
    QueryEvidence,
    RankedDoc,
    Review,
    RuleState,
    Side,
    Unrated,
    Verdict,
)

__all__ = ["FORMAT", "review_document"]

FORMAT = "relgate-review/1"

_DIGITS = 6


def review_document(review: Review, open_fill: OpenFacts | None = None) -> dict[str, Any]:
    """The review as JSON values; a number that is not finite is null.

    When no verdict can be given, `findings` holds what refuses, and what else was seen stands in
    `withheld` without a severity: figures that are not to be relied on earn no verdict.
    """
    evidence = review.evidence
    refused = review.verdict is Verdict.REFUSE
    findings = [f for f in review.findings if not refused or f.severity is Verdict.REFUSE]
    withheld = [f for f in review.findings if refused and f.severity is not Verdict.REFUSE]
    return {
        "format": FORMAT,
        "verdict": review.verdict.word,
        "exit_code": review.verdict.exit_code,
        "headline": review.headline,
        "actions": list(review.actions),
        "findings": [_finding(f) for f in findings],
        "withheld": [{k: v for k, v in _finding(f).items() if k != "severity"} for f in withheld],
        "checked": [
            {"rule": o.rule, "state": o.state.value, "summary": o.summary}
            for o in review.outcomes
            if o.state is not RuleState.NOT_CHECKED
        ],
        "not_checked": [
            {"rule": o.rule, "why": o.summary, "caps_verdict": o.cap is not None}
            for o in review.outcomes
            if o.state is RuleState.NOT_CHECKED
        ],
        "aggregate": {a.key: _aggregate(a) for a in evidence.aggregates},
        "primary": evidence.main.key,
        "queries": [_query(q) for q in evidence.queries],
        "losers": losers_values(evidence),
        "coverage": _coverage(evidence.coverage),
        "judge": {
            "grades": [_judge(j) for j in evidence.judges],
            "fill": None if evidence.fill is None else _fill(evidence.fill),
            "open_fill": None if open_fill is None else _open_fill(open_fill),
            "overrides": list(evidence.overrides),
        },
        "conventions": {
            **evidence.conventions.asdict(),
            "basis": evidence.basis.value,
            "names": {a.key: a.name for a in evidence.aggregates},
        },
        "change": _change(evidence),
        "supplied": supplied_values(evidence),
        "strata": strata_values(evidence),
        "modes": mode_values(evidence),
        "noise": _noise(evidence),
        "without_judge": None if evidence.unfilled is None else _aggregate(evidence.unfilled),
        "settings": review.settings.numbers(),
        "settings_changed": sorted(review.settings.changed()),
        "inputs": dict(evidence.inputs),
        "cross_checks": list(evidence.cross_checks),
        "warnings": list(evidence.warnings),
    }


def _number(value: float | None) -> float | None:
    return round(value, _DIGITS) if value is not None and isfinite(value) else None


def _plain(value: object) -> object:
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.word,
        "message": finding.message,
        "figures": _plain(finding.figures),
        "advice": finding.advice,
        "queries": list(finding.queries),
    }


def _aggregate(aggregate: Aggregate) -> dict[str, Any]:
    return {
        "name": aggregate.name,
        "before": _number(aggregate.before),
        "after": _number(aggregate.after),
        "delta": _number(aggregate.delta),
        "n": aggregate.n,
        "weighted_before": _number(aggregate.weighted_before),
        "weighted_after": _number(aggregate.weighted_after),
    }


def _query(query: QueryEvidence) -> dict[str, Any]:
    return {
        "id": query.query.id,
        "text": query.query.shown,
        "before": _number(query.before),
        "after": _number(query.after),
        "delta": _number(query.delta),
        "unrated": query.now.unrated if query.now.unrated_known else None,
        "returned": query.now.returned,
        "head": query.head,
        "critical": query.critical,
        "no_ideal": query.no_ideal,
        "unjudged": query.unjudged,
        "expects_empty": query.expects_empty,
        "strata": list(query.strata),
        "before_side": _side(query.was),
        "after_side": _side(query.now),
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "error": side.error,
        "absent": side.absent,
        "best_rank": side.best_rank,
        "top": [_doc(doc) for doc in side.top],
    }


def _doc(doc: RankedDoc) -> dict[str, Any]:
    made = None if doc.source is None else doc.source.value
    return {"doc_id": doc.doc_id, "grade": doc.grade, "source": made}


def _coverage(coverage: Coverage) -> dict[str, Any]:
    return {
        "queries": coverage.queries,
        "scored": coverage.scored,
        "no_ideal": coverage.no_ideal,
        "unjudged": coverage.unjudged,
        "list_only": coverage.list_only,
        "judgments": coverage.judgments,
        "by_source": {source.value: n for source, n in coverage.by_source.items()},
        "unrated": _unrated(coverage.now),
        "unrated_before_fill": None if coverage.at_first is None else _unrated(coverage.at_first),
    }


def _unrated(unrated: Unrated) -> dict[str, Any]:
    return {
        "known": unrated.known,
        "mean_share_before": _number(unrated.mean_before),
        "mean_share_after": _number(unrated.mean_after),
        "queries": unrated.queries,
        "mostly_unrated": unrated.mostly,
        "empty": unrated.empty,
    }


def _judge(judge: JudgeUse) -> dict[str, Any]:
    return {
        "version": judge.version,
        "fingerprint": judge.fingerprint,
        "model": judge.model,
        "family": judge.family,
        "grades": judge.rows,
        "certificate_problem": judge.problem,
        "policy": judge.policy,
    }


def _fill(fill: FillFacts) -> dict[str, Any]:
    return {
        "judge": fill.judge,
        "asked": fill.asked,
        "graded": fill.graded,
        "cached": fill.cached,
        "errors": dict(fill.errors),
        "error_rate": _number(fill.error_rate),
        "no_text": fill.no_text,
        "calls": fill.calls,
        "not_asked": fill.not_asked,
        "cost_usd": _number(fill.cost_usd),
    }


def _open_fill(facts: OpenFacts) -> dict[str, Any]:
    return {
        "settled": facts.settled,
        "least": facts.least.word,
        "most": facts.most.word,
        "pairs": facts.pairs,
        "asked": facts.asked,
        "saved": facts.left,
        "waves": facts.waves,
        "bounds": "exact" if facts.exact else "outer",
        "rules": {
            s.rule: {"state": s.word, "least": s.least.word, "most": s.most.word}
            for s in facts.standings
        },
        "open_rules": list(facts.open_rules),
        "open": [
            {"id": gap.query.id, "text": gap.query.shown, "doc_ids": list(gap.doc_ids)}
            for gap in facts.open
        ],
    }


def _change(evidence: Evidence) -> dict[str, Any] | None:
    change = evidence.change
    if change is None:
        return None
    models = change.system_models
    return {
        "types": [kind.value for kind in change.types],
        "intent": change.intent,
        "description": change.description,
        "sha": change.sha,
        "system_models": None if models is None else list(models),
    }


def _noise(evidence: Evidence) -> dict[str, Any] | None:
    noise = evidence.noise
    if noise is None:
        return None
    return {
        "p": _number(noise.p),
        "low": _number(noise.low),
        "high": _number(noise.high),
        "detectable": _number(noise.detectable),
        "n": noise.n,
    }
