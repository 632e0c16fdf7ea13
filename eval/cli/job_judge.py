"""Opens the judge of a batch job as it was when the job was made. I/O."""

from __future__ import annotations

from pathlib import Path

from relgate.eval.batch.desk import BatchDesk
from relgate.eval.batch.state import JobState
from relgate.eval.cli import load
from relgate.eval.cli.common import Output
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project
from relgate.rubrics.errors import UsageError

__all__ = ["job_judge"]


def job_judge(
    made: JobState, output: Output, desk: BatchDesk, *, cache: Path | None
) -> tuple[OpenedJudge, Project]:
    """The judge, held to the honesty rules again, and the project of the job.

    Args:
        made: the job.
        output: told what a user should know.
        desk: answers for the judge.
        cache: another place for its grades.

    Raises:
        HonestyError: the judge may not be asked.
        InputError: labels or texts that its few-shot examples came from are gone.
        UsageError: its cache is on a server, whose address was not kept.
    """
    if cache is None and "cache" not in made.settings:
        raise UsageError("the job's cache is on a server; name it again with --cache")
    limits = {"max_cost": made.max_cost, "max_calls": made.max_calls}
    project = Project.model_validate(made.settings).model_copy(update=limits)
    if cache is not None:
        project = project.model_copy(update={"cache": cache})
    shot = bool(project.few_shot)
    opened = load.load_judge(
        project,
        output,
        labels=load.load_list(project, output).judgments if shot else None,
        catalogue=load.load_catalogue(project, output) if shot else None,
        overrides=made.overrides,
        desk=desk,
    )
    load.hold_honest(opened, project, output, made.overrides)
    return opened, project
