"""`relgate review`: the main job."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import click

from relgate.eval.cli.common import (
    FILE,
    OUT_DIR,
    Output,
    config_option,
    judge_options,
    list_options,
    metric_options,
    now,
    output_options,
    progress,
    run_format_option,
    settings,
    spending_options,
)

__all__ = ["command"]

# Where the CI systems keep the commit, read here at the rim.
_SHA_VARIABLES = ("GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "CIRCLE_SHA1", "GIT_COMMIT")

_MILDER = {"needs-work": 0, "block": 1, "refuse": 2}


@click.command("review", context_settings={"show_default": False})
@click.option("--before", type=FILE, required=True, help="Results before the change.")
@click.option("--after", type=FILE, required=True, help="Results after the change.")
@run_format_option
@list_options
@click.option("--catalogue", type=FILE, help="Product texts: what a judge sees.")
@click.option("--queries", type=FILE, help="Query texts, head marks, weights.")
@click.option("--change", type=FILE, help="Change description, TOML.")
@click.option("--type", "types", multiple=True, help="Type of change; may be repeated.")
@click.option("--intent", type=click.Choice(["improve", "neutral"]), help="What was wanted.")
@click.option("--description", help="The change in a few words.")
@click.option("--sha", help="The commit; read from the CI environment by default.")
@click.option("--head-query", "head_queries", multiple=True, help="A head query; repeatable.")
@click.option(
    "--system-model",
    "system_models",
    multiple=True,
    help="A model in the pipeline; 'none' says that there is none.",
)
@click.option(
    "--mode",
    "modes",
    multiple=True,
    metavar="NAME=BEFORE,AFTER",
    help="Runs of one mode of a hybrid search by itself; repeatable.",
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
@spending_options
@click.option("--certificates", type=FILE, help="Folder of calibration certificates.")
@click.option("--cache", type=FILE, help="Folder of paid grades.")
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
@click.option("--out", type=OUT_DIR, help="Folder for review.json, review.md and judgments.jsonl.")
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
    from relgate.eval.cli.show import (  # noqa: PLC0415
        REVIEW_FILES,
        show_plan,
        show_review,
        write_review,
    )
    from relgate.eval.filling import align_inputs, plan_runs  # noqa: PLC0415
    from relgate.eval.report.document import review_document  # noqa: PLC0415
    from relgate.eval.workflow import ReviewRequest, review_runs  # noqa: PLC0415

    project = settings(
        output,
        flags["config"],
        {
            name: flags[name]
            for name in (
                "judgments", "scale", "judgments_source", "catalogue", "queries", "change", "k",
                "floor", "gain", "no_ideal", "judge", "judge_family", "fill", "certificates",
                "cache", "fail_on", "out", "max_calls", "max_cost",
            )
        } | {"system_models": flags["system_models"] or None},
    )  # fmt: skip
    if project.out is not None:
        load.spare_inputs(
            [project.out / name for name in REVIEW_FILES],
            [flags["before"], flags["after"], project.judgments, project.catalogue,
             project.queries, project.change],
        )  # fmt: skip
    load.two_files(flags["before"], flags["after"])
    before = load.load_run(flags["before"], "before", output, flags["run_format"])
    after = load.load_run(flags["after"], "after", output, flags["run_format"])
    found = load.load_list(project, output, flags["list_format"]) if project.judgments else None
    change, warnings = _change(project.change, flags)
    labels = found.judgments if found else None
    catalogue, opened = _judge(output, flags, project, labels, change)
    if flags["dry_run"]:
        aligned = align_inputs(labels, (before, after), project, table=load.load_queries(project))
        show_plan(output, plan_runs(aligned, opened, catalogue, project))
        return 0
    if project.out is not None:
        load.writable(project.out)
    request = ReviewRequest(
        project=project,
        moment=now(),
        change=change,
        opened=opened,
        catalogue=catalogue,
        overrides=tuple(flags["overrides"]),
        warnings=(
            *warnings,
            *(found.notes if found else ()),
            *(f"{run.name}: {note}" for run in (before, after) for note in run.notes),
        ),
        seed=flags["seed"],
        inputs={**_inputs(flags, project), **_mode_inputs(change)},
    )
    done = review_runs(
        labels,
        before,
        after,
        request,
        table=load.load_queries(project),
        on_progress=progress(output, "graded", opened.spent if opened else str),
    )
    if project.out is not None:  # first: it may have been paid for, and a pipe may break
        write_review(output, project.out, done, filled=opened is not None)
    show_review(output, done.review)
    output.document(review_document(done.review, done.open_fill))
    if done.review.verdict > _MILDER[project.fail_on]:
        return done.review.verdict.exit_code
    if done.review.verdict:
        output.remark(f"exit code 0, since fail_on is {project.fail_on}")
    return 0


def _judge(
    output: Output,
    flags: Mapping[str, Any],
    project: Any,  # noqa: ANN401 - Project
    labels: Any,  # noqa: ANN401 - Judgments or None
    change: Any,  # noqa: ANN401 - ChangeDescription or None
) -> tuple[Any, Any]:
    """The catalogue and the opened judge, or two times None without a fill."""
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.workflow import system_models  # noqa: PLC0415

    if flags["fill"] is None and flags["judge"] is None:
        if flags["dry_run"]:
            raise click.UsageError("--dry-run plans a fill: give --judge")
        return None, None
    if project.judge is None:
        raise click.UsageError("--fill needs a judge: --judge, or judge in relgate.toml")
    catalogue = load.load_catalogue(project, output)
    opened = load.load_judge(
        project,
        output,
        labels=labels,
        catalogue=catalogue,
        models=system_models(project, change),
        overrides=flags["overrides"],
        plan_only=flags["dry_run"],
    )
    return catalogue, opened


def _inputs(flags: Mapping[str, Any], project: Any) -> dict[str, str]:  # noqa: ANN401 - Project
    """What the review was made of: names and hashes, never a path of this machine."""
    paths = {
        "before": flags["before"],
        "after": flags["after"],
        "judgments": project.judgments,
        "catalogue": project.catalogue if flags["judge"] or flags["fill"] else None,
        "change": project.change,
    }
    found = {what: _named(path) for what, path in paths.items() if path is not None}
    return {**found, "relgate": metadata.version("relgate"), "seed": str(flags["seed"])}


def _mode_inputs(change: Any) -> dict[str, str]:  # noqa: ANN401 - ChangeDescription or None
    """The runs of each mode, named and hashed as the other inputs are."""
    runs = [run for mode in (change.modes if change else ()) for run in (mode.before, mode.after)]
    return {f"mode {run.name}": _named(Path(run.path)) for run in runs}


def _named(path: Path) -> str:
    return f"{path.name}, sha256 {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"


def _modes(flags: Mapping[str, Any]) -> tuple[Any, ...]:
    """The modes that flags give.

    Raises:
        click.UsageError: not NAME=BEFORE,AFTER, or a name twice.
    """
    from relgate.eval.change_file import read_mode  # noqa: PLC0415 - numpy

    out: dict[str, Any] = {}
    for given in flags["modes"]:
        name, _, files = given.partition("=")
        before, _, after = files.partition(",")
        if not (name and before and after) or "," in after:
            raise click.UsageError(f"--mode {given!r}: write NAME=BEFORE,AFTER")
        if name in out:
            raise click.UsageError(f"--mode {name} stands twice")
        out[name] = read_mode(name, Path(before), Path(after))
    return tuple(out.values())


def _change(path: Path | None, flags: Mapping[str, Any]) -> tuple[Any, tuple[str, ...]]:
    """The change description with the flags on top, and what the reader has to say."""
    from relgate.eval.change_file import change_types, read_change  # noqa: PLC0415
    from relgate.eval.review.change import ChangeDescription  # noqa: PLC0415

    read = None if path is None else read_change(path)
    sha = flags["sha"] or next((v for n in _SHA_VARIABLES if (v := os.environ.get(n))), None)
    given = {
        "types": change_types(flags["types"]) or None,
        "intent": flags["intent"],
        "description": flags["description"],
        "sha": sha if read is None or read.change.sha is None or flags["sha"] else None,
        "head_queries": flags["head_queries"] or None,
        "modes": _modes(flags) or None,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if read is None and not given:
        return None, ()
    base = ChangeDescription() if read is None else read.change
    return replace(base, **given), () if read is None else read.warnings
