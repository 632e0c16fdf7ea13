"""Reads a run of any known format, and says what it took the file for. I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from relgate.eval.files import load_content
from relgate.eval.lists.columns import QUERY_ID, QUERY_TEXT, fold
from relgate.eval.lists.docids import DocIds
from relgate.eval.lists.jsontext import Content, json_lines
from relgate.eval.lists.parquet import ParquetTable, is_parquet, parquet_table
from relgate.eval.lists.quepid import quepid_kind
from relgate.eval.runs.clean import Order, Ranked, clean_run_columns
from relgate.eval.runs.opensearch import is_opensearch_experiment, read_opensearch_experiment
from relgate.eval.runs.plain import is_plain_run, is_run_row, read_jsonl_run, read_plain_run
from relgate.eval.runs.quepid import read_quepid_snapshot
from relgate.eval.runs.rank_eval import is_rank_eval_response, read_rank_eval
from relgate.eval.runs.table import (
    RunTable,
    csv_run_table,
    looks_like_run_table,
    read_table_run,
)
from relgate.eval.runs.trec import looks_like_run, read_trec_run
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError, UsageError

__all__ = ["RUN_FORMATS", "parquet_run_table", "read_run", "told_run", "why_no_run"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the caller says of a run: its name, which of several, how ids are made."""

    name: str | None
    only: str | None
    doc_ids: DocIds


_READERS: Mapping[str, Callable[[Content, _Asked], Run]] = MappingProxyType(
    {
        "json": lambda content, asked: read_plain_run(content.value, content.path, asked.name),
        "jsonl": lambda content, asked: read_jsonl_run(content, asked.name),
        "csv": lambda content, asked: read_table_run(
            csv_run_table(content), name=asked.name, only=asked.only
        ),
        "quepid-snapshot": lambda content, asked: read_quepid_snapshot(
            content.value, content.path, asked.name
        ),
        "opensearch-experiment": lambda content, asked: read_opensearch_experiment(
            content.value, content.path, asked.name
        ),
        "rank-eval-response": lambda content, asked: read_rank_eval(
            content.value, content.path, asked.name, asked.doc_ids
        ),
        "trec": lambda content, asked: read_trec_run(content, asked.name),
    }
)

_TEXT = frozenset({"csv", "jsonl", "trec"})

RUN_FORMATS: tuple[str, ...] = (*_READERS, "parquet")
"""The formats that `read_run` knows by name; a recall@k report is a `rank-eval-response`."""


def read_run(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - the flag's own name
    name: str | None = None,
    only: str | None = None,
    doc_ids: DocIds | None = None,
) -> Run:
    """A run from a file.

    Args:
        path: the file, plain or gzip, or Parquet.
        format: one of `RUN_FORMATS`; None finds it out from the content.
        name: how reports call it; None is the name in the file, or the file's own.
        only: the one to take of a table that holds several runs.
        doc_ids: how `_index` and `_id` become one id; by default `_id` alone is it.

    Raises:
        InputError: any fault of the file.
        UsageError: no such format.
    """
    if format is not None and format not in RUN_FORMATS:
        raise UsageError(f"no run format {format!r}; use one of: {', '.join(RUN_FORMATS)}")
    if format == "parquet" or (format is None and is_parquet(path)):
        return read_table_run(parquet_run_table(parquet_table(path)), name=name, only=only)
    content = load_content(path, text_only=format in _TEXT)
    asked = _Asked(name, only, DocIds() if doc_ids is None else doc_ids)
    return _READERS[format or _detect(content)](content, asked)


def parquet_run_table(table: ParquetTable) -> RunTable:
    """Rows of a Parquet file as a table of a run."""

    def clean(places: Mapping[str, str], order: Order) -> Ranked | None:
        return clean_run_columns(table.blocks(places, numbers=("rank", "score", "run")), order)

    return RunTable(table.path, "parquet", table.names, clean, table.rows())


def told_run(content: Content) -> str | None:
    """The format of a run that shows the marks of one; None for anything else."""
    detect = {"text": _detect_text, "jsonl": _detect_jsonl, "json": _detect_json}
    return detect[content.kind](content)


def _detect(content: Content) -> str:
    found = told_run(content)
    if found is None:
        what, mend = why_no_run(content)
        raise InputError(what, path=content.path, mend=mend)
    return found


def why_no_run(content: Content) -> tuple[str, str]:
    """What a file is that is no run, where that can be told, and what to do with it."""
    top = content.value if isinstance(content.value, dict) else {}
    hits = top.get("hits")
    if content.kind == "jsonl" and (names := _without_docs(content)):
        what = f"not known as a run: its rows have {names}, and neither docs nor failure"
        return what, 'write {"query": ..., "docs": [ids, best first]} a line'
    if "requests" in top:
        return "a _rank_eval request, not its answer", "it holds ratings: give it as --judgments"
    if "error" in top:
        return "the engine answered with an error", "mend the request and save its answer anew"
    if isinstance(hits, dict) and "hits" in hits:
        what = "a _search response: the hits of one query, which it does not name"
        return what, "save _rank_eval's answer, or {query: [ids]}; its hits do as a catalogue"
    return "not known as a run", f"state its format; known are {', '.join(RUN_FORMATS)}"


def _without_docs(content: Content) -> str:
    """The names in the first row of JSONL that has a query; empty for others."""
    _, row = next(json_lines(content.text, content.path))
    has_query = any(fold(name) in (*QUERY_ID, *QUERY_TEXT) for name in row)
    return ", ".join(map(repr, row)) if has_query else ""


def _detect_text(content: Content) -> str | None:
    if looks_like_run(content):
        return "trec"
    return "csv" if looks_like_run_table(content) else None


def _detect_jsonl(content: Content) -> str | None:
    return "jsonl" if is_run_row(next(json_lines(content.text, content.path))[1]) else None


def _detect_json(content: Content) -> str | None:
    value = content.value
    if quepid_kind(value) == "quepid-snapshot":
        return "quepid-snapshot"
    if is_run_row(value):
        return "jsonl"
    if is_opensearch_experiment(value):
        return "opensearch-experiment"
    if is_rank_eval_response(value):
        return "rank-eval-response"
    return "json" if is_plain_run(value) else None
