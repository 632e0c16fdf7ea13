"""`relgate review`: the main job."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from relgate.eval.cli.common import (
    FILE,
    OUT_DIR,
    FiniteRange,
    Output,
    config_option,
    engine_options,
    judge_options,
    list_options,
    metric_options,
    now,
    output_options,
    progress,
    run_format_option,
    settings,
    spending_options,
    system_model_option,
)

__all__ = ["command"]

_JUDGE_ERROR = 0.95

_MILDER = {"needs-work": 0, "block": 1, "refuse": 2}


def _print_schema(ctx: click.Context, _param: click.Parameter, value: bool) -> None:  # noqa: FBT001
    if value:
        from relgate.eval.report.schema import review_schema  # noqa: PLC0415 - pydantic

        click.echo(json.dumps(review_schema(), indent=2))
        ctx.exit()


@click.command("review", context_settings={"show_default": False})
@click.option("--before", type=FILE, required=True, help="Results before the change.")
@click.option("--after", type=FILE, required=True, help="Results after the change.")
@run_format_option
@list_options
@click.option("--catalogue", type=FILE, help="Product texts: what a judge sees.")
@click.option("--queries", type=FILE, help="Query texts, head marks, weights.")
@click.option("--change", type=FILE, help="Change description, TOML.")
@click.option("--diff", type=FILE, help="The change as a unified diff: its types are found in it.")
@click.option("--type", "types", multiple=True, help="Type of change; may be repeated.")
@click.option("--intent", type=click.Choice(["improve", "neutral"]), help="What was wanted.")
@click.option("--description", help="The change in a few words.")
@click.option("--sha", help="The commit; read from the CI environment by default.")
@click.option("--head-query", "head_queries", multiple=True, help="A head query; repeatable.")
@system_model_option
@click.option(
    "--mode",
    "modes",
    multiple=True,
    metavar="NAME=BEFORE,AFTER",
    help="Runs of one mode of a hybrid search by itself; repeatable.",
)
@click.option(
    "--exact",
    metavar="FILE[,FILE]",
    help="Exact neighbours (before, after): the runs are neighbours, and recall@k is reviewed.",
)
@metric_options
@judge_options
@click.option(
    "--fill",
    flag_value="top-k",
    is_flag=False,
    type=click.Choice(["top-k", "all", "open"]),
    help="Fill the gaps: within k (the default), whole runs, or only what is open: what can "
    "still change the verdict.",
)
@click.option(
    "--human", type=FILE, help="People's labels kept aside, to correct the judge's delta."
)
@click.option(
    "--correct", is_flag=True,
    help="Have the judge grade people's pairs within k too, so that its delta can be corrected.",
)  # fmt: skip
@click.option(
    "--judge-error",
    flag_value=_JUDGE_ERROR,
    is_flag=False,
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    help="With --fill open: hold the verdict against the grades that the judge may have got wrong, "
    f"by its certificate; the share of people's grades that stays possible, {_JUDGE_ERROR}.",
)
@spending_options
@engine_options
@click.option("--certificates", type=FILE, help="Folder of calibration certificates.")
@click.option("--cache", type=FILE, help="Folder of paid grades, or redis://...")
@click.option(
    "--override",
    "overrides",
    multiple=True,
    type=click.Choice(["family", "circular"]),
    help="Override an honesty rule by name; every report says so.",
)
@click.option(
    "--fail-on",
    type=click.Choice(list(_MILDER)),
    help="The mildest verdict that fails; milder ones exit 0.",
)
@click.option("--seed", type=int, default=0, help="Seed of the resampling.")
@click.option("--out", type=OUT_DIR, help="Folder for review.json, .md and .html, and junit.xml.")
@click.option(
    "--annotations/--no-annotations",
    default=None,
    help="GitHub annotations on stderr; by default where GitHub Actions runs this.",
)
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON Schema of review.json, and stop.",
)
@config_option
@output_options
def command(**flags: Any) -> int:  # noqa: ANN401 - click hands over strings, paths and flags
    """Review a change: both sides scored, gaps filled by a judge, a verdict with its reasons."""
    output = Output(
        as_json=flags.pop("as_json"), quiet=flags.pop("quiet"), no_color=flags.pop("no_color")
    )
    return _review(output, flags)


def _review(output: Output, flags: Mapping[str, Any]) -> int:
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.cli.outputs import REVIEW_FILES  # noqa: PLC0415
    from relgate.eval.cli.review_inputs import (  # noqa: PLC0415
        read_inputs,
        spare_review_inputs,
    )
    from relgate.eval.cli.show import show_review_plan  # noqa: PLC0415
    from relgate.eval.review_request import ReviewRequest  # noqa: PLC0415
    from relgate.eval.workflow import plan_review, review_runs  # noqa: PLC0415

    project = _project(output, flags)
    spare_review_inputs(project, flags, REVIEW_FILES)
    read = read_inputs(output, flags, project)
    catalogue, opened = _judge(output, flags, project, read)
    if flags["correct"] and opened is None:
        raise click.UsageError("--correct has the judge of a fill grade more: give --judge")
    if project.out is not None and not flags["dry_run"]:
        load.writable(project.out, REVIEW_FILES)
    request = ReviewRequest(
        project=project,
        moment=now(),
        change=read.change,
        opened=opened,
        catalogue=catalogue,
        overrides=tuple(flags["overrides"]),
        warnings=read.warnings,
        seed=flags["seed"],
        inputs=read.provenance,
        people=read.people,
        correct=flags["correct"],
    )
    if flags["dry_run"]:
        sides = (read.labels, read.before, read.after)
        show_review_plan(output, plan_review(*sides, request, table=read.table))
        return 0
    done = review_runs(
        read.labels,
        read.before,
        read.after,
        request,
        table=read.table,
        on_progress=progress(output, "graded", opened.spent if opened else str),
    )
    return _deliver(output, project, done, annotations=flags["annotations"])


def _project(output: Output, flags: Mapping[str, Any]) -> Any:  # noqa: ANN401 - Project
    """The project's settings with this command's flags on top."""
    names = (
        "judgments", "scale", "judgments_source", "catalogue", "queries", "change", "k",
        "floor", "gain", "no_ideal", "judge", "judge_family", "fill", "judge_error",
        "certificates", "cache", "fail_on", "out", "max_calls", "max_cost",
        "engine", "ray_address", "ray_workers", "system_models",
    )  # fmt: skip
    return settings(output, flags["config"], {name: flags[name] for name in names})


def _deliver(
    output: Output,
    project: Any,  # noqa: ANN401 - Project
    done: Any,  # noqa: ANN401 - Reviewed
    *,
    annotations: bool | None,
) -> int:
    """Files first: they may have been paid for, and a pipe may break. Returns the exit code."""
    from relgate.eval.cli.outputs import saved, tell_ci, write_files  # noqa: PLC0415
    from relgate.eval.cli.show import show_review  # noqa: PLC0415

    found = saved(output, done)
    if project.out is not None:
        filled = done.review.evidence.fill is not None
        write_files(output, project.out, found, done.judgments if filled else None)
    tell_ci(output, found.review, annotations=annotations)
    show_review(output, found.review)
    output.raw_json(found.text)
    verdict = done.review.verdict
    if verdict > _MILDER[project.fail_on]:
        return int(verdict.exit_code)
    if verdict:
        output.remark(f"exit code 0, since fail_on is {project.fail_on}")
    return 0


def _for_titles(output: Output, flags: Mapping[str, Any], project: Any) -> Any:  # noqa: ANN401 - Project; Catalogue or None
    """The catalogue, for titles in the reports; one of the settings that is not there is none."""
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy

    named = project.catalogue is not None and (flags["catalogue"] or project.catalogue.exists())
    return load.load_catalogue(project, output) if named else None


def _judge(
    output: Output,
    flags: Mapping[str, Any],
    project: Any,  # noqa: ANN401 - Project
    read: Any,  # noqa: ANN401 - ReviewInputs
) -> tuple[Any, Any]:
    """The catalogue and the opened judge, or two times None without a fill."""
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.review_request import system_models  # noqa: PLC0415

    if flags["fill"] is None and flags["judge"] is None:
        for flag in ("dry_run", "judge_error"):
            if flags[flag]:
                name = flag.replace("_", "-")
                raise click.UsageError(f"--{name} goes with a fill: give --judge, and --fill")
        return _for_titles(output, flags, project), None
    if project.judge is None:
        raise click.UsageError("--fill needs a judge: --judge, or judge in relgate.toml")
    catalogue = load.load_catalogue(project, output)
    opened = load.load_judge(
        project,
        output,
        labels=read.labels,
        catalogue=catalogue,
        elsewhere=(*read.before.queries, *read.after.queries),
        models=system_models(project, read.change),
        overrides=flags["overrides"],
        plan_only=flags["dry_run"],
    )
    return catalogue, opened
