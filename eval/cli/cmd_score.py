"""`relgate score`: metrics of runs against a list."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Any

import click

from relgate.eval.cli.common import (
    FILE,
    FiniteRange,
    Output,
    config_option,
    list_options,
    metric_options,
    output_options,
    run_format_option,
    settings,
)

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
@config_option
@output_options
def command(runs: tuple[Path, ...], **flags: Any) -> None:  # noqa: ANN401 - click
    """Score runs against a judgment list; every figure names its convention."""
    from dataclasses import replace  # noqa: PLC0415

    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.inputs import align_inputs  # noqa: PLC0415
    from relgate.eval.metrics.crosscheck import crosscheck  # noqa: PLC0415
    from relgate.eval.metrics.score import score_runs  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    names = ("judgments", "scale", "judgments_source", "queries", "k", "floor", "gain", "no_ideal")
    project = settings(output, flags["config"], {name: flags[name] for name in names})
    found = load.load_list(project, output, flags["list_format"])
    read = [load.load_run(path, path.name, output, flags["run_format"]) for path in runs]
    aligned = align_inputs(found.judgments, read, project, table=load.load_queries(project))
    conventions = replace(
        project.conventions(), unrated=flags["unrated"], persistence=flags["persistence"]
    )
    scores = score_runs(aligned.judgments, aligned.runs, aligned.axis, conventions)
    for warning in (*aligned.axis.warnings, *aligned.warnings):
        output.remark(warning)
    means = [[*s.means().values(), *s.further_means().values()] for s in scores]
    output.table(
        "",
        ["Metric", *(s.name for s in scores), "Queries"],
        [
            [
                row[0].name,
                *(f"{mean.value:.4f}" for mean in row),
                "/".join(dict.fromkeys(str(mean.n) for mean in row)),
            ]
            for row in zip(*means, strict=True)
        ],
    )
    documents: list[dict[str, Any]] = []
    for number, (run, side) in enumerate(zip(aligned.runs, scores, strict=True)):
        _remarks(output, side)
        document = _document(side, conventions)
        if run.given is not None and conventions.unrated == "zero":
            said = _cross_checks(crosscheck(aligned.judgments, run, aligned.axis, number, side))
            more = len(said) - _SHOWN
            for line in [*said[:_SHOWN], *([f"{more} more with --json"] if more > 0 else [])]:
                output.remark(f"{run.name}: {line}")
            document["cross_checks"] = said
        documents.append(document)
    output.document({"conventions": conventions.asdict(), "runs": documents})


def _cross_checks(checked: Any) -> list[str]:  # noqa: ANN401 - CrossCheck, lazily imported
    """What the file's own scores are, where they are not ours, or why that was not looked at."""
    said = [
        f"{'aggregate' if m.query is None else m.query.shown} is {m.given:.4f} in the file, "
        f"{m.ours:.4f} here: {m.explanation}"
        for m in checked.mismatches
    ]
    return said if checked.not_checked is None else [*said, checked.not_checked]


def _remarks(output: Output, side: Any) -> None:  # noqa: ANN401 - RunScores, lazily imported
    missing = int((side.missing & side.judged).sum())
    if missing:
        output.remark(f"{side.name}: {missing} judged queries are missing and count as 0")
    if side.failed.any():
        output.remark(f"{side.name}: {int(side.failed.sum())} queries failed and count as 0")
    if side.unlisted.any():
        output.remark(
            f"{side.name}: {int(side.unlisted.sum())} queries come without documents: no score"
        )
    apart = int((side.judged & ~side.scored).sum())
    if apart:
        output.remark(f"{side.name}: {apart} queries without a relevant judgment are left apart")
    if side.repeats.any():
        output.remark(f"{side.name}: {int(side.repeats.sum())} repeated documents count once")


def _document(side: Any, conventions: Any) -> dict[str, Any]:  # noqa: ANN401 - likewise
    means = {**side.means(), **side.further_means()}
    values = {**side.values, **side.further()}
    return {
        "name": side.name,
        "means": {
            metric.value: {"name": m.name, "value": _number(m.value), "n": m.n}
            for metric, m in means.items()
        },
        "queries": [
            {
                "id": query.id,
                "text": query.shown,
                "returned": int(side.returned[i]),
                "unrated": int(side.unrated[i]),
                **{m.value: _number(float(of[i])) for m, of in values.items()},
            }
            for i, query in enumerate(side.queries)
        ],
        "k": conventions.k,
    }


def _number(value: float) -> float | None:
    return round(value, 6) if isfinite(value) else None
