"""Reads a judgment list of any known format, and says what it took the file for. I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from relgate.eval.files import load_content, read_text
from relgate.eval.lists.clean import clean_columns
from relgate.eval.lists.columns import is_list_header, list_columns
from relgate.eval.lists.csv_list import has_list_header, read_csv_list, read_quepid_csv
from relgate.eval.lists.docids import DocIds
from relgate.eval.lists.golden import golden_value, read_golden_list
from relgate.eval.lists.jsonl_list import (
    is_json_list,
    is_row,
    read_json_list,
    read_jsonl_list,
)
from relgate.eval.lists.jsontext import Content, Json, json_lines
from relgate.eval.lists.ltr import looks_like_ltr, read_ltr
from relgate.eval.lists.notes import Notes
from relgate.eval.lists.opensearch import is_opensearch_judgments, read_opensearch
from relgate.eval.lists.parquet import ParquetTable, is_parquet, parquet_table
from relgate.eval.lists.quepid import quepid_kind, read_quepid_json
from relgate.eval.lists.quepid_book import (
    has_book_header,
    is_book,
    read_book_csv,
    read_book_json,
)
from relgate.eval.lists.rank_eval import is_rank_eval_request, read_rank_eval_request
from relgate.eval.lists.raters import Raters
from relgate.eval.lists.rre import is_rre, read_rre
from relgate.eval.lists.sink import ListFile, Options, Sink
from relgate.eval.lists.trec import looks_like_qrels, read_qrels
from relgate.eval.lists.types import SCALES, Scale, Source
from relgate.eval.lists.wands import has_wands_header, read_wands, wands_queries
from relgate.rubrics.errors import InputError, UsageError

__all__ = ["LIST_FORMATS", "ListFile", "read_list", "read_parquet_list", "told_list"]

_READERS: Mapping[str, Callable[[Content, Options], ListFile]] = MappingProxyType(
    {
        "csv": read_csv_list,
        "golden": read_golden_list,
        "json": read_json_list,
        "jsonl": read_jsonl_list,
        "ltr": read_ltr,
        "opensearch": read_opensearch,
        "quepid-book": read_book_json,
        "quepid-book-csv": read_book_csv,
        "quepid-case": partial(read_quepid_json, file_format="quepid-case"),
        "quepid-csv": read_quepid_csv,
        "quepid-ratings": partial(read_quepid_json, file_format="quepid-ratings"),
        "quepid-snapshot-ratings": partial(read_quepid_json, file_format="quepid-snapshot-ratings"),
        "rank-eval-request": read_rank_eval_request,
        "rre": read_rre,
        "trec": read_qrels,
        "wands": read_wands,
    }
)

_TEXT = frozenset({"csv", "jsonl", "ltr", "quepid-book-csv", "quepid-csv", "trec", "wands"})
_PARQUET = ("esci", "parquet")

LIST_FORMATS: tuple[str, ...] = tuple(sorted((*_READERS, *_PARQUET)))
"""The formats that `read_list` knows by name."""


def read_list(
    path: str | Path,
    *,
    scale: Scale,
    format: str | None = None,  # noqa: A002 - the flag's own name
    source: Source | None = None,
    grade_column: str | None = None,
    negative_as_zero: bool = False,
    raters: Raters = Raters.REFUSE,
    doc_column: str | None = None,
    doc_ids: DocIds | None = None,
) -> ListFile:
    """A judgment list from a file.

    Args:
        path: the file, plain or gzip, or Parquet. A WANDS `label.csv` takes its query texts from
            the `query.csv` beside it.
        scale: the scale its grades lie on; never guessed from the values.
        format: one of `LIST_FORMATS`; None finds it out from the content.
        source: who made the judgments where no row says; None is `Source.IMPORT`.
        grade_column: the column of the grade, where several may be it.
        negative_as_zero: map TREC's negative grades to 0 rather than refuse them.
        raters: how two grades of equals for one pair are settled; by default they are refused.
        doc_column: the column of the document, where it has a name of its own, say a URL.
        doc_ids: how `_index` and `_id` become one id; by default `_id` alone is it.

    Raises:
        InputError: any fault of the file; nothing is read from a file in fault.
        UsageError: no such format.
    """
    if format is not None and format not in LIST_FORMATS:
        raise UsageError(f"no list format {format!r}; use one of: {', '.join(LIST_FORMATS)}")
    options = Options(
        scale=scale,
        source=Source.IMPORT if source is None else source,
        grade_column=grade_column,
        negative_as_zero=negative_as_zero,
        raters=raters,
        doc_column=doc_column,
        doc_ids=DocIds() if doc_ids is None else doc_ids,
    )
    if format in _PARQUET or (format is None and is_parquet(path)):
        return read_parquet_list(parquet_table(path), options)
    content = load_content(path, text_only=format in _TEXT)
    chosen = format or _detect(content, options)
    if chosen == "wands":
        options = replace(options, texts=_wands_texts(path))
    return _READERS[chosen](content, options)


def read_parquet_list(
    table: ParquetTable, options: Options, notes: Notes | None = None
) -> ListFile:
    """A judgment list from a Parquet file, or from some of its rows.

    Args:
        table: the rows.
        options: what the caller says of the list.
        notes: takes what is odd in it beside what is there already; None begins anew.

    Raises:
        InputError: as `read_list`.
    """
    names = table.names
    columns = list_columns(
        names,
        grade_column=options.grade_column,
        doc_column=options.doc_column,
        path=table.path,
        line=None,
    )
    sink = Sink(options, table.path, notes)
    for name in names:
        if name not in columns.values():
            sink.notes.once("column(s) left out", name)
    taken_for = "esci" if {"esci_label", "product_locale"} <= set(names) else "parquet"
    clean = clean_columns(table.blocks(columns, numbers=("grade",)), options)
    if clean is not None:
        return ListFile(clean, taken_for, table.path, 0, 0, 0, sink.notes.lines())
    for number, values in table.rows(dict.fromkeys(columns.values())):
        row: dict[str, Json] = {name: values[column] for name, column in columns.items()}
        sink.add(row, line=number)
    return sink.finish(taken_for)


def _wands_texts(path: str | Path) -> Mapping[str, str]:
    """The texts of the `query.csv` beside a `label.csv`; none when it is not there."""
    beside = Path(path).parent / "query.csv"
    return wands_queries(read_text(beside), str(beside)) if beside.is_file() else {}


def told_list(content: Content) -> str | None:
    """The format of a judgment list that shows all the marks of one; None for anything else.

    Stricter than `read_list`, which is told that its file is a list.
    """
    options = Options(scale=SCALES["0-3"])  # which says nothing of a format
    found, first = None, content.value
    if content.kind == "text":
        found = _detect_text(content, options)
        return None if found == "csv" and not has_list_header(content) else found
    if content.kind == "jsonl":
        first = next(json_lines(content.text, content.path))[1]
        found = "jsonl" if golden_value(content) is None else "golden"
    elif quepid_kind(first) != "quepid-snapshot":
        found = _detect_json(content)
    if found not in {"json", "jsonl"}:
        return found
    first = first[0] if isinstance(first, list) else first
    return found if isinstance(first, dict) and is_list_header(tuple(first)) else None


def _detect(content: Content, options: Options) -> str:
    if content.kind == "text":
        return _detect_text(content, options)
    if content.kind == "json":
        found = _detect_json(content)
    else:
        first = next(json_lines(content.text, content.path))[1]
        if "version" in first and golden_value(content) is not None:
            return "golden"
        found = None if "docs" in first or "hits" in first else "jsonl"
    if found is None:
        raise InputError(
            "not known as a judgment list",
            path=content.path,
            mend=f"state its format; known are {', '.join(LIST_FORMATS)}",
        )
    return found


def _detect_text(content: Content, options: Options) -> str:
    if has_list_header(content, options.grade_column, options.doc_column):
        return "wands" if has_wands_header(content) else "csv"
    if looks_like_ltr(content):  # before TREC: `3 qid:1 # 7` has four fields too
        return "ltr"
    if looks_like_qrels(content):
        return "trec"
    return "quepid-book-csv" if has_book_header(content) else "csv"  # which says what is missing


def _detect_json(content: Content) -> str | None:
    checks: tuple[tuple[str, bool], ...] = (
        ("golden", golden_value(content) is not None),
        ("jsonl", is_row(content.value)),
        ("json", is_json_list(content)),
        ("rank-eval-request", is_rank_eval_request(content.value)),
        ("opensearch", is_opensearch_judgments(content.value)),
        ("quepid-book", is_book(content.value)),
        ("rre", is_rre(content.value)),
    )
    found = next((name for name, fits in checks if fits), None)
    return found or _detect_quepid(content)


def _detect_quepid(content: Content) -> str | None:
    kind = quepid_kind(content.value)
    if kind == "quepid-snapshot":
        raise InputError(
            "a Quepid snapshot is a run, not a judgment list",
            path=content.path,
            mend="name the ratings file, or take these with --format quepid-snapshot-ratings",
        )
    return kind if kind in _READERS else None
