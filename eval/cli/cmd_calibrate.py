"""`relgate calibrate`: how far a judge agrees with people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import (
    FILE,
    OUT_DIR,
    Output,
    config_option,
    judge_options,
    now,
    output_options,
    progress,
    settings,
    spending_options,
)
from relgate.rubrics.errors import PlatformError

if TYPE_CHECKING:
    from relgate.eval.agreement.calibration import Calibration
    from relgate.eval.project import Project

__all__ = ["command"]


@click.command("calibrate")
@click.option("--human", type=FILE, help="People's labels; the judgment list by default.")
@click.option("--queries", type=FILE, help="Query texts, where the labels hold ids.")
@click.option("--human-column", help="Its grade column, where the file has several.")
@click.option("--scale", help="The scale of both by name: 0-3, esci, 0-4, 0-1.")
@click.option(
    "--human-source", type=click.Choice(["human", "rule", "import"]),
    help="Who made labels that do not say; human by default with --human.",
)  # fmt: skip
@click.option("--catalogue", type=FILE, help="Product texts, for --judge.")
@click.option("--grades", type=FILE, help="Recorded grades of a judge, instead of --judge.")
@click.option("--grades-column", help="Their grade column, where the file has several.")
@click.option("--floor", type=click.IntRange(1, 100), help="Least relevant grade; 2.")
@click.option("--policy", help="Trust policy: default, or seed (point F1 on 5 labels).")
@click.option("--min-labels", type=click.IntRange(1), default=5, help="Refuse fewer labels; 5.")
@click.option("--certificates", type=FILE, help="Folder for the certificate.")
@click.option("--cache", type=FILE, help="Folder of paid grades.")
@spending_options
@judge_options
@click.option("--days", type=click.IntRange(1, 3650), default=90, help="Certificate's life; 90.")
@click.option("--seed", type=int, default=0, help="Seed of the resampling.")
@click.option("--out", type=OUT_DIR, help="Folder for calibration.json and calibration.md.")
@config_option
@output_options
def command(**flags: Any) -> None:  # noqa: ANN401 - click
    """Measure how far a judge agrees with people, and leave a certificate.

    Either --judge with --catalogue (the judge is asked now), or --grades (it was asked before).
    """
    if flags["judge"] is not None and flags["grades"] is not None:
        raise click.UsageError("give --judge or --grades, not both")
    if flags["dry_run"] and flags["grades"] is not None:
        raise click.UsageError("--dry-run plans calls, and --grades makes none")
    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    names = ("scale", "judge", "catalogue", "queries", "floor", "policy", "certificates", "cache",
             "judge_family", "max_calls", "max_cost")  # fmt: skip
    project = settings(output, flags["config"], {name: flags[name] for name in names})
    calibration = (
        _recorded(output, project, flags) if flags["grades"] else _asked(output, project, flags)
    )
    if calibration is not None:
        _finish(output, project, calibration, flags)


def _labels(output: Output, project: Project, flags: dict[str, Any]) -> Any:  # noqa: ANN401
    from relgate.eval.cli.load import load_queries, require  # noqa: PLC0415 - numpy
    from relgate.eval.filling import with_texts  # noqa: PLC0415
    from relgate.eval.lists.read import read_list  # noqa: PLC0415
    from relgate.eval.lists.types import Source  # noqa: PLC0415

    stated = flags["human_source"] or ("human" if flags["human"] else project.judgments_source)
    found = read_list(
        require(flags["human"] or project.judgments, "--human"),
        scale=project.list_scale(),
        source=None if stated is None else Source(stated),
        grade_column=flags["human_column"],
    )
    output.remark(f"{found.path}: {len(found.judgments):,} labels, read as {found.format}")
    return with_texts(found.judgments, load_queries(project))


def _recorded(output: Output, project: Project, flags: dict[str, Any]) -> Calibration:
    from relgate.eval.agreement.calibrate import calibrate_pairs  # noqa: PLC0415 - numpy
    from relgate.eval.agreement.pairs import match_grades, recorded_judge  # noqa: PLC0415
    from relgate.eval.agreement.policy import policy_named  # noqa: PLC0415
    from relgate.eval.lists.read import read_list  # noqa: PLC0415
    from relgate.eval.lists.types import Source  # noqa: PLC0415

    labels = _labels(output, project, flags)
    human = flags["human"] or project.judgments
    if (
        human is not None
        and human.samefile(flags["grades"])
        and flags["human_column"] == flags["grades_column"]
    ):
        raise click.UsageError(
            "--human and --grades are the same column of the same file; name another"
        )
    grades = read_list(
        flags["grades"],
        scale=project.list_scale(),
        source=Source.JUDGE,
        grade_column=flags["grades_column"],
    )
    output.remark(f"{grades.path}: {len(grades.judgments):,} grades, read as {grades.format}")
    return calibrate_pairs(
        match_grades(labels, grades.judgments),
        scale=project.list_scale(),
        floor=project.floor,
        policy=policy_named(project.policy),
        seed=flags["seed"],
        judge=recorded_judge(grades.judgments),
    )


def _asked(output: Output, project: Project, flags: dict[str, Any]) -> Calibration | None:
    """Asks the judge; None after `--dry-run`."""
    from relgate.eval.agreement.calibrate import calibrate_judge  # noqa: PLC0415 - numpy
    from relgate.eval.agreement.policy import policy_named  # noqa: PLC0415
    from relgate.eval.cli.load import load_catalogue, load_judge  # noqa: PLC0415
    from relgate.eval.cli.show import show_plan  # noqa: PLC0415
    from relgate.eval.filling import calibration_labels, plan_labels  # noqa: PLC0415

    if project.judge is None:
        raise click.UsageError("no judge: give --judge or --grades, or set judge in relgate.toml")
    labels = _labels(output, project, flags)
    catalogue = load_catalogue(project, output)
    opened = load_judge(
        project,
        output,
        labels=labels,
        catalogue=catalogue,
        out_of_fold=True,
        plan_only=flags["dry_run"],
    )
    for note in opened.notes:
        output.remark(note)
    labels = calibration_labels(labels, opened)
    if flags["dry_run"]:
        show_plan(output, plan_labels(labels, opened, catalogue, project))
        return None
    calibration = calibrate_judge(
        opened.judge,
        labels,
        catalogue.candidate,
        min_labels=flags["min_labels"],
        floor=project.floor,
        policy=policy_named(project.policy),
        seed=flags["seed"],
        on_progress=progress(output, "graded", opened.spent),
    )
    for remark in opened.remarks:
        output.remark(remark)
    if not calibration.n:  # an outage is no evidence, and must not replace a certificate
        raise PlatformError(
            f"none of the {calibration.n_asked} pairs got a grade, so there is nothing to measure; "
            "mend the judge's calls and run again"
        )
    return calibration


def _finish(
    output: Output, project: Project, calibration: Calibration, flags: dict[str, Any]
) -> None:
    from relgate.eval.agreement.render import calibration_json  # noqa: PLC0415 - numpy

    show_calibration(output, calibration)
    document = calibration_json(calibration)
    if calibration.judge.fingerprint is not None:
        path = write_certificate_of(output, calibration, project.certificates, flags["days"])
        document["certificate"] = str(path)
    else:
        output.remark("the recorded grades name no judge, so there is nothing to certify")
    if flags["out"] is not None:
        write_calibration(output, calibration, flags["out"])
    output.document(document)


def write_certificate_of(
    output: Output, calibration: Calibration, folder: Path, days: int = 90
) -> Path:
    """Writes the certificate, named by the judge's fingerprint, where a gate will look it up."""
    from relgate.eval.agreement.certificate import (  # noqa: PLC0415 - pydantic
        make_certificate,
        write_certificate,
    )

    certificate = make_certificate(calibration, now=now(), days=days)
    path = folder / f"{certificate.fingerprint}.json"
    write_certificate(certificate, path)
    output.remark(f"wrote the certificate to {path}; it holds until {certificate.expires_at:%F}")
    return path


def write_calibration(output: Output, calibration: Calibration, folder: Path) -> None:
    """Writes calibration.json and calibration.md."""
    from relgate.eval.agreement.render import (  # noqa: PLC0415 - numpy
        calibration_json,
        calibration_markdown,
    )

    document = calibration_json(calibration)
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    output.file(folder / "calibration.json", text + "\n")
    output.file(folder / "calibration.md", calibration_markdown(calibration))
    output.remark(f"wrote calibration.json and calibration.md to {folder}")


def show_calibration(output: Output, calibration: Calibration) -> None:
    """The figures that decide, the level and why."""
    from relgate.eval.agreement.render import HEADLINE_FIGURES, shown_figure  # noqa: PLC0415

    output.table(
        f"Agreement on {calibration.n:,} labels of {calibration.n_queries:,} queries",
        ["Figure", "Value", "95 % interval over queries"],
        [
            [label, *shown_figure(calibration.figures[name])]
            for name, label in HEADLINE_FIGURES.items()
        ],
    )
    for warning in calibration.warnings:
        output.line(f"Note: {warning}")
    if calibration.expectation is not None:
        output.line("Expected grades and spreads were measured too: see calibration.md (--out)")
    output.line(f"Level: {calibration.level}")
    for reason in calibration.reasons:
        output.line(f"  - {reason}")
