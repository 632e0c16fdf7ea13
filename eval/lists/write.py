"""Writes a judgment list so that reading it gives the list back. I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from relgate.eval.files import write_text_atomic
from relgate.eval.lists.columns import OPTIONAL
from relgate.eval.lists.csv_list import cell_text
from relgate.eval.lists.table import cell
from relgate.eval.lists.types import Judgment, JudgmentList, Query, Source
from relgate.rubrics.errors import InputError

__all__ = ["write_list"]

_TREC_BLANK = re.compile(r"[ \t\r\n\f\v]")

_Row = dict[str, str | int | None]


def write_list(
    path: str | Path,
    judgments: JudgmentList,
    *,
    format: Literal["csv", "jsonl", "trec"] = "csv",  # noqa: A002 - the flag's own name
) -> tuple[str, ...]:
    """Writes a list; `csv` and `jsonl` carry all of it, formula-like cells guarded in `csv`.

    Args:
        path: the file, replaced as a whole.
        judgments: the list. Its scale is not written: no format has a place for it.
        format: `csv`, `jsonl` or `trec`.

    Returns:
        What the format could not carry, a line each; empty for `csv` and `jsonl`.

    Raises:
        InputError: an id that the format cannot carry (blanks in TREC, half a surrogate pair).
        PlatformError: the file cannot be written.
    """
    if format == "trec":
        write_text_atomic(path, _trec(judgments, path))
        return _left_out(judgments)
    text = _csv(judgments) if format == "csv" else _jsonl(judgments)
    write_text_atomic(path, text)
    return ()


def _entries(judgments: JudgmentList) -> Iterator[Query | Judgment]:
    """The rows, and a bare query wherever one must be listed ahead of its turn or has no row."""
    listed = 0
    for index, row in zip(judgments.query.tolist(), judgments.rows(), strict=True):
        yield from judgments.queries[listed:index]
        listed = max(listed, index + 1)
        yield row
    yield from judgments.queries[listed:]


def _row(entry: Query | Judgment) -> _Row:
    """The named values of an entry, those without a value left out."""
    query = entry if isinstance(entry, Query) else entry.query
    row: _Row = {"query_id": query.id, "query": query.text}
    if isinstance(entry, Judgment):
        origin = entry.provenance
        row |= {"doc_id": entry.doc_id, "grade": entry.grade}
        row |= {
            "source": None if origin.source is Source.IMPORT else str(origin.source),
            "rater": origin.rater,
            "judge_version": origin.judge_version,
            "fingerprint": origin.fingerprint,
            "model": origin.model,
            "certificate": origin.certificate,
            "judged_at": origin.judged_at,
            "reason": entry.reason,
            "text_hash": entry.text_hash,
        }
    if query.text == query.id:
        del row["query_id"]  # keyed by its text
    return {name: value for name, value in row.items() if value is not None}


def _csv(judgments: JudgmentList) -> str:
    rows = [_row(entry) for entry in _entries(judgments)]
    if any("query_id" in row for row in rows):
        rows = [_with_id(row) for row in rows]
    used = {name for row in rows for name in row} | {"doc_id", "grade"}
    columns = [name for name in ("query_id", "query", "doc_id", "grade", *OPTIONAL) if name in used]
    lines = [",".join(columns)]
    lines += [",".join(_cells(row, columns)) for row in rows]
    return "\n".join(lines) + "\n"


def _with_id(row: _Row) -> _Row:
    return row if "query_id" in row else row | {"query_id": row["query"]}


def _cells(row: _Row, columns: Iterable[str]) -> Iterator[str]:
    for name in columns:
        value = row.get(name)
        yield str(value) if isinstance(value, int) else cell(cell_text(name, value))


def _jsonl(judgments: JudgmentList) -> str:
    lines = (json.dumps(_row(entry), ensure_ascii=False) for entry in _entries(judgments))
    return "".join(f"{line}\n" for line in lines)


def _trec(judgments: JudgmentList, path: str | Path) -> str:
    lines: list[str] = []
    for row in judgments.rows():
        for what, text in (("query", row.query.id), ("document", row.doc_id)):
            if _TREC_BLANK.search(text) or text.startswith("\ufeff"):
                raise InputError(
                    f"TREC cannot carry the {what} id {text!r}: it holds a blank",
                    path=path,
                    mend="write csv or jsonl",
                )
        lines.append(f"{row.query.id} 0 {row.doc_id} {row.grade}\n")
    return "".join(lines)


def _left_out(judgments: JudgmentList) -> tuple[str, ...]:
    """What qrels have no place for."""
    bare = len(judgments.queries) - len(set(judgments.query.tolist()))
    texts = sum(query.text not in (None, query.id) for query in judgments.queries)
    origins = sum(row_origin.source is not Source.IMPORT for row_origin in judgments.origins)
    counted = (
        (bare, "queries without a judgment"),
        (texts, "query texts"),
        (origins, "kinds of provenance"),
        (sum(r is not None for r in judgments.reason or ()), "reasons"),
        (sum(h is not None for h in judgments.text_hash or ()), "text hashes"),
    )
    return tuple(f"not in TREC qrels: {n} {what}" for n, what in counted if n)
