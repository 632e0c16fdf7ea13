"""What a refresh did, as JSON and as Markdown. Pure.

Raters stay in the lists; a report says judge or people, never who.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from relgate.eval.gaps.plan import FillPlan
from relgate.eval.refresh.apply import Move, StaleRow
from relgate.eval.refresh.shift import RunShift
from relgate.eval.refresh.stale import Staleness, State
from relgate.eval.refresh.work import Look, Regraded
from relgate.eval.report.escape import markdown_text as esc

__all__ = ["Report", "look_document", "plan_document", "refresh_document", "refresh_markdown"]

_SHOWN = 20


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """All that is told of one refresh.

    Attributes:
        looked: what was stale.
        done: what became of it.
        shifts: how far each run's NDCG moved.
        files: {what: where it was written}.
    """

    looked: Look
    done: Regraded
    shifts: tuple[RunShift, ...]
    files: Mapping[str, str]


def look_document(looked: Look) -> dict[str, Any]:
    """What is stale and why, as counts."""
    staleness = looked.staleness
    return {
        "moment": looked.moment.isoformat(timespec="seconds"),
        "max_age_days": looked.max_age_days,
        "judge": None
        if looked.opened is None
        else {
            "name": looked.opened.name,
            "version": looked.opened.judge.version,
            "fingerprint": looked.opened.judge.fingerprint,
        },
        "judgments": len(staleness.rows),
        "states": _by_source(staleness),
        "why": {
            "judge": {str(c): n for c, n in staleness.reasons(by_judge=True).items()},
            "people": {str(c): n for c, n in staleness.reasons(by_judge=False).items()},
        },
        "unknown": {
            "judge": {str(c): n for c, n in staleness.unknowns(by_judge=True).items()},
            "people": {str(c): n for c, n in staleness.unknowns(by_judge=False).items()},
        },
    }


def _by_source(staleness: Staleness) -> dict[str, dict[str, int]]:
    return {
        who: {state.value: staleness.count(state, by_judge=judge) for state in State}
        for who, judge in (("judge", True), ("people", False))
    }


def plan_document(plan: FillPlan) -> dict[str, Any]:
    """What grading anew would take."""
    return {
        "pairs": plan.pairs,
        "cached": plan.cached,
        "no_text": plan.no_text,
        "calls": plan.calls,
        "prompt_tokens": [plan.prompt.least, plan.prompt.most],
        "reply_tokens": [plan.reply.least, plan.reply.most],
        "cost_usd": None if plan.cost_usd is None else list(plan.cost_usd),
    }


def refresh_document(report: Report) -> dict[str, Any]:
    """The whole report; figures that are undefined are null."""
    done, refreshed = report.done, report.done.refreshed
    return {
        **look_document(report.looked),
        "asked": done.filled.asked,
        "graded": len(refreshed.moves),
        "cached": done.cached,
        "calls": done.calls,
        "cost_usd": done.cost_usd,
        "errors": dict(done.filled.errors),
        "error_rate": done.filled.error_rate,
        "not_asked": done.filled.not_asked,
        "no_text": done.filled.no_text,
        "changed": refreshed.changed,
        "moves": [
            {"from": old, "to": new, "pairs": n} for (old, new), n in refreshed.matrix.items()
        ],
        "retired": len(refreshed.retired),
        "for_people": len(refreshed.for_people),
        "still_stale": [_stale(row) for row in refreshed.still_stale],
        "queries": _queries(report),
        "runs": [_run(shift) for shift in report.shifts],
        "judgments_out": len(refreshed.judgments),
        "files": dict(report.files),
        "notes": list(done.notes),
    }


def _stale(row: StaleRow) -> dict[str, Any]:
    judgment = row.judgment
    return {
        "query_id": judgment.query.id,
        "query": judgment.query.text,
        "doc_id": judgment.doc_id,
        "grade": judgment.grade,
        "why": [str(check) for check in row.why],
    }


def _move(move: Move) -> dict[str, Any]:
    return {
        "doc_id": move.doc_id,
        "from": move.old,
        "to": move.new,
        "why": [str(check) for check in move.why],
    }


def _queries(report: Report) -> list[dict[str, Any]]:
    """Per query that a refresh touched, in the list's order."""
    refreshed = report.done.refreshed
    moves: dict[str, list[Move]] = {}
    for move in refreshed.moves:
        moves.setdefault(move.query.id, []).append(move)
    apart = {
        name: _docs_by_query(rows)
        for name, rows in (
            ("retired", refreshed.retired),
            ("for_people", refreshed.for_people),
            ("still_stale", refreshed.still_stale),
        )
    }
    return [
        {
            "id": query.id,
            "text": query.text,
            "graded": [_move(move) for move in moves.get(query.id, [])],
            **{name: docs.get(query.id, []) for name, docs in apart.items()},
        }
        for query in refreshed.judgments.queries
        if query.id in moves or any(query.id in docs for docs in apart.values())
    ]


def _docs_by_query(rows: Sequence[StaleRow]) -> dict[str, list[str]]:
    docs: dict[str, list[str]] = {}
    for row in rows:
        docs.setdefault(row.judgment.query.id, []).append(row.judgment.doc_id)
    return docs


def _run(shift: RunShift) -> dict[str, Any]:
    return {
        "name": shift.name,
        "metric": shift.old.name,
        "old": {"value": _number(shift.old.value), "n": shift.old.n},
        "new": {"value": _number(shift.new.value), "n": shift.new.n},
        "delta": _number(shift.delta),
        "n": shift.n,
        "lost": shift.lost,
        "gained": shift.gained,
        "unrated_old": shift.unrated_old,
        "unrated_new": shift.unrated_new,
        "queries": [
            {
                "id": q.query.id,
                "text": q.query.shown,
                "old": _number(q.old),
                "new": _number(q.new),
                "delta": _number(q.new - q.old),
            }
            for q in shift.queries
        ],
    }


def _number(value: float) -> float | None:
    return round(value, 6) if isfinite(value) else None


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
