"""Reads a judgment list of any known format, and says what it took the file for. I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from relgate.eval.files import load_content
from relgate.eval.lists.csv_list import has_list_header, read_csv_list, read_quepid_csv
from relgate.eval.lists.jsonl_list import (
    is_json_list,
    is_row,
    read_json_list,
    read_jsonl_list,
)
from relgate.eval.lists.jsontext import Content, json_lines
from relgate.eval.lists.quepid import quepid_kind, read_quepid_json
from relgate.eval.lists.rank_eval import is_rank_eval_request, read_rank_eval_request
from relgate.eval.lists.sink import ListFile, Options
from relgate.eval.lists.trec import looks_like_qrels, read_qrels
from relgate.eval.lists.types import Scale, Source
from relgate.rubrics.errors import InputError, UsageError

__all__ = ["LIST_FORMATS", "ListFile", "read_list"]

_READERS: Mapping[str, Callable[[Content, Options], ListFile]] = MappingProxyType(
    {
        "csv": read_csv_list,
        "json": read_json_list,
        "jsonl": read_jsonl_list,
        "quepid-case": partial(read_quepid_json, file_format="quepid-case"),
        "quepid-csv": read_quepid_csv,
        "quepid-ratings": partial(read_quepid_json, file_format="quepid-ratings"),
        "quepid-snapshot-ratings": partial(read_quepid_json, file_format="quepid-snapshot-ratings"),
        "rank-eval-request": read_rank_eval_request,
        "trec": read_qrels,
    }
)

_TEXT = frozenset({"csv", "jsonl", "quepid-csv", "trec"})

LIST_FORMATS: tuple[str, ...] = tuple(_READERS)
"""The formats that `read_list` knows by name."""


def read_list(
    path: str | Path,
    *,
    scale: Scale,
    format: str | None = None,  # noqa: A002 - the flag's own name
    source: Source | None = None,
    grade_column: str | None = None,
    negative_as_zero: bool = False,
) -> ListFile:
    """A judgment list from a file.

    Args:
        path: the file, plain or gzip.
        scale: the scale its grades lie on; never guessed from the values.
        format: one of `LIST_FORMATS`; None finds it out from the content.
        source: who made the judgments where no row says; None is `Source.IMPORT`.
        grade_column: the column of the grade, where several may be it.
        negative_as_zero: map TREC's negative grades to 0 rather than refuse them.

    Raises:
        InputError: any fault of the file; nothing is read from a file in fault.
        UsageError: no such format.
    """
    if format is not None and format not in _READERS:
        raise UsageError(f"no list format {format!r}; use one of: {', '.join(LIST_FORMATS)}")
    content = load_content(path, text_only=format in _TEXT)
    options = Options(
        scale=scale,
        source=Source.IMPORT if source is None else source,
        grade_column=grade_column,
        negative_as_zero=negative_as_zero,
    )
    return _READERS[format or _detect(content, grade_column)](content, options)


def _detect(content: Content, grade_column: str | None) -> str:
    if content.kind == "text":
        return _detect_text(content, grade_column)
    if content.kind == "json":
        found = _detect_json(content)
    else:
        first = next(json_lines(content.text, content.path))[1]
        found = None if "docs" in first or "hits" in first else "jsonl"
    if found is None:
        raise InputError(
            "not known as a judgment list",
            path=content.path,
            mend=f"state its format; known are {', '.join(LIST_FORMATS)}",
        )
    return found


def _detect_text(content: Content, grade_column: str | None) -> str:
    if not has_list_header(content, grade_column) and looks_like_qrels(content):
        return "trec"
    return "csv"  # whose reader says which columns are missing


def _detect_json(content: Content) -> str | None:
    if is_row(content.value):
        return "jsonl"
    if is_json_list(content):
        return "json"
    if is_rank_eval_request(content.value):
        return "rank-eval-request"
    kind = quepid_kind(content.value)
    if kind == "quepid-snapshot":
        raise InputError(
            "a Quepid snapshot is a run, not a judgment list",
            path=content.path,
            mend="name the ratings file, or take these with --format quepid-snapshot-ratings",
        )
    return kind if kind in _READERS else None
