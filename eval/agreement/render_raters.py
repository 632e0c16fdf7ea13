"""Agreement of raters as tables and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relgate.eval.agreement.intervals import CONFIDENCE, METHOD, Figure
from relgate.eval.agreement.people import JudgeAmongPeople
from relgate.eval.agreement.ratings import PairAgreement, RaterAgreement
from relgate.eval.agreement.versus import Versus
from relgate.eval.agreement.words import PEOPLE_LABELS, shown_figure
from relgate.eval.lists.table import cell, guarded

__all__ = [
    "PAIR_COLUMNS",
    "interval_json",
    "pair_rows",
    "people_json",
    "people_rows",
    "rater_rows",
    "raters_json",
    "versus_columns",
    "versus_csv",
    "versus_json",
    "versus_notes",
    "versus_rows",
]

_DIGITS = 6

RATER_LABELS: Mapping[str, str] = {
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_interval": "Krippendorff's alpha, interval",
    "alpha_ratio": "Krippendorff's alpha, ratio",
    "conger": "Conger's kappa (Cohen's for several)",
    "fleiss": "Fleiss' kappa",
    "brennan_prediger": "Brennan-Prediger",
    "ac1": "AC1",
    "ac2_ordinal": "AC2, ordinal weights",
    "ac2_quadratic": "AC2, quadratic weights",
    "same": "two raters give the same grade",
}
PAIR_COLUMNS = ("Rater", "Rater", "Pairs", "Same", "Kappa", "Linear", "Quadratic")


def rater_rows(found: RaterAgreement) -> list[list[str]]:
    """Figure, value, interval, standard error."""
    return [
        [label, *shown_figure(found.figures[name]), _short(found.errors[name])]
        for name, label in RATER_LABELS.items()
    ]


def people_rows(found: JudgeAmongPeople) -> list[list[str]]:
    """Figure, value, interval."""
    return [[label, *shown_figure(found.figures[name])] for name, label in PEOPLE_LABELS.items()]


def pair_rows(pairs: Sequence[PairAgreement]) -> list[list[str]]:
    """A row a pair of raters, by `PAIR_COLUMNS`."""
    return [
        [p.one, p.two, f"{p.pairs:,}", _short(p.same), _short(p.kappa), _short(p.linear_kappa),
         _short(p.quadratic_kappa)]
        for p in pairs
    ]  # fmt: skip


_HEADS: Mapping[str, str] = {
    "kappa": "Kappa",
    "kappa_linear": "Linear",
    "kappa_quadratic": "Quadr.",
    "alpha_ordinal": "Alpha",
}


def versus_columns(table: Sequence[Versus]) -> list[str]:
    """The columns of `versus_rows`; the group only where there are any."""
    heads = [_HEADS.get(name) or f">= {name.rpartition('_')[2]}" for name in _names(table)]
    group = ["Group"] if any(row.group for row in table) else []
    return [*group, "Rater", "Labels", *heads]


def _names(table: Sequence[Versus]) -> list[str]:
    return [
        name for name in dict.fromkeys(n for row in table for n in row.figures) if name != "same"
    ]


def versus_rows(table: Sequence[Versus]) -> list[list[str]]:
    """A row a rater and group, three digits; `-` where a figure is undefined or does not apply."""
    names, columns = _names(table), versus_columns(table)
    rows: list[list[str]] = []
    for row in table:
        points = [row.figures[name].point if name in row.figures else None for name in names]
        rows.append(
            [
                *([row.group] if "Group" in columns else []),
                row.rater,
                f"{row.n:,}" if row.n == row.asked else f"{row.n:,} of {row.asked:,}",
                *("-" if x is None else f"{round(x, 3) + 0.0:.3f}" for x in points),
            ]
        )
    return rows


def versus_notes(table: Sequence[Versus]) -> list[str]:
    """Why figures of a rater are undefined, a line each."""
    return [
        f"{row.rater}{' on ' + row.group if row.group else ''}: {row.undefined}"
        for row in table
        if row.undefined
    ]


def versus_csv(table: Sequence[Versus]) -> str:
    """The whole table with every figure and interval; an undefined figure is an empty cell."""
    names = list(dict.fromkeys(name for row in table for name in row.figures))
    ends = [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    head = [
        "group",
        "rater",
        "n",
        "asked",
        "queries",
        *ends,
        "mean_rater",
        "mean_reference",
        "note",
    ]
    lines = [head]
    for row in table:
        figures = [row.figures.get(name, Figure(None)) for name in names]
        numbers = [x for f in figures for x in (f.point, f.low, f.high)]
        numbers += [row.mean_rater, row.mean_reference]
        lines.append(
            [
                guarded(row.group),
                guarded(row.rater),
                *map(str, (row.n, row.asked, row.n_queries)),
                *("" if x is None else f"{rounded(x):.6f}" for x in numbers),
                row.undefined or "",
            ]
        )
    return "".join(",".join(map(cell, line)) + "\n" for line in lines)


def versus_json(row: Versus) -> dict[str, Any]:
    """One rater against the reference."""
    return {
        "rater": row.rater,
        "group": row.group,
        "n": row.n,
        "asked": row.asked,
        "coverage": rounded(row.coverage),
        "queries": row.n_queries,
        "figures": _figures_json(row.figures),
        "mean_rater": rounded(row.mean_rater),
        "mean_reference": rounded(row.mean_reference),
        "undefined": row.undefined,
    }


def raters_json(found: RaterAgreement, pairs: Sequence[PairAgreement]) -> dict[str, Any]:
    """Several raters, and every two of them."""
    return {
        "units": found.units,
        "queries": found.queries,
        "raters": dict(found.raters),
        "undefined": found.undefined,
        "figures": _figures_json(found.figures),
        "standard_errors": {name: rounded(value) for name, value in found.errors.items()},
        "standard_errors_over": found.errors_over,
        "pairs": [
            {
                "one": p.one,
                "two": p.two,
                "pairs": p.pairs,
                "same": rounded(p.same),
                "kappa": rounded(p.kappa),
                "kappa_linear": rounded(p.linear_kappa),
                "kappa_quadratic": rounded(p.quadratic_kappa),
                "floor_kappas": [rounded(x) for x in p.floor_kappas],
            }
            for p in pairs
        ],
    }


def people_json(found: JudgeAmongPeople) -> dict[str, Any]:
    """The judge as one more rater."""
    return {
        "units": found.units,
        "queries": found.queries,
        "units_of_people": found.units_of_people,
        "undefined": found.undefined,
        "figures": _figures_json(found.figures),
    }


def interval_json(*, seed: int, resamples: int) -> dict[str, Any]:
    """How the intervals were made."""
    return {
        "level": CONFIDENCE,
        "resampled": "queries",
        "method": METHOD,
        "resamples": resamples,
        "seed": seed,
    }


def _figures_json(figures: Mapping[str, Figure]) -> dict[str, Any]:
    return {
        name: {"point": rounded(f.point), "low": rounded(f.low), "high": rounded(f.high)}
        for name, f in figures.items()
    }


def rounded(value: float | None) -> float | None:
    """Six digits; no "-0.0"."""
    return None if value is None else round(value, _DIGITS) + 0.0


def _short(value: float | None) -> str:
    return "undefined" if value is None else f"{round(value, 4) + 0.0:.4f}"
