"""What a refresh did, as JSON. Pure.

Raters stay in the lists; a report says judge or people, never who.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from relgate.eval.refresh.apply import Move, StaleRow
from relgate.eval.refresh.shift import RunShift
from relgate.eval.refresh.stale import Staleness, State
from relgate.eval.refresh.work import Look, Regraded

__all__ = ["Report", "look_document", "refresh_document"]


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
        "saved_usd": done.saved_usd,
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
