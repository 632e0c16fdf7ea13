"""`relgate demo`: the whole job on the bundled example shop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import FILE, OUT_DIR, Output, now, output_options, progress, settings

if TYPE_CHECKING:
    from relgate.eval.demo.example import Example
    from relgate.eval.project import Project
    from relgate.eval.workflow import Reviewed

__all__ = ["command"]

_SETTINGS = """\
# The example's settings; run the commands of the README in this folder.
judgments = "judgments.csv"
catalogue = "catalogue.jsonl"
queries = "queries.csv"
change = "change.toml"
judge = "baseline"
"""


@click.command("demo")
@click.option("--out", type=OUT_DIR, default=Path("relgate-demo"), help="Folder for everything.")
@click.option("--synonyms", type=FILE, help="Another synonym file as the change.")
@click.option("--label-seed", type=int, default=7, help="Which pairs count as labelled; 7.")
@output_options
def command(out: Path, synonyms: Path | None, label_seed: int, **flags: Any) -> None:  # noqa: ANN401
    """Review a synonym change on a made-up shop: refuse, calibrate, fill, verdict.

    The shop is made up and its labels follow a stated rule: agreement with them says nothing about
    real data. No key and no network are needed.
    """
    from relgate.eval.demo.example import write_example  # noqa: PLC0415
    from relgate.eval.files import write_text_atomic  # noqa: PLC0415

    output = Output(**flags)
    example = write_example(out, synonyms=synonyms, label_seed=label_seed)
    write_text_atomic(out / "relgate.toml", _SETTINGS)
    project = settings(output, out / "relgate.toml", {})
    output.line("A made-up shop, searched by SQLite FTS5 before and after a synonym file.")
    output.line("Its labels are made by rule: agreement with them says nothing about real data.")
    output.line()
    first = _step_review(output, example, project, None, out / "1-review")
    judge_level = _step_calibrate(output, project, out / "2-calibration")
    second = _step_review(output, example, project, "baseline", out / "3-review-filled")
    output.line()
    output.line(
        f"Before the fill: {first.review.verdict.word}. Judge: {judge_level}. "
        f"After the fill: {second.review.verdict.word}."
    )
    output.line(f"The report for the pull request: {out / '3-review-filled' / 'review.md'}")
    output.line(f"The same with charts, for a browser: {out / '3-review-filled' / 'review.html'}")
    output.document(
        {
            "first_verdict": first.review.verdict.word,
            "judge_level": judge_level,
            "verdict": second.review.verdict.word,
            "headline": second.review.headline,
            "out": str(out),
        }
    )


def _step_review(
    output: Output, example: Example, project: Project, judge: str | None, folder: Path
) -> Reviewed:
    from relgate.eval.change_file import read_change  # noqa: PLC0415 - numpy, as the rest
    from relgate.eval.cli import load  # noqa: PLC0415
    from relgate.eval.cli.outputs import saved, write_files  # noqa: PLC0415
    from relgate.eval.cli.show import show_review  # noqa: PLC0415
    from relgate.eval.judges import open_judge  # noqa: PLC0415
    from relgate.eval.review_request import ReviewRequest  # noqa: PLC0415
    from relgate.eval.workflow import review_runs  # noqa: PLC0415

    output.line(f"== relgate review{'' if judge is None else f' --judge {judge} --fill'}")
    listed = load.load_list(project, output)
    judgments = listed.judgments
    before = load.load_run(example.before, "before", output)
    after = load.load_run(example.after, "after", output)
    catalogue = load.load_catalogue(project, output)
    described = read_change(example.change)
    opened = (
        None
        if judge is None
        else open_judge(judge, project, labels=judgments, candidate_of=catalogue.candidate)
    )
    request = ReviewRequest(
        project=project,
        moment=now(),
        change=described.change,
        opened=opened,
        catalogue=catalogue,
        warnings=(
            "The shop is made up and its labels are made by rule: an example, no measurement.",
            *described.warnings,
            *listed.notes,
            *(f"{run.name}: {note}" for run in (before, after) for note in run.notes),
        ),
        inputs=load.stated_inputs(
            {
                "before": example.before,
                "after": example.after,
                "judgments": project.judgments,
                "catalogue": project.catalogue,
                "queries": project.queries,
                "change": example.change,
            },
            seed=0,
        ),
    )
    done = review_runs(
        judgments,
        before,
        after,
        request,
        table=load.load_queries(project),
        on_progress=progress(output, "graded"),
    )
    found = saved(output, done)
    show_review(output, found.review)
    write_files(output, folder, found, done.judgments if opened is not None else None)
    output.line()
    return done


def _step_calibrate(output: Output, project: Project, folder: Path) -> str:
    from relgate.eval.agreement.calibrate import calibrate_judge  # noqa: PLC0415 - numpy
    from relgate.eval.cli import load  # noqa: PLC0415
    from relgate.eval.cli.calibration_out import (  # noqa: PLC0415
        certify,
        show_calibration,
        write_calibration,
    )
    from relgate.eval.judges import open_judge  # noqa: PLC0415

    output.line("== relgate calibrate --judge baseline")
    judgments = load.load_list(project, output).judgments
    catalogue = load.load_catalogue(project, output)
    opened = open_judge(
        "baseline",
        project,
        labels=judgments,
        candidate_of=catalogue.candidate,
        out_of_fold=True,
    )
    calibration = calibrate_judge(opened.judge, judgments, catalogue.candidate)
    show_calibration(output, calibration)
    certify(output, calibration, project.certificates)
    write_calibration(output, calibration, folder)
    output.line()
    return calibration.level.value
