"""Writes a judgment list so that reading it gives the list back. I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from relgate.eval.files import write_text_atomic
from relgate.eval.lists.columns import OPTIONAL
from relgate.eval.lists.csv_list import cell_text
from relgate.eval.lists.foreign import FOREIGN_FORMATS, Target, foreign_text
from relgate.eval.lists.loss import left_out, refuse_id
from relgate.eval.lists.parquet import write_parquet
from relgate.eval.lists.table import cell
from relgate.eval.lists.types import Judgment, JudgmentList, Provenance, Query, Source
from relgate.rubrics.errors import InputError, UsageError

__all__ = ["WRITE_FORMATS", "columns_of", "write_list"]

WRITE_FORMATS: tuple[str, ...] = tuple(
    sorted(("csv", "esci", "json", "jsonl", "parquet", "trec", "wands", *FOREIGN_FORMATS))
)
"""The formats that `write_list` knows; csv, json, jsonl and parquet carry the whole list."""

_TREC_BLANK = re.compile(r"[ \t\r\n\f\v]")

_WANDS_ODD = re.compile(r"[\t\r\n\"\x00]|^\ufeff")

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
            list on another scale than `esci` or `wands` labels, a missing part of `target`, or
            Parquet without pyarrow.
        UsageError: no such format.
        PlatformError: the file cannot be written.
    """
    if format not in WRITE_FORMATS:
        raise UsageError(f"no format {format!r} to write; use one of: {', '.join(WRITE_FORMATS)}")
    if format == "parquet":
        write_parquet(path, columns_of(judgments))
        return ()
    if format == "esci":
        write_parquet(path, _esci(judgments, path))
        return left_out(judgments, "esci", keeps=["ids", "texts"])
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
        case "wands":
            return _wands(judgments, path), left_out(judgments, "wands", keeps=["ids"])
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


def columns_of(judgments: JudgmentList) -> dict[str, list[str | int | None]]:
    """The columns that any row uses; bare queries have rows of their own, as in `_entries`."""
    places, rows = _order(judgments)
    queries = judgments.queries
    by_query: dict[str, list[str | None]] = {"query": [query.text for query in queries]}
    if any(query.text != query.id for query in queries):
        by_query["query_id"] = [query.id for query in queries]
    by_origin = {name: [_of(o, name) for o in judgments.origins] for name in OPTIONAL[:-2]}
    origins: list[int] = judgments.origin.tolist()
    by_row: dict[str, Sequence[str | int | None]] = {
        "doc_id": judgments.doc_id,
        "grade": judgments.grade.tolist(),
        **{n: [v[o] for o in origins] for n, v in by_origin.items() if any(map(_is_value, v))},
        "reason": judgments.reason or (),
        "text_hash": judgments.text_hash or (),
    }
    table: dict[str, list[str | int | None]] = {}
    for name in ("query_id", "query", "doc_id", "grade", *OPTIONAL):
        if name in by_query:
            table[name] = [by_query[name][place] for place in places]
        elif by_row.get(name):
            values = by_row[name]
            table[name] = [None if row is None else values[row] for row in rows]
    needed = {"doc_id", "grade"}
    table |= {name: [None] * len(places) for name in needed - table.keys()}
    return {n: v for n, v in table.items() if n in needed or any(map(_is_value, v))}


def _order(judgments: JudgmentList) -> tuple[list[int], list[int | None]]:
    """Each entry's query and row; a bare query has no row."""
    places: list[int] = []
    rows: list[int | None] = []
    listed = 0
    for row, place in enumerate(judgments.query.tolist()):
        if place > listed:
            places += range(listed, place)
            rows += [None] * (place - listed)
        listed = max(listed, place + 1)
        places.append(place)
        rows.append(row)
    bare = len(judgments.queries) - listed
    return places + list(range(listed, listed + bare)), rows + [None] * bare


def _of(origin: Provenance, name: str) -> str | None:
    """What of a provenance stands in the column `name`; an import's source is left unsaid."""
    if name == "source":
        return None if origin.source is Source.IMPORT else str(origin.source)
    value: str | None = getattr(origin, name)
    return value


def _is_value(value: object) -> bool:
    return value is not None


def _csv(judgments: JudgmentList) -> str:
    table = columns_of(judgments)
    columns = [_csv_cells(name, values) for name, values in table.items()]
    lines = [",".join(table), *map(",".join, zip(*columns, strict=True))]
    return "\n".join(lines) + "\n"


def _csv_cells(name: str, values: list[str | int | None]) -> list[str]:
    """A column's cells; each value is made a cell once."""
    cells: dict[str | int | None, str] = {
        value: str(value) if isinstance(value, int) else cell(cell_text(name, value))
        for value in set(values)
    }
    return [cells[value] for value in values]


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


def _labels(judgments: JudgmentList, name: str, path: str | Path) -> dict[int, str]:
    """{grade: label}; grades of another scale are none of these labels."""
    scale = judgments.scale
    if scale.name != name:
        raise InputError(
            f"{name} holds labels, and the list's scale is {scale.name}",
            path=path,
            mend=f"state --scale {name} if its grades mean those labels",
        )
    return {grade: label for label, grade in scale.labels.items()}


def _esci(judgments: JudgmentList, path: str | Path) -> dict[str, list[str | int | None]]:
    """Amazon's columns; a list knows no locale."""
    labels = _labels(judgments, "esci", path)
    rows = list(judgments.rows())
    return {
        "example_id": list(range(len(rows))),
        "query": [row.query.text for row in rows],
        "query_id": [row.query.id for row in rows],
        "product_id": [row.doc_id for row in rows],
        "product_locale": [None] * len(rows),
        "esci_label": [labels[row.grade] for row in rows],
    }


def _wands(judgments: JudgmentList, path: str | Path) -> str:
    """`label.csv`, parted by tabs; the texts belong in a `query.csv`, which is not written."""
    labels = _labels(judgments, "wands", path)
    lines = ["id\tquery_id\tproduct_id\tlabel\n"]
    for number, row in enumerate(judgments.rows()):
        for what, text in (("query", row.query.id), ("document", row.doc_id)):
            if _WANDS_ODD.search(text):
                raise refuse_id(
                    "wands", f"{what} id", text, "it holds a tab, quote or line end", path
                )
        label = labels[row.grade].capitalize()
        lines.append(f"{number}\t{row.query.id}\t{row.doc_id}\t{label}\n")
    return "".join(lines)
