"""Writes a run as JSONL, a TREC run, CSV or Parquet. I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from relgate.eval.files import write_text_atomic
from relgate.eval.lists.csv_list import cell_text
from relgate.eval.lists.parquet import write_parquet
from relgate.eval.lists.table import cell
from relgate.eval.lists.types import Query
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError, UsageError

__all__ = ["RUN_WRITE_FORMATS", "require_room_for", "write_run"]

_TREC_BLANK = re.compile(r"[ \t\r\n\f\v]")


RUN_WRITE_FORMATS: tuple[str, ...] = ("csv", "jsonl", "parquet", "trec")
"""The formats that `write_run` knows; jsonl carries all of a run but its given scores."""

_SUFFIXES = {
    ".jsonl": "jsonl", ".csv": "csv", ".parquet": "parquet", ".run": "trec", ".trec": "trec",
}  # fmt: skip


def require_room_for(path: Path, run: Run) -> None:
    """Looks, before a reordering of `run` is paid for, whether `path` can carry it.

    Raises:
        UsageError: the file's ending is no run's.
        InputError: its format cannot carry a query or an id of the run.
    """
    chosen = _SUFFIXES.get(path.suffix)
    if chosen is None:
        raise UsageError(f"{path}: no run ends so; end it in one of: {', '.join(_SUFFIXES)}")
    if chosen == "trec":
        for _ in _trec(run, path):
            pass
    elif chosen != "jsonl":
        _table(run, path)


def write_run(path: str | Path, run: Run, *, format: str | None = None) -> tuple[str, ...]:  # noqa: A002 - the flag's own name
    """Writes a run.

    Args:
        path: the file, replaced as a whole.
        run: the run.
        format: one of `RUN_WRITE_FORMATS`; None is trec for `.run` and `.trec`, csv and parquet
            for files so called, else jsonl.

    Returns:
        What the format could not carry, a line each.

    Raises:
        InputError: but for jsonl, no format can carry a failed query, or one whose hits are not
            known, nor TREC an id with a blank; or half a surrogate pair.
        UsageError: no such format.
        PlatformError: the file cannot be written.
    """
    chosen = format or _SUFFIXES.get(Path(path).suffix, "jsonl")
    if chosen not in RUN_WRITE_FORMATS:
        raise UsageError(
            f"no run format {chosen!r} to write; use one of: {', '.join(RUN_WRITE_FORMATS)}"
        )
    left: list[str] = []
    if chosen == "jsonl":
        write_text_atomic(path, "".join(_jsonl(run)))
    elif chosen == "trec":
        write_text_atomic(path, "".join(_trec(run, path)))
        empty = sum(docs == () for docs in run.docs)
        left += [f"not in a TREC run: {empty} queries without a hit"] if empty else []
        texts = sum(query.text not in (None, query.id) for query in run.queries)
        left += [f"not in a TREC run: {texts} query texts"] if texts else []
    else:
        columns = _table(run, path)
        if chosen == "csv":
            write_text_atomic(path, _csv(columns))
        else:
            write_parquet(path, columns)
    if run.given is not None:
        left.append("not in the run file: the scores that came with it")
    return tuple(left)


def _table(run: Run, path: str | Path) -> dict[str, list[str | int | None]]:
    """A row a document, and one without document for a query that found none."""
    rows: list[tuple[str, str | None, str | None, int | None]] = []
    for query, docs in zip(run.queries, run.docs, strict=True):
        found = _known(run, query, docs, "a table", path)
        rows += [(query.id, query.text, doc, rank) for rank, doc in enumerate(found, start=1)]
        rows += [] if found else [(query.id, query.text, None, None)]
    names = ("query_id", "query", "doc_id", "rank")
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    if not any(query.text is not None for query in run.queries):
        del columns["query"]
    return columns


def _csv(columns: dict[str, list[str | int | None]]) -> str:
    lines = [",".join(columns)]
    for row in zip(*columns.values(), strict=True):
        named = zip(columns, row, strict=True)
        lines.append(
            ",".join(str(v) if isinstance(v, int) else cell(cell_text(n, v)) for n, v in named)
        )
    return "\n".join(lines) + "\n"


def _known(
    run: Run, query: Query, docs: tuple[str, ...] | None, what: str, path: str | Path
) -> tuple[str, ...]:
    if docs is None or query.id in run.failures:
        raise InputError(
            f"{what} cannot carry query {query.id!r}: it failed, or its hits are not known",
            path=path,
            mend="write .jsonl",
        )
    return docs


def _jsonl(run: Run) -> Iterator[str]:
    for query, docs in zip(run.queries, run.docs, strict=True):
        row: dict[str, object] = {"query_id": query.id}
        if query.text is not None:
            row["query"] = query.text
        row["docs"] = None if docs is None else list(docs)
        if query.id in run.failures:
            row["failure"] = run.failures[query.id]
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _trec(run: Run, path: str | Path) -> Iterator[str]:
    tag = _TREC_BLANK.sub("_", run.name) or "run"
    for query, docs in zip(run.queries, run.docs, strict=True):
        found = _known(run, query, docs, "TREC", path)
        for rank, doc_id in enumerate(found, start=1):
            for text in (query.id, doc_id):
                if _TREC_BLANK.search(text) or text.startswith("\ufeff"):
                    raise InputError(
                        f"TREC cannot carry the id {text!r}: it holds a blank",
                        path=path,
                        mend="write .jsonl",
                    )
            yield f"{query.id} Q0 {doc_id} {rank} {len(found) - rank + 1} {tag}\n"
