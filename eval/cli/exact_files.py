"""Runs of neighbours held against files of exact neighbours: recall@k reports. I/O."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from relgate.eval.lists.types import match_key
from relgate.eval.neighbours.files import read_exact
from relgate.eval.neighbours.recall import recall_run
from relgate.eval.review.change import ChangeDescription
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import UsageError

__all__ = ["exact_paths", "hold_against"]


def exact_paths(given: str) -> tuple[Path, Path]:
    """The files that `--exact` names, before and after.

    Raises:
        UsageError: not FILE or BEFORE,AFTER.
    """
    before, _, after = given.partition(",")
    if not before or "," in after:
        raise UsageError(f"--exact {given!r}: write FILE, or BEFORE,AFTER")
    return Path(before), Path(after or before)


def hold_against(
    paths: tuple[Path, Path], runs: tuple[Run, Run], change: ChangeDescription | None, k: int
) -> tuple[tuple[Run, Run], ChangeDescription]:
    """Both runs as recall@k reports, and the change with the exact neighbours in it.

    Raises:
        UsageError: the two sides have exact neighbours of different queries.
        InputError: a fault of a file, no query in common, or documents that are not listed.
    """
    before = read_exact(paths[0], k)
    after = before if paths[0] == paths[1] else read_exact(paths[1], k)
    names = [{match_key(q.id) for q in side.queries} for side in (before, after)]
    if names[0] != names[1]:
        n = len(names[0] ^ names[1])
        raise UsageError(
            f"{n} queries have exact neighbours on one side only: sample the same queries for both"
        )
    held = recall_run(runs[0], before, k), recall_run(runs[1], after, k)
    return held, replace(change or ChangeDescription(), exact=(before, after))
