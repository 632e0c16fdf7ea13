"""Writes a judgment list so that reading it gives the list back. I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from relgate.eval.files import write_text_atomic
from relgate.eval.lists.columns import OPTIONAL
from relgate.eval.lists.csv_list import cell_text
from relgate.eval.lists.foreign import FOREIGN_FORMATS, Target, foreign_text
from relgate.eval.lists.loss import left_out, refuse_id
from relgate.eval.lists.parquet import write_parquet
from relgate.eval.lists.table import cell
from relgate.eval.lists.types import Judgment, JudgmentList, Query, Source
from relgate.rubrics.errors import UsageError

__all__ = ["WRITE_FORMATS", "write_list"]

WRITE_FORMATS: tuple[str, ...] = tuple(
    sorted(("csv", "json", "jsonl", "parquet", "trec", *FOREIGN_FORMATS))
)
"""The formats that `write_list` knows; csv, json, jsonl and parquet carry the whole list."""

_TREC_BLANK = re.compile(r"[ \t\r\n\f\v]")

_Row = dict[str, str | int | None]


def write_list(
    path: str | Path,
    judgments: JudgmentList,
    *,
    format: str = "csv",  # noqa: A002 - the flag's own name
    target: Target | None = None,
) -> tuple[str, ...]:
    """Writes a list; formula-like cells are guarded in what spreadsheets open.

    Args:
        path: the file, replaced as a whole.
        judgments: the list. Its scale is not written: no format has a place for it.
        format: one of `WRITE_FORMATS`.
        target: what a format states that the list does not hold.

    Returns:
        What the format could not carry, a line each; empty for csv, json, jsonl and parquet.

    Raises:
        InputError: an id that the format cannot carry (blanks in TREC, half a surrogate pair), a
            missing part of `target`, or Parquet without pyarrow.
        UsageError: no such format.
        PlatformError: the file cannot be written.
    """
    if format not in WRITE_FORMATS:
        raise UsageError(f"no format {format!r} to write; use one of: {', '.join(WRITE_FORMATS)}")
    if format == "parquet":
        write_parquet(path, _table(judgments))
        return ()
    text, left = _text(judgments, format, path, target or Target())
    write_text_atomic(path, text)
    return left


def _text(
    judgments: JudgmentList, file_format: str, path: str | Path, target: Target
) -> tuple[str, tuple[str, ...]]:
    match file_format:
        case "csv":
            return _csv(judgments), ()
        case "json":
            rows = [_row(entry) for entry in _entries(judgments)]
            return json.dumps(rows, ensure_ascii=False, indent=1) + "\n", ()
        case "jsonl":
            return _jsonl(judgments), ()
        case "trec":
            left = left_out(judgments, "TREC qrels", keeps=["ids"])
            return _trec(judgments, path), left
        case _:
            return foreign_text(judgments, file_format, path, target)


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


def _rows(judgments: JudgmentList) -> tuple[list[str], list[_Row]]:
    """The columns that any row uses, and the rows."""
    rows = [_row(entry) for entry in _entries(judgments)]
    if any("query_id" in row for row in rows):
        rows = [_with_id(row) for row in rows]
    used = {name for row in rows for name in row} | {"doc_id", "grade"}
    order = ("query_id", "query", "doc_id", "grade", *OPTIONAL)
    return [name for name in order if name in used], rows


def _table(judgments: JudgmentList) -> dict[str, list[str | int | None]]:
    columns, rows = _rows(judgments)
    return {name: [row.get(name) for row in rows] for name in columns}


def _csv(judgments: JudgmentList) -> str:
    columns, rows = _rows(judgments)
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
                raise refuse_id("TREC", f"{what} id", text, "it holds a blank", path)
        lines.append(f"{row.query.id} 0 {row.doc_id} {row.grade}\n")
    return "".join(lines)
