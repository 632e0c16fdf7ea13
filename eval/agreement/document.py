"""A calibration as plain data for JSON. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from relgate.eval.agreement.calibration import Calibration, Disagreement
from relgate.eval.agreement.expectation import Expectation
from relgate.eval.agreement.groups import GroupAgreement, Leniency
from relgate.eval.agreement.intervals import CONFIDENCE, METHOD, Figure
from relgate.eval.agreement.words import NO_PROBABILITIES, digits

__all__ = ["calibration_json", "figure_json"]


def calibration_json(calibration: Calibration) -> dict[str, Any]:
    """The calibration as plain data, for `json.dumps`. Undefined is null; six decimals."""
    c = calibration
    return {
        "format": "relgate-calibration/1",
        "level": c.level.value,
        "reasons": list(c.reasons),
        "warnings": list(c.warnings),
        "needs": [asdict(need) for need in c.needs],
        "policy": c.policy.name,
        "policy_terms": c.policy.terms,
        "judge": {
            "version": c.judge.version,
            "fingerprint": c.judge.fingerprint,
            "model": c.judge.model,
            "family": c.judge.family,
            "parts": dict(c.judge.parts),
        },
        "hygiene": asdict(c.hygiene),
        "labels": {
            "hash": c.label_set_hash,
            "sources": dict(sorted(c.label_sources.items())),
            "asked": c.n_asked,
            "without_text": c.without_text,
            "made_by_judge": c.made_by_judge,
        },
        "n": c.n,
        "n_queries": c.n_queries,
        "n_people": c.n_people,
        "coverage": digits(c.coverage),
        "error_rate": digits(c.error_rate),
        "errors": dict(c.errors),
        "scale": c.scale,
        "floor": c.floor,
        "figures": {name: figure_json(figure) for name, figure in c.figures.items()},
        **_expectation_json(c.expectation),
        "interval": {
            "level": CONFIDENCE,
            "resampled": "queries",
            "method": METHOD,
            "resamples": c.resamples,
            "seed": c.seed,
        },
        "groups": [_group_json(group) for group in c.groups],
        "leniency": [_leniency_json(row) for row in c.leniency],
        "table": [list(row) for row in c.table],
        "human_counts": list(c.human_counts),
        "judge_counts": list(c.judge_counts),
        "constants": [
            {
                "name": k.name,
                "grade": k.grade,
                "accuracy": digits(k.accuracy),
                "f1": digits(k.f1),
                "kappa": digits(k.kappa),
            }
            for k in c.constants
        ],
        "disagreements": [_disagreement_json(d) for d in c.disagreements],
    }


def _group_json(group: GroupAgreement) -> dict[str, Any]:
    return {
        "kind": group.group.kind,
        "name": group.group.name,
        "n": group.n,
        "n_asked": group.n_asked,
        "n_queries": group.n_queries,
        "n_relevant": group.n_relevant,
        "figures": {name: figure_json(figure) for name, figure in group.figures.items()},
    }


def _leniency_json(row: Leniency) -> dict[str, Any]:
    return {
        "grade": row.grade,
        "n": row.n,
        **{
            name: figure_json(figure)
            for name, figure in (
                ("shift", row.shift),
                ("lower", row.lower),
                ("same", row.same),
                ("higher", row.higher),
            )
        },
    }


def _expectation_json(found: Expectation | None) -> dict[str, Any]:
    """No key at all for a judge without expected grades and spreads."""
    if found is None:
        return {}
    return {
        "expectation": {
            "n_expected": found.n_expected,
            "n_spread": found.n_spread,
            "n_queries": found.n_queries,
            "figures": {name: figure_json(figure) for name, figure in found.figures.items()},
            "note": NO_PROBABILITIES,
        }
    }


def figure_json(figure: Figure) -> dict[str, Any]:
    """A figure as plain data: six decimals, null for undefined, and why."""
    return {
        "point": digits(figure.point),
        "low": digits(figure.low),
        "high": digits(figure.high),
        "undefined_draws": figure.undefined_draws,
        "why": figure.why,
    }


def _disagreement_json(d: Disagreement) -> dict[str, Any]:
    return {
        "query_id": d.query.id,
        "query": d.query.shown,
        "doc_id": d.doc_id,
        "document": d.document,
        "human": d.human,
        "judge": d.judge,
        "judge_reason": d.judge_reason,
        "human_reason": d.human_reason,
    }
