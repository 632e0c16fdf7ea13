"""`relgate correct`: a judge's means and rates, corrected by people's labels of a part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import FILE, Output, config_option, output_options, settings

if TYPE_CHECKING:
    from relgate.eval.agreement.corrected import ListCorrection
    from relgate.eval.agreement.powered import Powered

__all__ = ["command"]


@click.command("correct")
@click.option("--human", type=FILE, required=True, help="People's labels of a random part.")
@click.option("--human-column", help="Its grade column, where the file has several.")
@click.option(
    "--human-source", type=click.Choice(["human", "rule", "import"]), default="human",
    help="Who made labels that do not say; human.",
)  # fmt: skip
@click.option("--grades", type=FILE, required=True, help="The judge's grades of all pairs.")
@click.option("--grades-column", help="Their grade column, where the file has several.")
@click.option("--scale", help="The scale of both by name: 0-3, esci, 0-4, 0-1.")
@click.option("--floor", type=click.IntRange(1, 100), help="Least relevant grade; 2.")
@click.option("--gain", type=click.Choice(["exp2", "linear"]), help="exp2 is 2^grade - 1.")
@click.option("--seed", type=int, default=0, help="Seed of the resampling.")
@config_option
@output_options
def command(**flags: Any) -> None:  # noqa: ANN401 - click
    """Correct a judge's mean grade, mean gain and share of relevant by people's labels.

    The judge graded all pairs, people a random part of the queries. Means are prediction-powered
    (PPI++), the share of relevant also by Rogan and Gladen; the gain of each grade is what people
    say where the judge gives it.
    """
    from relgate.eval.agreement.corrected import correct_list  # noqa: PLC0415 - numpy
    from relgate.eval.agreement.render_corrected import correction_json  # noqa: PLC0415
    from relgate.eval.cli.load import two_columns  # noqa: PLC0415
    from relgate.eval.lists.read import read_list  # noqa: PLC0415
    from relgate.eval.lists.types import Source  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    names = ("scale", "floor", "gain")
    project = settings(output, flags["config"], {name: flags[name] for name in names})
    two_columns(flags["human"], flags["human_column"], flags["grades"], flags["grades_column"])
    sides = (("human", Source(flags["human_source"])), ("grades", Source.JUDGE))
    human, grades = (
        read_list(
            flags[side],
            scale=project.list_scale(),
            source=source,
            grade_column=flags[f"{side}_column"],
        )
        for side, source in sides
    )
    for found in (human, grades):
        output.remark(f"{found.path}: {len(found.judgments):,} rows, read as {found.format}")
    done = correct_list(
        human.judgments, grades.judgments, project.conventions(), seed=flags["seed"]
    )
    _show(output, done)
    output.document(correction_json(done, seed=flags["seed"]))


def _show(output: Output, done: ListCorrection) -> None:
    from relgate.eval.agreement import render_corrected as render  # noqa: PLC0415 - numpy

    output.line(
        f"{done.labelled:,} pairs of {done.queries:,} queries by people and the judge, "
        f"{done.unlabelled:,} by the judge alone"
    )
    means: list[tuple[str, Powered | None]] = [
        ("mean grade", done.mean_grade),
        ("mean gain", done.mean_gain),
        (f"share at {done.floor} or above", done.share_relevant),
    ]
    if done.why is None:
        output.table(
            "Means, 95 % intervals over queries",
            ["Figure", "By the judge", "By people", "Corrected", "Lambda"],
            [render.powered_row(name, found) for name, found in means if found is not None],
        )
    else:
        output.line(f"means not corrected: {done.why}")
    output.line(render.rate_line(done))
    output.table(
        "What people say where the judge gives a grade",
        ["Grade", "Labels", "Its gain", "People's mean", "Expected, monotone"],
        render.gain_rows(done),
    )
    for line in render.remarks(done):
        output.line(f"Note: {line}")
