"""A comparison of judges as one HTML file, from `comparison.json` alone. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from relgate.eval.report.html.calibration_charts import numbered_chart, with_interval
from relgate.eval.report.html.numbers import count, number, share
from relgate.eval.report.html.page import render
from relgate.eval.report.html.parts import (
    Charts,
    Column,
    Fact,
    Facts,
    Note,
    Page,
    Part,
    Points,
    Section,
    Table,
)

__all__ = ["comparison_html"]

Document = Mapping[str, Any]

_FIGURES: Mapping[str, str] = {
    "kappa_quadratic": "Quadratic kappa",
    "kappa": "Kappa",
    "f1": "F1 at the floor",
    "mean_shift": "Leniency, in grades",
}


def comparison_html(document: Document) -> str:
    """The page of a comparison; no figure in it is not in the document.

    Args:
        document: what `comparison_json` makes and `comparison.json` holds.
    """
    judges = document["judges"]
    named = [j["name"] for j in judges if j["kind"] == "judge"]
    drawn = document["interval"]
    return render(
        Page(
            title="Judges compared",
            heading="Judges compared",
            word=f"{len(named)} judge{'s' if len(named) != 1 else ''}",
            why=f"{', '.join(named)}: on the pairs that all judges graded.",
            tone="",
            tiles=Facts(
                (
                    Fact("Pairs graded by all", count(document["n"])),
                    Fact("Queries", count(document["n_queries"])),
                    Fact("Labelled pairs", count(document["n_labels"])),
                    Fact("Scale and floor", f"{document['scale']}, from {document['floor']}"),
                ),
                tiles=True,
            ),
            sections=(
                Section("judges", "Judges", tuple(_judges(judges))),
                Section("notes", "What to mind", tuple(_notes(document))),
                Section("differences", "Differences, paired by query", tuple(_pairs(document))),
            ),
            footer=(
                f"Intervals: 95 %, {count(drawn['resamples'])} draws of the queries, the same for "
                f"all judges, seed {drawn['seed']}. Format {document['format']}. Every figure is "
                "in comparison.json."
            ),
        )
    )


def _judges(judges: Sequence[Document]) -> Iterator[Part]:
    kappas = [judge["figures"]["kappa_quadratic"] for judge in judges]
    yield Charts(
        (
            numbered_chart(
                "judge-chart",
                "Quadratic kappa of each judge",
                "With its 95 % interval; the numbers are those of the table. Intervals that "
                "overlap may still differ: read the paired differences.",
                kappas,
                mark=None,
                table_at="judge-figures",
            ),
        )
    )
    columns = [
        Column("Judge"),
        *(Column(name, number=True) for name in _FIGURES.values()),
        Column("Coverage", number=True),
        Column("USD/1,000", number=True),
        Column("Seconds/1,000", number=True),
    ]
    rows = [
        [
            f"{i}. {judge['name']}",
            *(with_interval(judge["figures"][name]) for name in _FIGURES),
            share(judge["coverage"]),
            number(judge["costs"]["usd_per_thousand"], 3)
            + (" (planned)" if judge["costs"]["planned"] else ""),
            number(judge["costs"]["seconds_per_thousand"], 1),
        ]
        for i, judge in enumerate(judges, start=1)
    ]
    yield Table.of("judge-figures", "On the pairs that all graded", columns, rows)


def _notes(document: Document) -> Iterator[Part]:
    if document["warnings"]:
        yield Points(tuple(document["warnings"]))


def _pairs(document: Document) -> Iterator[Part]:
    yield Note("The first less the second; not corrected for the number of comparisons.")
    columns = [
        Column("First"),
        Column("Second"),
        *(Column(name, number=True) for name in _FIGURES.values()),
    ]
    rows = [
        [d["first"], d["second"], *(with_interval(d["figures"][name]) for name in _FIGURES)]
        for d in document["differences"]
    ]
    yield Table.of("difference-figures", "Every two of the rows above", columns, rows)
