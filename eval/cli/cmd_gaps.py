"""`relgate gaps`: what nobody rated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from relgate.eval.cli.common import (
    FILE,
    Output,
    config_option,
    list_options,
    output_options,
    run_format_option,
    settings,
)

__all__ = ["command"]

_SHOWN = 20


@click.command("gaps")
@click.option("--run", "runs", type=FILE, multiple=True, required=True, help="A run; repeatable.")
@run_format_option
@list_options
@click.option("--queries", type=FILE, help="Query texts.")
@click.option("--k", type=click.IntRange(1, 10_000), help="Depth; 10 by default.")
@click.option("--all", "whole", is_flag=True, help="Look at whole runs, not only the top k.")
@config_option
@output_options
def command(runs: tuple[Path, ...], *, whole: bool, **flags: Any) -> None:  # noqa: ANN401 - click
    """List the documents that nobody rated, by query."""
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.gaps.find import find_gaps  # noqa: PLC0415
    from relgate.eval.inputs import align_inputs  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    names = ("judgments", "scale", "judgments_source", "queries", "k")
    project = settings(output, flags["config"], {name: flags[name] for name in names})
    found = load.load_list(project, output, flags["list_format"])
    read = [load.load_run(path, path.name, output, flags["run_format"]) for path in runs]
    aligned = align_inputs(found.judgments, read, project, table=load.load_queries(project))
    depth = None if whole else project.k
    gaps = find_gaps(aligned.judgments, aligned.runs, aligned.axis, depth=depth)
    gaps.sort(key=lambda gap: (-len(gap.doc_ids) / gap.returned, gap.query.id))
    total = sum(len(gap.doc_ids) for gap in gaps)
    for warning in (*aligned.axis.warnings, *aligned.warnings):
        output.remark(warning)
    output.table(
        "",
        ["Query", "Unrated", "Returned", "First unrated documents"],
        [
            [gap.query.shown, str(len(gap.doc_ids)), str(gap.returned), ", ".join(gap.doc_ids[:4])]
            for gap in gaps[:_SHOWN]
        ],
        text_columns=(0, 3),
    )
    more = f"; {len(gaps) - _SHOWN} queries more with --json" if len(gaps) > _SHOWN else ""
    within = "whole runs" if depth is None else f"the top {depth}"
    output.line(f"{total:,} unrated documents in {within} of {len(gaps):,} queries{more}")
    output.document(
        {
            "unrated": total,
            "depth": depth,
            "queries": [
                {
                    "id": gap.query.id,
                    "text": gap.query.shown,
                    "returned": gap.returned,
                    "unrated": list(gap.doc_ids),
                }
                for gap in gaps
            ],
        }
    )
