"""The charts of a calibration page: confusion, figures with intervals, groups, leniency. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relgate.eval.agreement.words import LABELS
from relgate.eval.report.html.numbers import count, number, share
from relgate.eval.report.html.parts import Chart, Column, Table
from relgate.eval.report.html.svg import Axes, Ink, draw

__all__ = [
    "confusion_chart",
    "group_chart",
    "interval_chart",
    "leniency_chart",
    "numbered_chart",
    "with_interval",
]

Document = Mapping[str, Any]

_DEEPEST = 0.5  # of the fill: the count in the cell must stay readable in light and dark
_ROW_PX = 34
_EDGE_PX = 76
_LABEL_SHARE = 0.42  # of the width, for the names of the rows
_SHOWN = (
    ("kappa_quadratic", LABELS["kappa_quadratic"], "quadratic_kappa_bar"),
    ("kappa_linear", LABELS["kappa_linear"], None),
    ("kappa", LABELS["kappa"], None),
    ("floor_kappa", "kappa at the floor", None),
    ("f1", "F1 at the floor", "f1_bar"),
    ("precision", "precision at the floor", None),
    ("recall", "recall at the floor", None),
    ("specificity", "specificity at the floor", None),
    ("accuracy", LABELS["accuracy"], None),
    ("coverage", "coverage", None),
)


def with_interval(figure: Document, digits: int = 3) -> str:
    """`0.512 (0.40 to 0.61)`; `undefined` with its reason."""
    why = f" ({figure['why']})" if figure["why"] else ""
    if figure["point"] is None:
        return f"undefined{why}"
    point = number(figure["point"], digits)
    if figure["low"] is None:
        return f"{point}, no interval{why}"
    return f"{point} ({number(figure['low'], digits)} to {number(figure['high'], digits)})"


def confusion_chart(document: Document) -> Chart:
    """Counts by people's grade and the judge's; the deeper, the larger the share of the row."""
    table: Sequence[Sequence[int]] = document["table"]
    grades = range(len(table))

    def paint(ax: Axes) -> None:
        for i, row in enumerate(table):
            for j, n in enumerate(row):
                _cell(ax, i, j, n, sum(row))
        ax.set_xlim(-0.5, len(table) - 0.5)
        ax.set_ylim(len(table) - 0.5, -0.5)
        ax.set_xticks(list(grades))
        ax.set_yticks(list(grades))
        ax.tick_params(length=0)
        ax.set_xlabel("the judge's grade")
        ax.set_ylabel("people's grade")
        for side in ax.spines.values():
            side.set_visible(False)

    same = sum(table[g][g] for g in grades)
    return Chart(
        id="confusion-chart",
        title="Confusion of people's grades and the judge's",
        description=(
            f"{count(same)} of {count(document['n'])} pairs have the same grade and stand on the "
            "diagonal, framed. Right of it the judge is lenient, left of it strict. The deeper a "
            "cell, the larger its share of the row, which stands below the count."
        ),
        svg=draw("confusion-chart", paint, width=420, height=60 + 78 * len(table)),
        table=_confusion_table(table),
    )


def _cell(ax: Axes, i: int, j: int, n: int, of: int) -> None:
    deep = _DEEPEST * n / of if of else 0.0
    patch = {"facecolor": Ink.ACCENT.value, "alpha": deep, "linewidth": 0}
    ax.bar(j, 0.94, width=0.94, bottom=i - 0.47, **patch)
    if i == j:
        ax.bar(j, 0.94, width=0.94, bottom=i - 0.47, fill=False, edgecolor=Ink.MUTED.value)
    ax.text(j, i - 0.08, f"{n:,}", ha="center", va="center", color=Ink.TEXT.value)
    words = f"{100 * n / of:.0f} %" if of else "no label"
    ax.text(j, i + 0.22, words, ha="center", va="center", color=Ink.TEXT.value)


def _confusion_table(table: Sequence[Sequence[int]]) -> Table:
    columns = [Column("People"), *(Column(f"Judge {g}", number=True) for g in range(len(table)))]
    rows = [[f"grade {g}", *map(count, row)] for g, row in enumerate(table)]
    return Table.of("confusion-figures", "Pairs by people's grade and the judge's", columns, rows)


def interval_chart(document: Document) -> Chart:
    """The main figures with their intervals, and the bars of the policy."""
    terms = document["policy_terms"]
    rows = [(label, document["figures"][name], terms.get(bar)) for name, label, bar in _SHOWN]
    reach = [v for _, f, _ in rows for v in (f["point"], f["low"]) if v is not None]
    least = min([0.0, *reach])

    def paint(ax: Axes) -> None:
        _rows_of(ax, [label for label, _, _ in rows])
        for i, (_, figure, bar) in enumerate(rows):
            _whisker(ax, i, figure, at_undefined=0.0)
            if bar is not None:
                ends = ((bar, bar), (i - 0.4, i + 0.4))
                ax.plot(*ends, color=Ink.BAD.value, linewidth=2.5, linestyle=(0, (2, 1)))
        ax.set_xlim(least - 0.03, 1.03)
        ax.grid(visible=True, axis="x")

    return Chart(
        id="interval-chart",
        title="Figures and their 95 % intervals",
        description=(
            "A dot is the figure on all pairs, a line its interval over resampled queries. A "
            "dashed upright mark is the policy's bar; the lower end must reach it where the policy "
            "asks for that."
        ),
        svg=draw("interval-chart", paint, width=520, height=_EDGE_PX + _ROW_PX * len(rows)),
        table_at="scale-figures",
    )


def _rows_of(ax: Axes, names: Sequence[str]) -> None:
    """A row a name, from the top; room on the left for the names."""
    box = ax.get_position()
    ax.set_position([_LABEL_SHARE, box.y0, 0.97 - _LABEL_SHARE, box.height])
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def _whisker(ax: Axes, row: int, figure: Document, *, at_undefined: float) -> None:
    if figure["point"] is None:
        ax.text(at_undefined, row, "undefined", va="center", color=Ink.MUTED.value)
        return
    if figure["low"] is not None:
        ends = (figure["low"], figure["high"])
        ax.plot(ends, (row, row), color=Ink.ACCENT.value, linewidth=3, solid_capstyle="butt")
    ax.plot(figure["point"], row, marker="o", markersize=9, color=Ink.ACCENT.value)


def group_chart(document: Document) -> Chart:
    """Quadratic kappa of each stratum and locale; rows are numbered as in the table."""
    return numbered_chart(
        "group-chart",
        "Reliability by stratum and locale",
        "Quadratic kappa with its 95 % interval; the numbers are those of the table. The upright "
        "line is that of all labels together. Few queries make long lines.",
        [group["figures"]["kappa_quadratic"] for group in document["groups"]],
        mark=document["figures"]["kappa_quadratic"]["point"],
        table_at="group-figures",
    )


def numbered_chart(
    key: str,
    title: str,
    description: str,
    figures: Sequence[Document],
    *,
    mark: float | None,
    table_at: str,
) -> Chart:
    """Quadratic kappas with their intervals, a row each, numbered: their names are from data."""
    reach = [v for f in figures for v in (f["point"], f["low"]) if v is not None]

    def paint(ax: Axes) -> None:
        ax.set_yticks(range(len(figures)), [str(i + 1) for i in range(len(figures))])
        ax.set_ylim(len(figures) - 0.5, -0.5)
        for i, figure in enumerate(figures):
            _whisker(ax, i, figure, at_undefined=0.0)
        if mark is not None:
            ax.axvline(mark, color=Ink.MUTED.value, linewidth=1.5)
        ax.set_xlim(min([0.0, *reach]) - 0.03, 1.03)
        ax.set_xlabel(LABELS["kappa_quadratic"])
        ax.set_ylabel("row of the table")
        ax.grid(visible=True, axis="x")

    height = _EDGE_PX + _ROW_PX * len(figures)
    drawing = draw(key, paint, width=520, height=height)
    return Chart(key, title, description, drawing, table_at=table_at)


def leniency_chart(document: Document) -> Chart:
    """Of each of people's grades, how much the judge graded lower, alike and higher."""
    rows: Sequence[Document] = document["leniency"]
    parts = (("lower", Ink.BAD), ("same", Ink.GRID), ("higher", Ink.SECOND))

    def paint(ax: Axes) -> None:
        for i, row in enumerate(rows):
            left = 0.0
            for name, ink in parts:
                width = row[name]["point"] or 0.0
                ax.barh(i, width, left=left, height=0.62, color=ink.value)
                left += width
            if not row["n"]:
                ax.text(0.0, i, "no label", va="center", color=Ink.MUTED.value)
        ax.set_yticks(range(len(rows)), [str(row["grade"]) for row in rows])
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlim(0, 1)
        ax.set_xlabel("share of the pairs: lower, alike, higher")
        ax.set_ylabel("people's grade")

    words = ", ".join(
        f"grade {row['grade']}: {share(row['lower']['point'])} lower, "
        f"{share(row['higher']['point'])} higher"
        for row in rows
        if row["n"]
    )
    return Chart(
        id="leniency-chart",
        title="Strict or lenient, by people's grade",
        description=(
            f"From left to right: graded lower than people, alike (pale), higher. {words}. At the "
            "ends of the scale a judge can err one way only."
        ),
        svg=draw("leniency-chart", paint, width=480, height=_EDGE_PX + 44 * len(rows)),
        table_at="leniency-figures",
    )
