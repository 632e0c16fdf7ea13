"""`relgate label`: people grade pairs on a local page; their answers as a judgment list."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import FILE, FiniteRange, Output, config_option, output_options
from relgate.eval.cli.local_page import page_options
from relgate.eval.label.language import LANGUAGES

if TYPE_CHECKING:
    from relgate.eval.label.figures import Figures

__all__ = ["command"]

_answers_option = click.option(
    "--answers", type=FILE, required=True, help="The file of answers that `relgate label` keeps."
)


@click.group("label", invoke_without_command=True)
@click.option("--sheet", "sheets", type=FILE, multiple=True, help="What sample or refresh wrote.")
@click.option("--run", "runs", type=FILE, multiple=True, help="Or a run: its pool, as in sample.")
@click.option("--review", type=FILE, help="Or a list: the pairs that a judge graded in it.")
@click.option("--judge-grades", type=FILE, help="A judge's list, shown on demand, once answered.")
@click.option("--answers", type=FILE, help="Where answers are kept; beside the sheet by default.")
@click.option("--catalogue", type=FILE, help="Product texts, prices and images.")
@click.option("--queries", type=FILE, help="Query texts, with `need`, `filters`, `locale`.")
@click.option("--judgments", type=FILE, help="With --run: what people graded is not asked again.")
@click.option("--scale", help="Scale of the lists by name: 0-3, esci ...")
@click.option("--rubric", help="What the grades mean: a built-in tag or a file; esci-v1.")
@click.option("--depth", type=click.IntRange(1, 10_000), help="With --run: documents of each; 20.")
@click.option("--budget", type=click.IntRange(1), help="With --run: pairs to grade; all.")
@click.option("--seed", type=int, default=0, help="Another seed draws another lot.")
@click.option("--dual", type=FiniteRange(0, 1), default=0.2, help="Share graded by two; 0.2.")
@click.option("--third", help="Who decides where two differ; by default whoever is free.")
@click.option("--language", type=click.Choice(LANGUAGES), default="en", help="Of the page.")
@click.option("--out", type=FILE, help="Write the judgment list there at the end.")
@page_options
@config_option
@output_options
@click.pass_context
def command(ctx: click.Context, /, **flags: Any) -> None:  # noqa: ANN401 - click
    """Have people grade pairs on a local page: blind, by key, on a phone too.

    Pairs come from --sheet, --run or --review. The page is for this machine alone and loads nothing
    from any other. It prints a link for raters, who go by name, and one for the owner, who sees
    progress and kappa. Each answer is on disk before the page says so; the same command goes on
    where it stopped. Needs the extra: pip install 'relgate[web]'.
    """
    if ctx.invoked_subcommand is None:
        from relgate.eval.web.installed import require_web  # noqa: PLC0415 - only to serve

        require_web()
        from relgate.eval.cli.labelling import run_labelling  # noqa: PLC0415 - starlette

        output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
        run_labelling(output, flags)


@command.command("export")
@_answers_option
@click.option("--out", type=FILE, required=True, help="The list; its ending says the format.")
@click.option(
    "--every-answer", is_flag=True, help="A row a rater and a pair, for `relgate agreement`."
)
@click.option("--scale", help="Its scale by name; 0-3 or what fits the rubric.")
@output_options
def export(answers: Path, out: Path, **flags: Any) -> None:  # noqa: ANN401 - click
    """Write the answers as a judgment list.

    Its source is human, with rater and time. Where all raters of a pair agree the row is the first
    one's. Where three differ it is the middle grade, and names nobody. A pair on which two differ
    and no third has decided is left out.
    """
    from relgate.eval.cli.label_files import write_labels  # noqa: PLC0415 - numpy
    from relgate.eval.cli.load import spare_inputs  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    spare_inputs([out], [answers])
    document = write_labels(output, answers, out, every=flags["every_answer"], scale=flags["scale"])
    output.document(document)


@command.command("status")
@_answers_option
@output_options
def status(answers: Path, **flags: Any) -> None:  # noqa: ANN401 - click
    """Show progress and agreement.

    It reads the file of answers, also while raters are at work.
    """
    from dataclasses import asdict  # noqa: PLC0415 - only when asked

    from relgate.eval.label.answers import read_kept  # noqa: PLC0415 - numpy
    from relgate.eval.label.export import board_of  # noqa: PLC0415
    from relgate.eval.label.figures import figures  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    kept = read_kept(answers)
    found = figures(board_of(kept.answers), n_grades=kept.head.max_grade + 1)
    _show(output, found, kept.head.pairs)
    output.document(
        {
            "answers": str(answers),
            "pairs": kept.head.pairs,
            "rubric": kept.head.rubric,
            "graded": found.progress.graded,
            "disputed": found.progress.disputed,
            "raters": [
                {k: v for k, v in asdict(row).items() if k != "left"} for row in found.raters
            ],
            "skips": found.skips,
            "agreement": [asdict(row) for row in found.agreement],
            "alpha_ordinal": found.alpha,
            "undefined": found.undefined,
        }
    )


def _show(output: Output, found: Figures, pairs: int) -> None:
    from relgate.eval.agreement.render_raters import PAIR_COLUMNS, pair_rows  # noqa: PLC0415

    done = found.progress
    output.line(f"{done.graded:,} of {pairs:,} pairs graded, {done.disputed:,} in dispute")
    output.table(
        "",
        ["Rater", "Graded", "Skipped", "Last answer"],
        [[r.rater, f"{r.graded:,}", f"{r.skipped:,}", r.last_at] for r in found.raters],
        text_columns=(0, 3),
    )
    if found.skips:
        output.line("skipped: " + ", ".join(f"{why} {n:,}" for why, n in found.skips.items()))
    if found.undefined is not None:
        output.line(f"agreement is {found.undefined}")
        return
    output.table(
        "Every two raters on the pairs that both graded",
        PAIR_COLUMNS,
        pair_rows(found.agreement),
        text_columns=(0, 1),
    )
