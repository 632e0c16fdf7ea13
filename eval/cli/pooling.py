"""What `sample` and `label` share: the pool of pairs that may be labelled. I/O."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from relgate.eval.catalogue import Catalogue
from relgate.eval.cli import load
from relgate.eval.cli.common import Output
from relgate.eval.inputs import align_inputs
from relgate.eval.lists.types import JudgmentList
from relgate.eval.project import Project
from relgate.eval.sampling.pool import POOL_DEPTH, Pool, pool_pairs
from relgate.rubrics.errors import UsageError

__all__ = ["open_pool"]


def open_pool(
    output: Output,
    project: Project,
    catalogue: Catalogue,
    flags: Mapping[str, Any],
) -> Pool:
    """The pairs that may be labelled.

    Args:
        output: told what the files were taken for.
        project: names the list and the query table.
        catalogue: what raters can be shown.
        flags: `runs`, `run_format`, `list_format`, `known` and `depth`.

    Raises:
        UsageError: there is none.
    """
    listed = None
    if project.judgments is not None:
        listed = load.load_list(project, output, flags["list_format"]).judgments
    read = [load.load_run(path, path.name, output, flags["run_format"]) for path in flags["runs"]]
    table = load.load_queries(project)
    aligned = align_inputs(listed, read, project, table=table)
    older = [
        align_inputs(_older(project, path, output), read, project, table=table)
        for path in flags["known"]
    ]
    for line in (*aligned.axis.warnings, *aligned.warnings):
        output.remark(line)
    pool = pool_pairs(
        aligned.judgments,
        aligned.runs,
        aligned.axis,
        older=[(old.judgments, old.axis) for old in older],
        has_text=lambda doc_id: catalogue.candidate(doc_id) is not None,
        table=table,
        depth=flags["depth"] or POOL_DEPTH,
        floor=project.floor,
    )
    if not pool.pairs:
        raise UsageError(
            f"nothing to label: of {pool.from_runs + pool.known_good:,} pairs, "
            f"{pool.human_rated:,} are graded by people and {pool.no_text:,} have no text"
        )
    return pool


def _older(project: Project, path: Path, output: Output) -> JudgmentList:
    return load.load_list(project.model_copy(update={"judgments": path}), output).judgments
