"""Writes a run as JSONL, or as a TREC run. I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from relgate.eval.files import write_text_atomic
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError

__all__ = ["write_run"]

_TREC_BLANK = re.compile(r"[ \t\r\n\f\v]")


def write_run(path: str | Path, run: Run) -> tuple[str, ...]:
    """Writes a run: TREC when the path ends in `.run` or `.trec`, else JSONL.

    Args:
        path: the file, replaced as a whole.
        run: the run.

    Returns:
        What the format could not carry, a line each.

    Raises:
        InputError: TREC cannot carry an id with a blank, a failed query, or one whose hits are
            not known; or half a surrogate pair.
        PlatformError: the file cannot be written.
    """
    if Path(path).suffix in {".run", ".trec"}:
        write_text_atomic(path, "".join(_trec(run, path)))
        empty = sum(docs == () for docs in run.docs)
        left = [f"not in a TREC run: {empty} queries without a hit"] if empty else []
    else:
        write_text_atomic(path, "".join(_jsonl(run)))
        left = []
    if run.given is not None:
        left.append("not in the run file: the scores that came with it")
    return tuple(left)


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
        if docs is None or query.id in run.failures:
            raise InputError(
                f"TREC cannot carry query {query.id!r}: it failed, or its hits are not known",
                path=path,
                mend="write .jsonl",
            )
        for rank, doc_id in enumerate(docs, start=1):
            for text in (query.id, doc_id):
                if _TREC_BLANK.search(text) or text.startswith("\ufeff"):
                    raise InputError(
                        f"TREC cannot carry the id {text!r}: it holds a blank",
                        path=path,
                        mend="write .jsonl",
                    )
            yield f"{query.id} Q0 {doc_id} {rank} {len(docs) - rank + 1} {tag}\n"
