"""A review as plain values: what `review.json` holds, and what a saved result is read from. Pure.

Everything that any other output prints is in here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from relgate.eval.gaps.doubt import JudgeError
from relgate.eval.gaps.fill_open import OpenFacts
from relgate.eval.report.corrected import correction_values
from relgate.eval.report.losers import losers_values
from relgate.eval.report.schema import FORMAT
from relgate.eval.report.supplied import (
    aggregate_values,
    apart_values,
    mode_values,
    strata_values,
    supplied_values,
)
from relgate.eval.report.values import moved, number, picked, plain
from relgate.eval.review.debug import DebugTools
from relgate.eval.review.types import (
    CertificateFacts,
    Coverage,
    Evidence,
    ExpectedScores,
    FillFacts,
    Finding,
    JudgeUse,
    QueryEvidence,
    Review,
    RuleState,
    Side,
    Unrated,
)

__all__ = ["review_document", "review_json"]

_HALF_PAIR = re.compile("[\ud800-\udfff]")


def review_document(review: Review, open_fill: OpenFacts | None = None) -> dict[str, Any]:
    """The review as JSON values; a number that is not finite is null.

    When no verdict can be given, `findings` holds what refuses, and what else was seen stands in
    `withheld` without a severity: figures that are not to be relied on earn no verdict.
    """
    evidence = review.evidence
    return {
        "format": FORMAT,
        "verdict": review.verdict.word,
        "exit_code": review.verdict.exit_code,
        "headline": review.headline,
        "actions": list(review.actions),
        "findings": [_finding(f) for f in review.deciding],
        "withheld": [
            {k: v for k, v in _finding(f).items() if k != "severity"} for f in review.withheld
        ],
        **_rules(review),
        "aggregate": {a.key: aggregate_values(a) for a in evidence.aggregates},
        "primary": evidence.main.key,
        "queries": [_query(q) for q in evidence.queries],
        "losers": losers_values(evidence),
        "tools": _tools(evidence.tools),
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
            "covers_all": evidence.covers_all,
            "names": {a.key: a.name for a in evidence.aggregates},
        },
        "change": _change(evidence),
        "supplied": supplied_values(evidence),
        "strata": strata_values(evidence),
        "modes": mode_values(evidence),
        "apart": apart_values(evidence),
        "noise": _noise(evidence),
        "corrected": correction_values(evidence),
        "without_judge": None if evidence.unfilled is None else aggregate_values(evidence.unfilled),
        "expected": None if evidence.expected is None else _expected(evidence.expected),
        "settings": review.settings.numbers(),
        "settings_changed": sorted(review.settings.changed()),
        "inputs": dict(evidence.inputs),
        "cross_checks": list(evidence.cross_checks),
        "warnings": list(evidence.warnings),
    }


def review_json(document: Mapping[str, Any]) -> str:
    """The text of `review.json`; half a surrogate pair, which no file can hold, as an escape."""
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    return _HALF_PAIR.sub(lambda m: f"\\\\u{ord(m.group()):04x}", text) + "\n"


def _rules(review: Review) -> dict[str, Any]:
    left = [o for o in review.outcomes if o.state is RuleState.NOT_CHECKED]
    return {
        "checked": [
            {"rule": o.rule, "state": o.state.value, "summary": o.summary}
            for o in review.outcomes
            if o.state is not RuleState.NOT_CHECKED
        ],
        "not_checked": [
            {"rule": o.rule, "why": o.summary, "caps_verdict": o.cap is not None} for o in left
        ],
    }


def _tools(tools: DebugTools) -> dict[str, Any]:
    return {
        "splainer": None if tools.splainer is None else plain(asdict(tools.splainer)),
        "quepid": tools.quepid,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.word,
        **picked(finding, "message", "figures", "advice", "queries"),
    }


def _expected(expected: ExpectedScores) -> dict[str, Any]:
    found = {name: plain(value) for name, value in asdict(expected).items()}
    return {**found, "delta": number(expected.delta)}


def _query(query: QueryEvidence) -> dict[str, Any]:
    now = query.now
    return {
        "id": query.query.id,
        "text": query.query.shown,
        **moved(query.before, query.after),
        "unrated": now.unrated if now.unrated_known else None,
        "returned": now.returned,
        **picked(query, "head", "critical", "no_ideal", "unjudged", "expects_empty", "strata"),
        "before_side": _side(query.was),
        "after_side": _side(now),
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        **picked(side, "error", "absent", "listed", "returned", "best_rank"),
        "unrated": side.unrated if side.unrated_known else None,
        "top": [picked(doc, "doc_id", "grade", "source") for doc in side.top],
    }


def _coverage(coverage: Coverage) -> dict[str, Any]:
    return {
        **picked(
            coverage, "queries", "scored", "no_ideal", "unjudged", "list_only", "judgments",
            "by_source",
        ),
        "unrated": _unrated(coverage.now),
        "unrated_before_fill": None if coverage.at_first is None else _unrated(coverage.at_first),
    }  # fmt: skip


def _unrated(unrated: Unrated) -> dict[str, Any]:
    return {
        **picked(unrated, "known", "queries", "empty"),
        "mean_share_before": number(unrated.mean_before),
        "mean_share_after": number(unrated.mean_after),
        "mostly_unrated": unrated.mostly,
    }


def _judge(judge: JudgeUse) -> dict[str, Any]:
    return {
        **picked(judge, "version", "fingerprint", "model", "family", "policy"),
        "grades": judge.rows,
        "certificate_problem": judge.problem,
        "certificate": None if judge.certificate is None else _certificate(judge.certificate),
    }


def _certificate(facts: CertificateFacts) -> dict[str, Any]:
    return {
        **picked(facts, "level", "labels", "queries", "coverage", "made_on", "expires_on"),
        "f1": plain(asdict(facts.f1)),
        "kappa_quadratic": plain(asdict(facts.kappa_quadratic)),
    }


def _fill(fill: FillFacts) -> dict[str, Any]:
    return picked(
        fill, "judge", "asked", "graded", "cached", "errors", "error_rate", "no_text", "calls",
        "not_asked", "cost_usd", "saved_usd",
    )  # fmt: skip


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
        "judge_error": None
        if facts.judge_error is None
        else _judge_error(facts.judge_error, facts),
    }


def _judge_error(error: JudgeError, facts: OpenFacts) -> dict[str, Any]:
    return {
        "level": error.level,
        "judges": [
            {
                "version": judge.version,
                "fingerprint": fingerprint,
                "certificate": judge.certificate,
                "labels": judge.labels,
                "possible": {str(g): list(kept) for g, kept in enumerate(judge.possible)},
            }
            for fingerprint, judge in error.judges.items()
        ],
        "documents": facts.doubted,
        "open": [
            {"id": query.id, "text": query.shown, "doc_ids": list(docs)}
            for query, docs in facts.doubtful
        ],
    }


def _change(evidence: Evidence) -> dict[str, Any] | None:
    change = evidence.change
    if change is None:
        return None
    shown = change.detected
    return {
        **picked(change, "types", "intent", "description", "sha", "system_models"),
        "types_from_diff": change.types_from_diff,
        "detected": None
        if shown is None
        else [
            {"type": found.kind.value, **picked(found, "file", "line", "key", "removed")}
            for found in shown
        ],
    }


def _noise(evidence: Evidence) -> dict[str, Any] | None:
    noise = evidence.noise
    return None if noise is None else picked(noise, "p", "low", "high", "detectable", "n")
