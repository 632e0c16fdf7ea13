"""What a refresh did, as Markdown for people. Pure.

Text from data is escaped: a query or an id can neither forge a row nor mention anybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

from relgate.eval.refresh.apply import Move
from relgate.eval.refresh.report import Report
from relgate.eval.refresh.shift import RunShift
from relgate.eval.refresh.stale import Staleness, State
from relgate.eval.report.escape import markdown_text as esc

__all__ = ["refresh_markdown"]

_SHOWN = 20


def refresh_markdown(report: Report) -> str:
    """The report for people; text from data is escaped."""
    sections = [
        ["## Judgment list refresh"],
        list(_state_table(report.looked.staleness)),
        list(_reason_lines(report.looked.staleness)),
        ["### Graded anew", "", *_graded_lines(report)],
        ["### How far the runs move by labels alone", "", *_run_lines(report.shifts)],
        ["### Queries whose grades changed", "", *_query_lines(report)],
        ["### Left to do", "", *_open_lines(report)],
        ["### Files", "", *(f"- {esc(what)}: {esc(path)}" for what, path in report.files.items())],
        *(
            [["### Notes", "", *(f"- {esc(note)}" for note in report.done.notes)]]
            if report.done.notes
            else []
        ),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _state_table(staleness: Staleness) -> Iterator[str]:
    yield "| Graded by | " + " | ".join(state.value for state in State) + " |"
    yield "|---|" + "---:|" * len(State)
    for who, counts in (("a judge", True), ("people, rules, imports", False)):
        cells = (f"{staleness.count(state, by_judge=counts):,}" for state in State)
        yield f"| {who} | " + " | ".join(cells) + " |"


def _reason_lines(staleness: Staleness) -> Iterator[str]:
    for who, judge in (("a judge's", True), ("other", False)):
        for check, n in staleness.reasons(by_judge=judge).items():
            yield f"- {n:,} {who} judgments: {check}"
        for check, n in staleness.unknowns(by_judge=judge).items():
            yield f"- {n:,} {who} judgments do not say enough to be checked for {check}"


def _graded_lines(report: Report) -> Iterator[str]:
    done, refreshed = report.done, report.done.refreshed
    parts = [f"{len(refreshed.moves):,} of {done.filled.asked:,} pairs got a new grade"]
    if done.calls is not None:
        parts.append(f"{done.calls:,} calls")
    if done.cached:
        parts.append(f"{done.cached:,} from the cache")
    if done.cost_usd is not None:
        parts.append(f"about {done.cost_usd:.4f} USD")
    if done.saved_usd is not None:
        parts.append(f"about {done.saved_usd:.4f} USD saved by the cache")
    yield ", ".join(parts) + f"; {refreshed.changed:,} grades changed."
    if refreshed.matrix:
        yield ""
        yield "| From | To | Pairs |"
        yield "|---:|---:|---:|"
        for (old, new), n in refreshed.matrix.items():
            yield f"| {old} | {new} | {n:,} |"


def _run_lines(shifts: Sequence[RunShift]) -> Iterator[str]:
    if not shifts:
        yield "No run was given."
        return
    yield "| Run | Metric | Old list | New list | Delta | Queries | Unrated old | Unrated new |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    for shift in shifts:
        yield (
            f"| {esc(shift.name)} | `{shift.old.name}` | {_shown(shift.old.value)} | "
            f"{_shown(shift.new.value)} | {_shown(shift.delta, signed=True)} | {shift.n:,} | "
            f"{shift.unrated_old:,} | {shift.unrated_new:,} |"
        )
    for shift in shifts:
        if shift.lost or shift.gained:
            yield ""
            yield (
                f"{esc(shift.name)}: {shift.lost:,} queries have no value under the new list, "
                f"{shift.gained:,} none under the old; the delta leaves them out."
            )


def _shown(value: float, *, signed: bool = False) -> str:
    if not isfinite(value):
        return "undefined"
    return f"{value:+.4f}" if signed else f"{value:.4f}"


def _query_lines(report: Report) -> Iterator[str]:
    by_query: dict[str, list[Move]] = {}
    for move in report.done.refreshed.moves:
        if move.old != move.new:
            by_query.setdefault(move.query.id, []).append(move)
    if not by_query:
        yield "None."
        return
    most = sorted(by_query.values(), key=lambda moves: -len(moves))
    yield "| Query | Document | From | To | Why |"
    yield "|---|---|---:|---:|---|"
    for moves in most[:_SHOWN]:
        for move in moves:
            why = ", ".join(move.why)
            name = esc(move.query.shown)
            yield f"| {name} | {esc(move.doc_id)} | {move.old} | {move.new} | {why} |"
    if len(most) > _SHOWN:
        yield ""
        yield f"{len(most) - _SHOWN:,} more queries in refresh.json."


def _open_lines(report: Report) -> Iterator[str]:
    refreshed, filled = report.done.refreshed, report.done.filled
    if refreshed.retired:
        yield f"- {len(refreshed.retired):,} judgments were retired: their documents are gone"
    if refreshed.for_people:
        yield f"- {len(refreshed.for_people):,} stale judgments wait for people"
    if refreshed.still_stale:
        yield f"- {len(refreshed.still_stale):,} stale judgments got no new grade and stay:"
        kinds = [*sorted(filled.errors.items())]
        kinds += [("not asked", filled.not_asked)] if filled.not_asked else []
        kinds += [("no text in the catalogue", filled.no_text)] if filled.no_text else []
        for kind, n in kinds:
            yield f"  - {n:,} {kind}"
    if not (refreshed.retired or refreshed.for_people or refreshed.still_stale):
        yield "Nothing."
