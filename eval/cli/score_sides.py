"""The two engines of `relgate score`: in memory, and on disk for Parquet larger than that. I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relgate.eval.cli import load
from relgate.eval.cli.common import Output, progress
from relgate.eval.cli.disk import MEMORY
from relgate.eval.inputs import align_inputs, overlap_warning
from relgate.eval.lists.sink import Options
from relgate.eval.lists.types import Source
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.metrics.score import score_runs
from relgate.eval.metrics.totals import RunTotals, Totals
from relgate.eval.metrics.types import RunScores
from relgate.eval.project import Project

if TYPE_CHECKING:
    from relgate.eval.large.table import FigureTable
    from relgate.eval.metrics.crosscheck import CrossCheck

__all__ = ["Side", "document", "from_disk", "in_memory"]


@dataclass(frozen=True, slots=True)
class Side:
    """One run, scored.

    Attributes:
        totals: its means, and how its queries fared.
        queries: each query's figures, for JSON; None where they are not held.
        checked: whether the scores that came in its file were looked at.
        cross_checks: where those are not ours, a line each, or why they were not looked at.
    """

    totals: RunTotals
    queries: list[dict[str, Any]] | None = None
    checked: bool = False
    cross_checks: tuple[str, ...] = ()


def in_memory(
    output: Output,
    project: Project,
    runs: Sequence[Path],
    conventions: Conventions,
    *,
    flags: Mapping[str, Any],
    table: FigureTable | None,
) -> list[Side]:
    """Scores files of any format, which are read as a whole."""
    found = load.load_list(project, output, flags["list_format"])
    read = [load.load_run(path, path.name, output, flags["run_format"]) for path in runs]
    aligned = align_inputs(found.judgments, read, project, table=load.load_queries(project))
    scores = score_runs(aligned.judgments, aligned.runs, aligned.axis, conventions)
    for warning in (*aligned.axis.warnings, *aligned.warnings):
        output.remark(warning)
    sides: list[Side] = []
    for number, (run, side) in enumerate(zip(aligned.runs, scores, strict=True)):
        totals = Totals(run.name, conventions)
        totals.add(side)
        if table is not None:
            table.add(side)
        checked = run.given is not None and conventions.unrated == "zero"
        said: tuple[str, ...] = ()
        if checked:
            from relgate.eval.metrics.crosscheck import crosscheck  # noqa: PLC0415 - few files

            said = _cross_checks(crosscheck(aligned.judgments, run, aligned.axis, number, side))
        queries = _queries(side) if output.as_json else None
        sides.append(Side(totals.totals(), queries, checked, said))
    return sides


def _cross_checks(checked: CrossCheck) -> tuple[str, ...]:
    """What the file's own scores are, where they are not ours, or why that was not looked at."""
    said = [
        f"{'aggregate' if m.query is None else m.query.shown} is {m.given:.4f} in the file, "
        f"{m.ours:.4f} here: {m.explanation}"
        for m in checked.mismatches
    ]
    return tuple(said if checked.not_checked is None else [*said, checked.not_checked])


def _queries(side: RunScores) -> list[dict[str, Any]]:
    values = side.all_values()
    return [
        {
            "id": query.id,
            "text": query.shown,
            "returned": int(side.returned[i]),
            "unrated": int(side.unrated[i]),
            **{m.value: _number(float(of[i])) for m, of in values.items()},
        }
        for i, query in enumerate(side.queries)
    ]


def _number(value: float) -> float | None:
    return round(value, 6) if isfinite(value) else None


def from_disk(
    output: Output,
    project: Project,
    runs: Sequence[Path],
    conventions: Conventions,
    *,
    flags: Mapping[str, Any],
    table: FigureTable | None,
) -> list[Side]:
    """Scores Parquet files of any size, part by part."""
    from relgate.eval.large.score import score_parts  # noqa: PLC0415 - most files are small

    listed = load.needed(project, "judgments")
    options = Options(scale=project.list_scale(), source=project.source() or Source.IMPORT)
    scores = score_parts(
        listed,
        runs,
        options,
        conventions,
        table=load.load_queries(project),
        memory=flags["memory"] or MEMORY,
        each=(lambda _: None) if table is None else table.add,
        report=progress(output, "scored part"),
    )
    load.say_list(output, listed, scores.listed, scores.list_notes)
    for path, n, notes in zip(runs, scores.run_queries, scores.run_notes, strict=True):
        load.say_run(output, path, "parquet", queries=n, notes=notes)
    warning = overlap_warning(scores.overlap, project)
    for line in (*scores.warnings, *([] if warning is None else [warning])):
        output.remark(line)
    return [Side(totals) for totals in scores.runs]


def document(side: Side) -> dict[str, Any]:
    """One run for JSON; without its queries where they are not held."""
    run = side.totals
    document: dict[str, Any] = {
        "name": run.name,
        "means": {
            metric.value: {"name": m.name, "value": _number(m.value), "n": m.n}
            for metric, m in run.means.items()
        },
        "k": run.conventions.k,
    }
    if side.queries is not None:
        document["queries"] = side.queries
    if side.checked:
        document["cross_checks"] = list(side.cross_checks)
    return document
