"""TREC runs: `query Q0 document rank score tag`; the score gives the order. Pure."""

from __future__ import annotations

import math
from pathlib import Path

from relgate.eval.lists.jsontext import Content
from relgate.eval.lists.notes import Notes
from relgate.eval.lists.trec import trec_lines
from relgate.eval.lists.types import Query, match_key
from relgate.eval.runs.clean import Ranked, clean_run
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError

__all__ = ["looks_like_run", "read_trec_run"]

_FIELDS = 6


def looks_like_run(content: Content) -> bool:
    """Whether the first line has the fields of a run."""
    for _, fields in trec_lines(content.head):
        return len(fields) >= _FIELDS and _is_number(fields[4])
    return False


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def read_trec_run(content: Content, name: str | None) -> Run:
    """A run, each query's documents by falling score; equal scores keep the file's order.

    The rank column is not used (as in trec_eval), ties are never broken by document id (unlike
    trec_eval) but noted, and a document given twice stays twice.

    Raises:
        InputError: a line with other fields, or a score that is no finite number, with its line.
    """
    notes = Notes()
    path = content.path
    found = clean_run(content.raw) or _careful(content.text, path, notes)
    for query in found.tied:
        notes.add("queries have equal scores; they keep the file's order", query)
    return Run(
        name=name or (found.names[0] if len(found.names) == 1 else Path(path).stem),
        queries=found.queries,
        docs=found.docs,
        format="trec",
        path=path,
        notes=notes.lines(),
    )


def _careful(text: str, path: str, notes: Notes) -> Ranked:
    queries: dict[str, str] = {}
    scored: dict[str, list[tuple[float, str]]] = {}
    tags: dict[str, None] = {}
    for line, fields in trec_lines(text):
        score = _score(fields, path, line, notes)
        key = match_key(fields[0])
        queries.setdefault(key, fields[0])
        notes.look(fields[2], line=line)
        scored.setdefault(key, []).append((score, fields[2]))
        tags.setdefault(fields[5])
    return Ranked(
        queries=tuple(map(Query, queries.values())),
        docs=tuple(_ranked(rows) for rows in scored.values()),
        tied=tuple(
            queries[key]
            for key, rows in scored.items()
            if len({score for score, _ in rows}) < len(rows)
        ),
        names=tuple(tags),
    )


def _ranked(rows: list[tuple[float, str]]) -> tuple[str, ...]:
    return tuple(doc_id for _, doc_id in sorted(rows, key=lambda row: -row[0]))


def _score(fields: list[str], path: str, line: int, notes: Notes) -> float:
    if len(fields) < _FIELDS or not _is_number(fields[4]):
        raise InputError(
            f"{len(fields)} fields, not 6 (query, Q0, document, rank, score, tag)"
            if len(fields) != _FIELDS
            else f"score {fields[4]!r} is no number",
            path=path,
            line=line,
            mend="ids may hold no blank; use JSONL for ids that do",
        )
    if not _is_whole(fields[3]) or (len(fields) > _FIELDS and _is_number(fields[5])):
        raise InputError(
            "the columns are shifted: rank or tag is not where it belongs",
            path=path,
            line=line,
            mend="ids may hold no blank; use JSONL for ids that do",
        )
    if len(fields) > _FIELDS:
        notes.add("line(s) go on after the tag; the rest is left out", fields[6], line=line)
    score = float(fields[4])
    if not math.isfinite(score):
        raise InputError(
            f"score {fields[4]!r} of document {fields[2]!r} is not finite",
            path=path,
            line=line,
            mend="mend the score: it gives the order",
        )
    return score


def _is_whole(text: str) -> bool:
    return text.lstrip("+-").isdecimal()
