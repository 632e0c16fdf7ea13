"""`relgate score`: metrics of runs against a list."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import (
    FILE,
    FiniteRange,
    Output,
    config_option,
    disk_options,
    list_options,
    metric_options,
    output_options,
    run_format_option,
    settings,
)

if TYPE_CHECKING:
    from relgate.eval.large.table import FigureTable
    from relgate.eval.metrics.totals import RunTotals

__all__ = ["command"]

_SHOWN = 5


@click.command("score")
@click.option("--run", "runs", type=FILE, multiple=True, required=True, help="A run; repeatable.")
@run_format_option
@list_options
@click.option("--queries", type=FILE, help="Query texts and traffic weights.")
@metric_options
@click.option(
    "--unrated",
    type=click.Choice(["zero", "condensed", "judged-only"]),
    default="zero",
    help="Unrated documents keep their rank and gain nothing (zero, the default), or are dropped "
    "from the whole list (condensed) or from the top k (judged-only).",
)
@click.option(
    "--persistence",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    help="RBP's p; 0.8 by default.",
)
@click.option("--out", type=FILE, help="Write the figures of every query to this Parquet file.")
@disk_options
@config_option
@output_options
def command(runs: tuple[Path, ...], **flags: Any) -> None:  # noqa: ANN401 - click
    """Score runs against a judgment list; every figure names its convention."""
    from relgate.eval.cli import load, score_sides  # noqa: PLC0415 - numpy
    from relgate.eval.cli.disk import on_disk  # noqa: PLC0415 - numpy

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    names = ("judgments", "scale", "judgments_source", "queries", "k", "floor", "gain", "no_ideal")
    project = settings(output, flags["config"], {name: flags[name] for name in names})
    conventions = replace(
        project.conventions(), unrated=flags["unrated"], persistence=flags["persistence"]
    )
    files = [load.needed(project, "judgments"), *runs]
    disk = on_disk(files, (flags["list_format"], flags["run_format"]), flags, output)
    work = score_sides.from_disk if disk else score_sides.in_memory
    out: Path | None = flags["out"]
    if out is not None:
        load.spare_inputs([out], [project.judgments, project.queries, *runs])
    with ExitStack() as stack:
        table: FigureTable | None = None
        if out is not None:
            from relgate.eval.large.table import figure_table  # noqa: PLC0415 - pyarrow

            table = stack.enter_context(figure_table(out))
        sides = work(output, project, runs, conventions, flags=flags, table=table)
    _show_means(output, [side.totals for side in sides])
    for side in sides:
        _remarks(output, side.totals)
        more = len(side.cross_checks) - _SHOWN
        said = [*side.cross_checks[:_SHOWN], *([f"{more} more with --json"] if more > 0 else [])]
        for line in said:
            output.remark(f"{side.totals.name}: {line}")
    documents = [score_sides.document(side) for side in sides]
    output.document({"conventions": conventions.asdict(), "runs": documents})


def _show_means(output: Output, runs: Sequence[RunTotals]) -> None:
    means = [[*run.means.values()] for run in runs]
    output.table(
        "",
        ["Metric", *(run.name for run in runs), "Queries"],
        [
            [
                row[0].name,
                *(f"{mean.value:.4f}" for mean in row),
                "/".join(dict.fromkeys(str(mean.n) for mean in row)),
            ]
            for row in zip(*means, strict=True)
        ],
    )


def _remarks(output: Output, run: RunTotals) -> None:
    for n, what in (
        (run.missing, "judged queries are missing and count as 0"),
        (run.failed, "queries failed and count as 0"),
        (run.unlisted, "queries come without documents: no score"),
        (run.apart, "queries without a relevant judgment are left apart"),
        (run.repeats, "repeated documents count once"),
    ):
        if n:
            output.remark(f"{run.name}: {n} {what}")
