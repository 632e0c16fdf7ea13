"""A comparison of judges as rows of a table, Markdown and plain data. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from relgate.eval.agreement.comparing import ComparedJudge, Comparison, Costs
from relgate.eval.agreement.document import figure_json
from relgate.eval.agreement.intervals import CONFIDENCE, METHOD, Figure
from relgate.eval.agreement.words import digits, shown_figure
from relgate.eval.report.escape import markdown_text

__all__ = [
    "DIFFERENCE_COLUMNS",
    "JUDGE_COLUMNS",
    "comparison_json",
    "comparison_markdown",
    "difference_rows",
    "judge_rows",
]

_FIGURES: Mapping[str, str] = {
    "kappa_quadratic": "Quadratic kappa",
    "kappa": "Kappa",
    "f1": "F1 at the floor",
}
JUDGE_COLUMNS = ("Judge", *_FIGURES.values(), "Coverage", "USD/1,000", "s/1,000")
DIFFERENCE_COLUMNS = ("Against", *_FIGURES.values())


def judge_rows(found: Comparison) -> list[tuple[str, ...]]:
    """A row a judge, by `JUDGE_COLUMNS`."""
    return [
        (judge.name, *(_cell(judge.figures[f]) for f in _FIGURES), _coverage(judge), *_costs(judge))
        for judge in found.judges
    ]


def difference_rows(found: Comparison) -> list[tuple[str, ...]]:
    """The first judge less each other, by `DIFFERENCE_COLUMNS`."""
    first = found.judges[0].name
    return [
        (d.second, *(_cell(d.figures[f], signed=True) for f in _FIGURES))
        for d in found.differences
        if d.first == first
    ]


def _cell(figure: Figure, *, signed: bool = False) -> str:
    point, interval = shown_figure(figure, places=3)
    if figure.point is None:
        return point
    sign = "+" if signed and figure.point >= 0 else ""
    return f"{sign}{point} ({interval})"


def _coverage(judge: ComparedJudge) -> str:
    return "-" if judge.coverage is None else f"{judge.coverage:.1%} of {judge.n_asked:,}"


def _costs(judge: ComparedJudge) -> tuple[str, str]:
    costs: Costs = judge.costs
    money = "-" if costs.usd_per_thousand is None else f"{costs.usd_per_thousand:.3f}"
    time = "-" if costs.seconds_per_thousand is None else f"{costs.seconds_per_thousand:.1f}"
    return (f"{money} (planned)" if costs.planned else money), time


def comparison_markdown(found: Comparison) -> str:
    """The comparison as a page of Markdown; text from data is escaped."""
    first = markdown_text(found.judges[0].name)
    parts: list[list[str]] = [
        ["# Judges compared"],
        [measured_line(found)],
        [f"- {warning}" for warning in map(markdown_text, found.warnings)],
        list(_table(JUDGE_COLUMNS, judge_rows(found))),
        [f"## {first} less each other, paired by query"],
        list(_table(DIFFERENCE_COLUMNS, difference_rows(found))),
        [_how_measured(found)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _how_measured(found: Comparison) -> str:
    return (
        f"Intervals: 95 %, {found.resamples:,} draws of the {found.n_queries:,} queries, the "
        f"same for all judges, seed {found.seed}; not corrected for the number of comparisons. "
        "A dash: not known. Seconds are of wall time, as the judge was asked."
    )


def measured_line(found: Comparison) -> str:
    """What the comparison stands on."""
    return (
        f"{found.n:,} pairs of {found.n_queries:,} queries that every judge graded, of "
        f"{found.n_labels:,} labelled; scale {found.scale}, relevant from {found.floor}"
    )


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"|---|{'---:|' * (len(columns) - 1)}"
    yield from (f"| {' | '.join(map(markdown_text, row))} |" for row in rows)


def comparison_json(found: Comparison) -> dict[str, Any]:
    """The comparison as plain data: undefined is null; six decimals."""
    return {
        "format": "relgate-judge-comparison/1",
        "n": found.n,
        "n_queries": found.n_queries,
        "n_labels": found.n_labels,
        "scale": found.scale,
        "floor": found.floor,
        "warnings": list(found.warnings),
        "judges": [_judge_json(judge) for judge in found.judges],
        "differences": [
            {
                "first": d.first,
                "second": d.second,
                "figures": {name: figure_json(f) for name, f in d.figures.items()},
            }
            for d in found.differences
        ],
        "interval": {
            "level": CONFIDENCE,
            "resampled": "queries",
            "method": METHOD,
            "paired": True,
            "resamples": found.resamples,
            "seed": found.seed,
        },
    }


def _judge_json(judge: ComparedJudge) -> dict[str, Any]:
    who = judge.identity
    return {
        "name": judge.name,
        "kind": judge.kind,
        "version": who.version,
        "fingerprint": who.fingerprint,
        "model": who.model,
        "figures": {name: figure_json(f) for name, f in judge.figures.items()},
        "graded": judge.n_graded,
        "asked": judge.n_asked,
        "coverage": digits(judge.coverage),
        "costs": asdict(judge.costs),
    }
