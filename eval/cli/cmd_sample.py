"""`relgate sample`: which pairs people should label, on a sheet in blind order."""

from __future__ import annotations

import json
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

_SETTINGS = ("judgments", "scale", "judgments_source", "catalogue", "queries", "floor")
_ELSEWHERE = "name another --out"


@click.command("sample")
@click.option("--run", "runs", type=FILE, multiple=True, required=True, help="A run; repeatable.")
@run_format_option
@list_options
@click.option("--known", type=FILE, multiple=True, help="An older list; its good ones join.")
@click.option("--catalogue", type=FILE, help="Product texts: what the rater sees.")
@click.option("--queries", type=FILE, help="Query texts, strata and heads.")
@click.option("--floor", type=click.IntRange(1, 100), help="Least good grade of a list; 2.")
@click.option("--depth", type=click.IntRange(1, 10_000), help="Documents of each run; 20.")
@click.option("--budget", type=click.IntRange(1), help="Pairs that can be labelled; all.")
@click.option("--seed", type=int, default=0, help="Another seed draws another lot.")
@click.option("--out", type=FILE, required=True, help="The sheet: .csv or .jsonl.")
@config_option
@output_options
def command(out: Path, **flags: Any) -> None:  # noqa: ANN401 - click
    """Draw pairs for people to label: pooled, stratified, blind, the calibration part marked."""
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.cli.pooling import open_pool  # noqa: PLC0415
    from relgate.eval.sampling.draw import draw_sample  # noqa: PLC0415
    from relgate.eval.sampling.side import sample_document, sample_rows  # noqa: PLC0415
    from relgate.eval.sampling.write import spare_sheet, write_sheet  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    project = settings(output, flags["config"], {name: flags[name] for name in _SETTINGS})
    side = out.with_suffix(".sample.json")
    inputs = [
        project.judgments,
        project.catalogue,
        project.queries,
        *flags["known"],
        *flags["runs"],
    ]
    load.spare_inputs([out, side], inputs)
    load.writable(out.parent)
    catalogue = load.load_catalogue(project, output)
    pool = open_pool(output, project, catalogue, flags)
    sample = draw_sample(pool.pairs, budget=flags["budget"], seed=flags["seed"])
    rows = sample_rows(sample, catalogue.candidate)
    spare_sheet(out, rows, mend=_ELSEWHERE)
    document = {
        "out": str(out),
        "seed": flags["seed"],
        "budget": flags["budget"],
        **sample_document(pool, sample, rows, out),
    }
    output.file(side, json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    write_sheet(out, rows, mend=_ELSEWHERE)
    _say(output, document, side)


def _say(output: Output, document: dict[str, Any], side: Path) -> None:
    left, split = document["left_out"], document["split"]
    output.line(
        f"{document['sampled']:,} of {document['pool']:,} pairs of {document['queries']:,} queries "
        f"on {document['out']}"
    )
    output.line(
        f"left out: {left['human_rated']:,} graded by people already, {left['no_text']:,} without "
        f"text, {left['over_budget']:,} over the budget"
    )
    output.table(
        "",
        ["Stratum", "Queries", "Pool", "Sampled"],
        [
            [
                (row["stratum"] or "-") + (" (head)" if row["head"] else ""),
                *(f"{row[name]:,}" for name in ("queries", "pool", "sampled")),
            ]
            for row in document["strata"]
        ],
    )
    output.line(
        f"{split['calibration_queries']:,} queries measure a judge, {split['tuning_queries']:,} "
        f"may shape one; split {split['hash'][:12]}, in {side}"
    )
    output.document(document)
