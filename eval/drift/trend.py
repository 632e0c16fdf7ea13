"""The history of runs as one HTML page: a chart a signal, a line a combination of stages. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice, pairwise

from relgate.eval.drift.history import Entry
from relgate.eval.drift.types import SIGNALS, Outcome, Signal
from relgate.eval.report.html.numbers import ABSENT, count, number, number_cell
from relgate.eval.report.html.page import render
from relgate.eval.report.html.parts import (
    Cell,
    Chart,
    Charts,
    Column,
    Fact,
    Facts,
    Note,
    Page,
    Part,
    Section,
    Table,
    Tone,
)
from relgate.eval.report.html.svg import Axes, Ink, draw, number_ends

__all__ = ["trend_html"]

_TONES: dict[Outcome, Tone] = {"pass": "good", "warn": "warn", "fail": "bad", "mismatch": "bad"}
_FAILED: tuple[Outcome, ...] = ("fail", "mismatch")
_NAMES = {
    Signal.NDCG: "NDCG",
    Signal.MRR: "MRR",
    Signal.PRECISION: "P@k",
    Signal.EMPTY: "Rate of empty results",
    Signal.LT3: "Rate of fewer than three results",
}
_HEADINGS = {**_NAMES, Signal.EMPTY: "Empty", Signal.LT3: "Fewer than 3"}
_INKS = (Ink.ACCENT, Ink.SECOND, Ink.GOOD, Ink.TEXT)
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)))
_LEAST_SPAN = 0.05  # of the upright axis: a move within the soft budgets must look small
_NAN = float("nan")


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of the gate: an entry a combination, no combination twice."""

    entries: tuple[Entry, ...]

    @property
    def first(self) -> Entry:
        """Time, commit, set and outcome are the same in every entry."""
        return self.entries[0]

    def mean(self, stages: str, signal: Signal) -> float | None:
        """None where the run lacks the combination or the figure."""
        return next((e.means.get(signal) for e in self.entries if e.stages == stages), None)


def trend_html(entries: Sequence[Entry]) -> str:
    """The page of a history; the same entries give the same bytes.

    Runs are drawn in the order of the file, evenly spaced: the table has their times.

    Args:
        entries: oldest first, as `read_history` gives them; may be none.
    """
    runs = _runs(entries)
    stages = tuple(dict.fromkeys(entry.stages for entry in entries))
    last = runs[-1].first if runs else None
    return render(
        Page(
            title="Relevance trend",
            heading="Relevance trend",
            word="NO RUNS" if last is None else last.outcome.upper(),
            why="The history is empty." if last is None else _latest(last),
            tone="muted" if last is None else _TONES[last.outcome],
            tiles=_tiles(runs, stages),
            sections=(
                Section("trend", "Trend", tuple(_charts(runs, stages))),
                Section("stages", "Combinations of stages", tuple(_stages(runs, stages))),
                Section("runs", "Runs", tuple(_run_table(runs, stages))),
            ),
            footer="Means over the core queries. Every figure is in the history's file.",
        )
    )


def _runs(entries: Sequence[Entry]) -> tuple[_Run, ...]:
    """Entries of one run stand together and share all but stages and means."""
    found: list[list[Entry]] = []
    for entry in entries:
        if found and _same_run(found[-1], entry):
            found[-1].append(entry)
        else:
            found.append([entry])
    return tuple(_Run(tuple(run)) for run in found)


def _same_run(run: Sequence[Entry], entry: Entry) -> bool:
    first = run[0]
    return (first.at, first.sha, first.golden_version, first.outcome) == (
        entry.at, entry.sha, entry.golden_version, entry.outcome,
    ) and all(one.stages != entry.stages for one in run)  # fmt: skip


def _latest(last: Entry) -> str:
    commit = f", commit {last.sha}" if last.sha else ""
    return f"The latest run: {last.at}{commit}, golden set {last.golden_version}."


def _tiles(runs: Sequence[_Run], stages: Sequence[str]) -> Facts:
    outcomes = Counter(run.first.outcome for run in runs)
    failed = sum(outcomes[word] for word in _FAILED)
    return Facts(
        (
            Fact("Runs", count(len(runs))),
            Fact("Failed or not comparable", count(failed), "bad" if failed else ""),
            Fact("Warned", count(outcomes["warn"]), "warn" if outcomes["warn"] else ""),
            Fact("Changes of the golden set", count(len(_set_changes(runs)))),
            Fact("Combinations of stages", count(len(stages))),
        ),
        tiles=True,
    )


def _set_changes(runs: Sequence[_Run]) -> list[int]:
    """Numbers, from 1, of the runs whose golden set is not that of the run before."""
    return [
        i
        for i, (old, new) in enumerate(pairwise(runs), start=2)
        if old.first.golden_version != new.first.golden_version
    ]


def _charts(runs: Sequence[_Run], stages: Sequence[str]) -> Iterator[Part]:
    if not runs:
        yield Note("No run is in the history.")
        return
    known = {signal for run in runs for e in run.entries for signal in e.means}
    yield Charts(tuple(_chart(runs, stages, signal) for signal in SIGNALS if signal in known))


def _chart(runs: Sequence[_Run], stages: Sequence[str], signal: Signal) -> Chart:
    key = f"{signal.value.replace('_', '-')}-chart"
    numbers = range(1, len(runs) + 1)
    values = [[run.mean(words, signal) for run in runs] for words in stages]
    styles = list(islice(cycle([(i, d) for d in _DASHES for i in _INKS]), len(stages)))

    def paint(ax: Axes) -> None:
        for i, (row, (ink, dash)) in enumerate(zip(values, styles, strict=True)):
            heights = [_NAN if value is None else value for value in row]
            ax.plot(numbers, heights, color=ink.value, linestyle=dash, linewidth=2)
            for n, value in enumerate(row, start=1):
                if value is not None:
                    failed = runs[n - 1].first.outcome in _FAILED
                    _mark(ax, n, value, Ink.BAD if failed else ink, f"p{i}-{n}")
        _frame(ax, [v for row in values for v in row if v is not None], _set_changes(runs))
        ax.set_xlim(0.5, len(runs) + 0.5 + 0.06 * len(runs))
        _number_lines(ax, values, [ink for ink, _ in styles])

    return Chart(
        id=key,
        title=_NAMES[signal],
        description=_described(signal, values, len(runs)),
        svg=draw(key, paint, tooltips=_tooltips(runs, values)),
        table_at="run-figures",
    )


def _mark(ax: Axes, run: int, value: float, ink: Ink, gid: str) -> None:
    """A dot; a cross where the run failed: form and colour say it."""
    shape, size = ("X", 10) if ink is Ink.BAD else ("o", 5)
    ax.plot([run], [value], color=ink.value, marker=shape, markersize=size, gid=gid)


def _frame(ax: Axes, values: Sequence[float], changes: Sequence[int]) -> None:
    low, high = min(values, default=0.0), max(values, default=1.0)
    span = max(_LEAST_SPAN, 1.2 * (high - low))
    bottom = max((low + high - span) / 2, -0.05 * span)  # means are 0..1: no room is left below
    ax.set_ylim(bottom, bottom + span)
    for run in changes:
        ax.axvline(run - 0.5, color=Ink.MUTED.value, linewidth=1.5, linestyle=(0, (4, 3)))
    ax.set_xlabel("run, the oldest first")
    ax.xaxis.get_major_locator().set_params(integer=True, nbins=8, min_n_ticks=1)
    ax.grid(visible=True, axis="y")


def _number_lines(ax: Axes, values: Sequence[Sequence[float | None]], inks: Sequence[Ink]) -> None:
    """The number of each combination at the right; one without a figure has its number nowhere."""
    known = [(i, [v for v in row if v is not None]) for i, row in enumerate(values)]
    ends = [(i, row[-1]) for i, row in known if row]
    number_ends(
        ax,
        ax.get_xlim()[1],
        [end for _, end in ends],
        [inks[i] for i, _ in ends],
        [i + 1 for i, _ in ends],
    )


def _described(signal: Signal, values: Sequence[Sequence[float | None]], runs: int) -> str:
    better = "lower" if signal.rises else "higher"
    words = f"{count(runs)} run{'s' if runs != 1 else ''}; {better} is better."
    ends = [f"{i}: {number(row[0])} to {number(row[-1])}" for i, row in enumerate(values, start=1)]
    return (
        f"{words} First to last run, by combination of stages: {'; '.join(ends)}. A cross is a run "
        "that failed or could not be compared, a dashed upright line another golden set: figures "
        "on its two sides do not compare."
    )


def _tooltips(runs: Sequence[_Run], values: Sequence[Sequence[float | None]]) -> dict[str, str]:
    return {
        f"p{i}-{n}": f"{run.first.at}, {run.first.sha or 'no commit'}: {number(row[n - 1])}, "
        f"{run.first.outcome}"
        for i, row in enumerate(values)
        for n, run in enumerate(runs, start=1)
    }


def _stages(runs: Sequence[_Run], stages: Sequence[str]) -> Iterator[Part]:
    if not stages:
        return
    measured = Counter(entry.stages for run in runs for entry in run.entries)
    yield Table.of(
        "stage-names",
        "The numbers at the ends of the lines",
        [Column("Number", number=True), Column("Stages"), Column("Runs", number=True)],
        [[str(i), words, count(measured[words])] for i, words in enumerate(stages, start=1)],
    )


def _run_table(runs: Sequence[_Run], stages: Sequence[str]) -> Iterator[Part]:
    if not runs:
        return
    changes = set(_set_changes(runs))
    numbers = {words: i for i, words in enumerate(stages, start=1)}
    columns = (
        Column("Run", number=True),
        Column("Time"),
        Column("Commit"),
        Column("Golden set"),
        Column("Stages", number=True),
        *(Column(_HEADINGS[signal], number=True) for signal in SIGNALS),
        Column("Outcome"),
    )
    rows = tuple(
        _row(n, entry, numbers[entry.stages], new_set=n in changes)
        for n, run in enumerate(runs, start=1)
        for entry in run.entries
    )
    yield Table("run-figures", "The oldest first", columns, rows, head=1, sortable=True)


def _row(run: int, entry: Entry, stages: int, *, new_set: bool) -> tuple[Cell, ...]:
    return (
        Cell(str(run), sort=run),
        Cell(entry.at),
        Cell(entry.sha or ABSENT),
        Cell(entry.golden_version, marks=("changed",) if new_set else ()),
        Cell(str(stages), sort=stages),
        *(number_cell(entry.means.get(signal)) for signal in SIGNALS),
        Cell(entry.outcome, _TONES[entry.outcome]),
    )
