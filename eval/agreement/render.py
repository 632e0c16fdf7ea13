"""A calibration as Markdown and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from relgate.eval.agreement.calibration import Calibration, ConstantJudge, Disagreement
from relgate.eval.agreement.expectation import Expectation
from relgate.eval.agreement.intervals import CONFIDENCE, Figure
from relgate.eval.report.escape import markdown_text

__all__ = ["HEADLINE_FIGURES", "calibration_json", "calibration_markdown", "shown_figure"]

_DIGITS = 6

_LABELS: Mapping[str, str] = {
    "kappa_quadratic": "kappa, quadratic weights",
    "kappa_linear": "kappa, linear weights",
    "kappa": "kappa, unweighted",
    "accuracy": "same grade",
    "ac1": "AC1",
    "ac2_quadratic": "AC2, quadratic weights",
    "f1": "F1",
    "f1_gain": "F1 over that of a judge that calls all relevant",
    "precision": "precision",
    "recall": "recall",
    "specificity": "specificity",
    "floor_kappa": "kappa",
    "floor_accuracy": "same side",
    "floor_ac1": "AC1",
    "pabak": "PABAK",
    "prevalence_index": "prevalence index",
    "bias_index": "bias index",
    "share_relevant_human": "share relevant, people",
    "share_relevant_judge": "share relevant, judge",
    "mean_human": "mean grade, people",
    "mean_judge": "mean grade, judge",
    "mean_shift": "leniency (judge less people, grades)",
}
_ON_SCALE = ("kappa_quadratic", "kappa_linear", "kappa", "accuracy", "ac1", "ac2_quadratic")
_MEANS = ("mean_human", "mean_judge", "mean_shift")
HEADLINE_FIGURES: Mapping[str, str] = {
    "kappa": "kappa, unweighted",
    "kappa_linear": "kappa, linear weights",
    "kappa_quadratic": "kappa, quadratic weights",
    "f1": "F1 at the floor",
    "precision": "precision at the floor",
    "recall": "recall at the floor",
    "floor_kappa": "kappa at the floor",
    "mean_shift": "leniency (judge less people, grades)",
}
"""The figures of a short view, in order, with what they are called."""

_EXPECTATION_LABELS: Mapping[str, str] = {
    "expected_mae": "distance of the expected grade from people's (mean, grades)",
    "grade_mae": "distance of the grade itself, same pairs",
    "mae_gain": "what the expected grade is nearer",
    "expected_kappa_quadratic": "kappa, quadratic weights, of the expected grade rounded",
    "within_1_spread": "people's grades within 1 spread",
    "within_2_spreads": "people's grades within 2 spreads",
    "spread_ratio": "error over spread (1: as sure as it should be; above: too sure)",
}
_NO_PROBABILITIES = (
    "The class probabilities themselves are not kept, so there is no Brier score and no expected "
    "calibration error."
)
_AT_FLOOR = tuple(name for name in _LABELS if name not in (*_ON_SCALE, *_MEANS))


def calibration_markdown(calibration: Calibration) -> str:
    """The calibration as a page of Markdown; text from data is escaped."""
    c = calibration
    figures = c.figures
    parts: list[list[str]] = [
        [f"# Calibration: {c.level.value}"],
        list(_measured(c)),
        [f"Level **{c.level.value}** under the policy `{c.policy}`:"],
        _bullets(c.reasons),
        *([["Mind:"], _bullets(c.warnings)] if c.warnings else []),
        [f"## Agreement on the scale {markdown_text(c.scale)}"],
        _figure_table(figures, (*_ON_SCALE, *_MEANS)),
        [f"## Agreement at the floor (grade >= {c.floor} is relevant)"],
        _figure_table(figures, _AT_FLOOR),
        [f"Intervals: 95 %, {c.resamples:,} draws of the {c.n_queries:,} queries, seed {c.seed}."],
        *_expectation_parts(c.expectation),
        ["## Beside a judge that has read nothing"],
        _constant_table(c),
        ["## Confusion table (rows people, columns judge)"],
        _confusion_table(c.table),
        *([["## Worst disagreements"], _disagreements(c.disagreements)] if c.disagreements else []),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _measured(c: Calibration) -> Iterator[str]:
    judge = c.judge
    named = [
        ("version", judge.version),
        ("model", judge.model),
        ("family", judge.family),
        ("fingerprint", judge.fingerprint),
    ]
    known = ", ".join(f"{what} {markdown_text(value)}" for what, value in named if value)
    made = ", ".join(f"{n:,} by {markdown_text(s)}" for s, n in sorted(c.label_sources.items()))
    yield f"- Judge: {known or 'not named in the recorded grades'}"
    yield f"- Labels: {made}; set `{c.label_set_hash[:12]}`"
    if set(c.label_sources) - {"human"}:
        yield "- **Labels made by rule or import say nothing about agreement with people.**"
    yield f"- Compared: {c.n:,} pairs of {c.n_queries:,} queries; coverage {c.coverage:.1%}"
    kinds = ", ".join(f"{n:,} {markdown_text(kind)}" for kind, n in c.errors.items())
    yield (
        f"- Without a grade: {c.n_asked - c.n:,} of {c.n_asked:,} ({c.error_rate:.1%})"
        + (f": {kinds}" if kinds else "")
    )


def _bullets(lines: Iterable[str]) -> list[str]:
    return [f"- {line}" for line in lines]  # our own sentences: nothing from data is in them


def shown_figure(figure: Figure) -> tuple[str, str]:
    """A figure and its interval as people read them; `undefined` where it has none."""
    return _number(figure.point), _interval(figure)


def _figure_table(
    figures: Mapping[str, Figure], names: Iterable[str], *, labels: Mapping[str, str] = _LABELS
) -> list[str]:
    rows = [
        f"| {labels[name]} | {_number(figures[name].point)} | {_interval(figures[name])} |"
        for name in names
    ]
    return ["| figure | value | 95 % interval |", "|---|---:|---:|", *rows]


def _expectation_parts(found: Expectation | None) -> list[list[str]]:
    """Nothing for a judge without expected grades and spreads."""
    if found is None:
        return []
    return [
        ["## Expected grades and spreads"],
        [
            f"{found.n_expected:,} pairs with an expected grade, {found.n_spread:,} with a spread, "
            f"{found.n_queries:,} queries. Honest spreads hold 75 % or more within two. "
            + _NO_PROBABILITIES
        ],
        _figure_table(found.figures, found.figures, labels=_EXPECTATION_LABELS),
    ]


def _constant_table(c: Calibration) -> list[str]:
    own = [c.figures[name].point for name in ("accuracy", "f1", "kappa")]
    rows = [("this judge", own)]
    rows += [(_constant_name(k), [k.accuracy, k.f1, k.kappa]) for k in c.constants]
    return [
        "| judge | same grade | F1 at the floor | kappa |",
        "|---|---:|---:|---:|",
        *(f"| {name} | {' | '.join(_number(x) for x in values)} |" for name, values in rows),
    ]


def _constant_name(constant: ConstantJudge) -> str:
    return f"{constant.name} (always {constant.grade})"


def _confusion_table(table: tuple[tuple[int, ...], ...]) -> list[str]:
    grades = range(len(table))
    totals = [sum(column) for column in zip(*table, strict=True)]
    return [
        f"| people | {' | '.join(f'judge {g}' for g in grades)} | all |",
        f"|---|{'---:|' * (len(table) + 1)}",
        *(
            f"| {g} | {' | '.join(f'{x:,}' for x in row)} | {sum(row):,} |"
            for g, row in zip(grades, table, strict=True)
        ),
        f"| all | {' | '.join(f'{x:,}' for x in totals)} | {sum(totals):,} |",
    ]


def _disagreements(rows: tuple[Disagreement, ...]) -> list[str]:
    return [
        "| query | document | people | judge | the judge's reason | people's reason |",
        "|---|---|---:|---:|---|---|",
        *(
            f"| {markdown_text(d.query.shown)} | {markdown_text(d.doc_id)} | {d.human} | {d.judge} "
            f"| {markdown_text(d.judge_reason or '')} | {markdown_text(d.human_reason or '')} |"
            for d in rows
        ),
    ]


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{round(value, 4) + 0.0:.4f}"


def _interval(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return "undefined"
    return f"{_number(figure.low)} to {_number(figure.high)}"


def calibration_json(calibration: Calibration) -> dict[str, Any]:
    """The calibration as plain data, for `json.dumps`. Undefined is null; six decimals."""
    c = calibration
    return {
        "format": "relgate-calibration/1",
        "level": c.level.value,
        "reasons": list(c.reasons),
        "warnings": list(c.warnings),
        "policy": c.policy,
        "judge": {
            "version": c.judge.version,
            "fingerprint": c.judge.fingerprint,
            "model": c.judge.model,
            "family": c.judge.family,
        },
        "labels": {
            "hash": c.label_set_hash,
            "sources": dict(sorted(c.label_sources.items())),
            "asked": c.n_asked,
            "without_text": c.without_text,
            "made_by_judge": c.made_by_judge,
        },
        "n": c.n,
        "n_queries": c.n_queries,
        "coverage": round(c.coverage, _DIGITS),
        "error_rate": round(c.error_rate, _DIGITS),
        "errors": dict(c.errors),
        "scale": c.scale,
        "floor": c.floor,
        "figures": {name: _figure_json(figure) for name, figure in c.figures.items()},
        **_expectation_json(c.expectation),
        "interval": {
            "level": CONFIDENCE,
            "resampled": "queries",
            "method": "percentile",
            "resamples": c.resamples,
            "seed": c.seed,
        },
        "table": [list(row) for row in c.table],
        "human_counts": list(c.human_counts),
        "judge_counts": list(c.judge_counts),
        "constants": [
            {
                "name": k.name,
                "grade": k.grade,
                "accuracy": _rounded(k.accuracy),
                "f1": _rounded(k.f1),
                "kappa": _rounded(k.kappa),
            }
            for k in c.constants
        ],
        "disagreements": [_disagreement_json(d) for d in c.disagreements],
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
            "figures": {name: _figure_json(figure) for name, figure in found.figures.items()},
            "note": _NO_PROBABILITIES,
        }
    }


def _figure_json(figure: Figure) -> dict[str, Any]:
    return {
        "point": _rounded(figure.point),
        "low": _rounded(figure.low),
        "high": _rounded(figure.high),
        "undefined_draws": figure.undefined_draws,
    }


def _disagreement_json(d: Disagreement) -> dict[str, Any]:
    return {
        "query_id": d.query.id,
        "query": d.query.shown,
        "doc_id": d.doc_id,
        "human": d.human,
        "judge": d.judge,
        "judge_reason": d.judge_reason,
        "human_reason": d.human_reason,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS) + 0.0  # + 0.0: no "-0.0"
