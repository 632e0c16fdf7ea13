"""What a fill is made of, for the commands that fill live or through batches. I/O."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from relgate.eval.cli.common import (
    FILE,
    Output,
    config_option,
    engine_options,
    judge_options,
    list_options,
    output_options,
    run_format_option,
    settings,
    spending_options,
    system_model_option,
)

if TYPE_CHECKING:
    from relgate.eval.batch.desk import BatchDesk
    from relgate.eval.catalogue import Catalogue
    from relgate.eval.inputs import Aligned
    from relgate.eval.opened_judge import OpenedJudge
    from relgate.eval.project import Project

__all__ = ["FillInputs", "fill_options", "fill_project", "load_fill", "state_option"]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class FillInputs:
    """A list and runs on one axis, texts, and the judge that is to fill the gaps.

    Attributes:
        project: settings.
        aligned: the list and the runs.
        catalogue: product texts.
        opened: the judge.
    """

    project: Project
    aligned: Aligned
    catalogue: Catalogue
    opened: OpenedJudge


def fill_options(function: F) -> F:
    """Everything that says what to fill, and by whom."""
    for option in reversed(
        (
            click.option(
                "--run", "runs", type=FILE, multiple=True, required=True, help="A run; repeatable."
            ),
            run_format_option,
            list_options,
            click.option("--catalogue", type=FILE, help="Product texts: what the judge sees."),
            click.option("--queries", type=FILE, help="Query texts."),
            judge_options,
            system_model_option,
            click.option("--k", type=click.IntRange(1, 10_000), help="Depth; 10 by default."),
            click.option("--all", "whole", is_flag=True, help="Fill whole runs, not the top k."),
            spending_options,
            engine_options,
            click.option("--certificates", type=FILE, help="Folder of calibration certificates."),
            click.option("--cache", type=FILE, help="Folder of paid grades, or redis://..."),
            click.option(
                "--override", "overrides", multiple=True, type=click.Choice(["family", "circular"]),
                help="Override an honesty rule by name.",
            ),
            config_option,
            output_options,
        )
    ):  # fmt: skip
        function = option(function)
    return function


def state_option(function: F) -> F:
    """`--state`."""
    return click.option("--state", type=FILE, help="Folder of batch jobs; .relgate/batches.")(
        function
    )


def load_fill(
    project: Project,
    output: Output,
    flags: dict[str, Any],
    *,
    out: Path | None,
    desk: BatchDesk | None,
) -> FillInputs:
    """Reads what the flags name, opens the judge, holds it to the honesty rules.

    Args:
        project: from `fill_project`.
        output: told what each file was taken for.
        flags: of `fill_options`.
        out: what will be written; no input may be there.
        desk: for a judge that is asked through its provider's batches.
    """
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.inputs import align_inputs  # noqa: PLC0415

    if out is not None:
        inputs = (project.judgments, project.catalogue, project.queries, *flags["runs"])
        load.spare_inputs([out], inputs)
    found = load.load_list(project, output, flags["list_format"])
    read = [load.load_run(p, p.name, output, flags["run_format"]) for p in flags["runs"]]
    catalogue = load.load_catalogue(project, output)
    aligned = align_inputs(found.judgments, read, project, table=load.load_queries(project))
    opened = load.load_judge(
        project,
        output,
        labels=found.judgments,
        catalogue=catalogue,
        elsewhere=(query for run in read for query in run.queries),
        overrides=flags["overrides"],
        plan_only=flags["dry_run"],
        desk=desk,
    )
    load.hold_honest(opened, project, output, flags["overrides"])
    for line in (*aligned.axis.warnings, *aligned.warnings):
        output.remark(line)
    return FillInputs(project, aligned, catalogue, opened)


def fill_project(output: Output, flags: dict[str, Any]) -> Project:
    """The settings with the flags on top.

    Raises:
        UsageError: they name no judge (click's own).
    """
    names = (
        "judgments", "scale", "judgments_source", "catalogue", "queries", "judge",
        "judge_family", "k", "certificates", "cache", "max_calls", "max_cost",
        "engine", "ray_address", "ray_workers", "system_models",
    )  # fmt: skip
    given = {name: flags[name] for name in names}
    given["fill"] = "all" if flags["whole"] else None
    project: Project = settings(output, flags["config"], given)
    if project.judge is None:
        raise click.UsageError("no judge: give --judge, or set judge in relgate.toml")
    return project
