"""Exact neighbours in a file: one query a line, readable as a run. I/O.

{"query_id": "q1", "docs": ["d4", "d9"], "scores": [0.93, 0.91], "distance": "cosine", "k": 2}
"""

from __future__ import annotations

import hashlib
import json
import math
from itertools import pairwise
from pathlib import Path

from relgate.eval.files import load_content, write_text_atomic
from relgate.eval.lists.jsontext import Content, Json, json_lines
from relgate.eval.neighbours.exact import Neighbours
from relgate.eval.neighbours.recall import ExactLists
from relgate.eval.neighbours.vectors import Vectors
from relgate.eval.runs.read import read_run
from relgate.rubrics.errors import InputError

__all__ = ["read_exact", "write_exact"]

_DIGITS = 12


def write_exact(
    path: Path,
    queries: Vectors,
    documents: Vectors,
    rows: list[int],
    found: list[Neighbours],
    *,
    distance: str,
    k: int,
) -> None:
    """Writes exact neighbours.

    Args:
        path: the file, replaced as a whole.
        queries: all queries.
        documents: all documents.
        rows: the queries' rows that were looked at.
        found: the neighbours of each.
        distance: cosine, dot or l2.
        k: depth.

    Raises:
        PlatformError: the file cannot be written.
    """
    lines = [
        json.dumps(
            {
                "query_id": queries.ids[row],
                "docs": [documents.ids[i] for i in near.rows.tolist()],
                "scores": [float(f"{score:.{_DIGITS}g}") for score in near.scores.tolist()],
                "distance": distance,
                "k": k,
            },
            ensure_ascii=False,
        )
        for row, near in zip(rows, found, strict=True)
    ]
    write_text_atomic(path, "".join(f"{line}\n" for line in lines))


def read_exact(path: Path, k: int) -> ExactLists:
    """Exact neighbours from our own file, or from a run of any format, whose order then counts.

    Args:
        path: the file.
        k: the depth that recall is to be measured at.

    Raises:
        InputError: any fault of the file; a list computed to a lesser depth than k; scores that
            rise or do not fit.
    """
    run = read_run(path)
    content = load_content(path) if run.format == "jsonl" else None
    rows = [] if content is None else _rows(content)
    scores: list[tuple[float, ...] | None] = []
    for i, (query, docs) in enumerate(zip(run.queries, run.docs, strict=True)):
        line, row = rows[i] if rows else (None, {})
        if not docs:
            raise InputError(
                f"no neighbours of {query.shown!r}", path=path, line=line, mend="compute them"
            )
        depth = row.get("k")
        if isinstance(depth, int) and depth < k:
            raise InputError(
                f"neighbours to depth {depth}, and recall is asked for at {k}",
                path=path, line=line, mend=f"compute them with --k {k}",
            )  # fmt: skip
        scores.append(_scores(row.get("scores"), len(docs), path, line))
    stated = any(isinstance(row.get("k"), int) for _, row in rows)
    deepest = max(len(docs or ()) for docs in run.docs)
    if not stated and deepest < k:
        raise InputError(
            f"at most {deepest} neighbours a query, and recall is asked for at {k}",
            path=path, mend="export more, or give a lesser --k",
        )  # fmt: skip
    return ExactLists(
        queries=run.queries,
        docs=tuple(docs or () for docs in run.docs),
        scores=tuple(scores),
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        path=str(path),
    )


def _rows(content: Content) -> list[tuple[int, dict[str, Json]]]:
    return list(json_lines(content.text, content.path))


def _scores(value: Json, n: int, path: Path, line: int | None) -> tuple[float, ...] | None:
    if value is None:
        return None
    numbers = (
        [float(x) for x in value if isinstance(x, int | float)] if isinstance(value, list) else []
    )
    fits = len(numbers) == n and all(map(math.isfinite, numbers))
    if not fits or any(a < b for a, b in pairwise(numbers)):
        raise InputError(
            "scores are not one falling number a document", path=path, line=line, mend="mend them"
        )
    return tuple(numbers)
