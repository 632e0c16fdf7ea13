"""`relgate calibrate`: how far judges agree with people."""

from __future__ import annotations

from typing import Any

import click

from relgate.eval.cli.common import (
    FILE,
    OUT_DIR,
    Output,
    config_option,
    output_options,
    settings,
    spending_options,
    system_model_option,
)

__all__ = ["command"]


@click.command("calibrate")
@click.option("--human", type=FILE, help="People's labels; the judgment list by default.")
@click.option(
    "--queries", type=FILE,
    help="Query texts, where the labels hold ids; strata and locales to report by.",
)  # fmt: skip
@click.option("--human-column", help="Its grade column, where the file has several.")
@click.option("--scale", help="The scale of both by name: 0-3, esci, 0-4, 0-1.")
@click.option(
    "--human-source", type=click.Choice(["human", "rule", "import"]),
    help="Who made labels that do not say; human by default with --human.",
)  # fmt: skip
@click.option(
    "--raters", type=click.Choice(["refuse", "majority", "median", "first"]), default="refuse",
    help="Several raters' grades of one pair: which is the label; refuse by default.",
)  # fmt: skip
@click.option("--catalogue", type=FILE, help="Product texts: for --judge, and to show.")
@click.option(
    "--judge", "judges", multiple=True,
    help="baseline, openai:MODEL, gemini:MODEL, compatible:MODEL@URL, python:module:function; "
    "repeatable, which compares.",
)  # fmt: skip
@click.option(
    "--judge-family", "families", multiple=True,
    help="Its model family, where its name does not tell; one for all, or one for each --judge.",
)  # fmt: skip
@system_model_option
@click.option(
    "--grades", type=FILE, multiple=True,
    help="Recorded grades of a judge; repeatable, which compares.",
)  # fmt: skip
@click.option(
    "--grades-column", "columns", multiple=True,
    help="Their grade column, where a file has several; of one file repeatable.",
)  # fmt: skip
@click.option("--floor", type=click.IntRange(1, 100), help="Least relevant grade; 2.")
@click.option(
    "--policy",
    help="Trust policy: default, people (as people agree), seed (F1 on 5 labels), or a .toml.",
)
@click.option("--min-labels", type=click.IntRange(1), default=5, help="Refuse fewer labels; 5.")
@click.option(
    "--tuning", type=FILE, multiple=True,
    help="Labels or queries that shaped the judge; refused among the labels. Repeatable.",
)  # fmt: skip
@click.option("--split", is_flag=True, help="Leave out the labels of the split's tuning part.")
@click.option("--certificates", type=FILE, help="Folder for the certificate.")
@click.option("--cache", type=FILE, help="Folder of paid grades, or redis://...")
@spending_options
@click.option("--days", type=click.IntRange(1, 3650), default=90, help="Certificate's life; 90.")
@click.option("--seed", type=int, default=0, help="Seed of the resampling.")
@click.option("--out", type=OUT_DIR, help="Folder for calibration.* (or comparison.*).")
@config_option
@output_options
def command(**flags: Any) -> None:  # noqa: ANN401 - click
    """Measure how far a judge agrees with people, and leave a certificate.

    Either --judge with --catalogue (the judge is asked now), or --grades (it was asked before).
    Several of them are compared on the pairs that all graded, beside the baseline judge.
    """
    from relgate.eval.cli import calibrating as work  # noqa: PLC0415 - numpy
    from relgate.eval.cli import calibration_out as out  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    names = ("scale", "catalogue", "queries", "floor", "policy", "certificates", "cache",
             "max_calls", "max_cost", "system_models")  # fmt: skip
    given = {name: flags[name] for name in names} | {"tuning": flags["tuning"] or None}
    project = settings(output, flags["config"], given)
    judges = work.wanted(project, flags)
    if not judges.asked:
        _refuse_idle(flags)
    job = work.prepare(output, project, flags, judges)
    if flags["dry_run"]:
        work.show_plans(job)
        return
    measured = work.measure(job)
    place = {"certificates": project.certificates, "days": flags["days"], "out": flags["out"]}
    if not judges.several:
        out.finish(output, work.calibrated(job, measured[0]), **place)
        return
    asked = [work.calibrated(job, one) for one in measured[: len(judges.asked)]]
    out.finish_comparison(output, work.compared(job, measured), asked, **place)


def _refuse_idle(flags: dict[str, Any]) -> None:
    """A flag on calls does nothing for grades that were recorded."""
    given = {
        "dry-run": flags["dry_run"],
        "max-calls": flags["max_calls"] is not None,
        "max-cost": flags["max_cost"] is not None,
        "judge-family": bool(flags["families"]),
        "system-model": flags["system_models"] is not None,
        "cache": flags["cache"] is not None,
    }
    for name, said in given.items():
        if said:
            raise click.UsageError(f"--{name} is for judges that are asked; --grades makes no call")
