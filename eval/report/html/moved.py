"""Which queries of a saved review moved, and the charts of it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from relgate.eval.report.html.numbers import count, number, signed
from relgate.eval.report.html.parts import Chart, Column, Table
from relgate.eval.report.html.svg import Axes, Ink, draw, number_ends

__all__ = ["Moved", "delta_chart", "moved_queries", "slope_chart"]

_TOLERANCE = 1e-9
_DRAWN_A_SIDE = 60
_NUMBERED = 5
_BINS_A_SIDE = 10
_LEAST_BINS = 5
_WIDTHS = (0.01, 0.02, 0.05, 0.1)


@dataclass(frozen=True, slots=True)
class Moved:
    """The queries scored on both sides, by which way they went.

    Attributes:
        worse: worst first; of equal drops, in the review's order.
        better: best first.
        same: how many did not move.
    """

    worse: tuple[Mapping[str, Any], ...]
    better: tuple[Mapping[str, Any], ...]
    same: int

    @property
    def paired(self) -> int:
        """How many queries are scored on both sides."""
        return len(self.worse) + len(self.better) + self.same


def moved_queries(queries: Sequence[Mapping[str, Any]]) -> Moved:
    """Sorts the queries of `review.json` by their change."""
    paired = [q for q in queries if q["delta"] is not None]
    worse = sorted((q for q in paired if q["delta"] < -_TOLERANCE), key=lambda q: q["delta"])
    better = sorted((q for q in paired if q["delta"] > _TOLERANCE), key=lambda q: -q["delta"])
    return Moved(tuple(worse), tuple(better), len(paired) - len(worse) - len(better))


def delta_chart(moved: Moved) -> Chart:
    """How many queries moved by how much; those that did not move are told and not drawn."""
    deltas = [q["delta"] for q in (*moved.worse, *moved.better)]
    width = _bin_width(max(map(abs, deltas)))
    bins = Counter(_bin(delta, width) for delta in deltas)

    def paint(ax: Axes) -> None:
        for sign, ink in ((-1, Ink.BAD), (1, Ink.GOOD)):
            chosen = sorted(i for i in bins if i * sign > 0)
            middles = [(i - sign / 2) * width for i in chosen]
            heights = [bins[i] for i in chosen]
            ax.bar(middles, heights, width=0.9 * width, color=ink.value)
        reach = max(_LEAST_BINS, *map(abs, bins)) * width
        ax.set_xlim(-reach - width / 2, reach + width / 2)
        ax.axvline(0, color=Ink.MUTED.value, linewidth=1)
        ax.set_xlabel("change of the query's score")
        ax.set_ylabel("queries")
        ax.xaxis.get_major_locator().set_params(nbins=6)
        ax.yaxis.get_major_locator().set_params(integer=True)
        ax.grid(visible=True, axis="y")

    return Chart(
        id="delta-chart",
        title="How far queries moved",
        description=(
            f"Of {count(moved.paired)} queries scored on both sides, {count(len(moved.worse))} got "
            f"worse (left of zero), {count(len(moved.better))} got better (right of it), and "
            f"{count(moved.same)} did not move (not drawn)."
        ),
        svg=draw("delta-chart", paint),
        table=Table.of(
            "delta-figures",
            f"Queries by change, in steps of {width:g}",
            [Column("Change"), Column("Queries", number=True)],
            [[_range(i, width), count(bins[i])] for i in sorted(bins)],
        ),
    )


def _bin_width(reach: float) -> float:
    """The least usual step of which few reach from zero to the largest change."""
    return next((w for w in _WIDTHS if w * _BINS_A_SIDE >= reach - _TOLERANCE), _WIDTHS[-1])


def _bin(delta: float, width: float) -> int:
    """1 for (0, width], -1 for [-width, 0), and so on: no bin holds both signs."""
    steps = delta / width
    return ceil(steps - _TOLERANCE) if delta > 0 else floor(steps + _TOLERANCE)


def _range(index: int, width: float) -> str:
    low, high = (index - 1, index) if index > 0 else (index, index + 1)
    return f"{signed(low * width, 2)} to {signed(high * width, 2)}"


def slope_chart(moved: Moved, aggregate: Mapping[str, Any], table_at: str) -> Chart:
    """One line a query from before to after: the 60 largest drops and the 60 largest rises."""
    worse, better = moved.worse[:_DRAWN_A_SIDE], moved.better[:_DRAWN_A_SIDE]
    lines = [(f"worse{i}", q) for i, q in enumerate(worse)]
    lines += [(f"better{i}", q) for i, q in enumerate(better)]

    def paint(ax: Axes) -> None:
        for gid, q in reversed(lines):  # the worst on top
            ink = Ink.BAD if q["delta"] < 0 else Ink.GOOD
            ends = (q["before"], q["after"])
            ax.plot((0, 1), ends, color=ink.value, gid=gid, linewidth=1.6, alpha=0.6)
        mean = (aggregate["before"], aggregate["after"])
        if None not in mean:
            ax.plot((0, 1), mean, color=Ink.TEXT.value, linewidth=3.5, gid="mean")
        if all(0 <= end <= 1 for _, q in lines for end in (q["before"], q["after"])):
            ax.set_ylim(-0.03, 1.03)  # the whole scale: a small change must look small
        lost = [q["after"] for q in worse[:_NUMBERED]]
        number_ends(ax, 1.03, lost, [Ink.BAD] * len(lost), range(1, len(lost) + 1))
        ax.set_xlim(-0.04, 1.12)
        ax.set_xticks((0, 1), ("before", "after"))
        ax.set_ylabel("score")
        ax.grid(visible=True, axis="y")

    return Chart(
        id="slope-chart",
        title="Queries before and after",
        description=_slope_words(moved, worse, better),
        svg=draw("slope-chart", paint, tooltips=_tooltips(lines, aggregate)),
        table_at=table_at,
    )


def _slope_words(
    moved: Moved, worse: Sequence[Mapping[str, Any]], better: Sequence[Mapping[str, Any]]
) -> str:
    parts = [
        _drawn(len(drawn), len(every), what)
        for drawn, every, what in ((worse, moved.worse, "drop"), (better, moved.better, "rise"))
        if every
    ]
    numbered = " Numbers are those of the table of queries that got worse." if worse else ""
    return f"Drawn: {' and '.join(parts)}; the thick line is the mean of all queries.{numbered}"


def _drawn(drawn: int, every: int, what: str) -> str:
    if drawn < every:
        return f"the {count(drawn)} largest {what}s of {count(every)}"
    return f"the one {what}" if every == 1 else f"all {count(every)} {what}s"


def _tooltips(
    lines: Sequence[tuple[str, Mapping[str, Any]]], aggregate: Mapping[str, Any]
) -> dict[str, str]:
    tips = {
        gid: f'"{q["text"]}": {number(q["before"], 2)} to {number(q["after"], 2)}'
        for gid, q in lines
    }
    return {**tips, "mean": f"mean: {number(aggregate['before'])} to {number(aggregate['after'])}"}
