"""`relgate batch`: a judge asked through its provider's batches, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import FILE, Output, now, output_options, progress
from relgate.eval.cli.fill_inputs import fill_options, fill_project, load_fill, state_option
from relgate.judge.sync import run_sync

if TYPE_CHECKING:
    from relgate.eval.batch.desk import BatchDesk
    from relgate.eval.batch.state import Job, JobState, Part
    from relgate.judge.providers.batches import Batches

__all__ = ["command"]

_NOT_FINISHED = 1
_SHOWN_STEPS = {"planned": "planned", "uploading": "not submitted", "creating": "not confirmed"}


@click.group("batch")
def command() -> None:
    """Ask a judge through its provider's batches: half the price, within a day.

    `submit` takes what `fill` takes and sends it; `collect` puts the answers into the cache, and
    sends again what expired; then `fill` writes the list from the cache. `fill --via batch` does
    all of it and waits. Every command takes --json, --quiet and --no-color.
    """


@command.command("submit")
@fill_options
@state_option
def submit(*, state: Path | None, **flags: Any) -> None:  # noqa: ANN401 - click
    """Send what a fill would ask, as batches; come back with `collect`."""
    from relgate.eval.cli.batch_desk import (  # noqa: PLC0415 - pydantic
        open_desk,
        record,
        resumable,
    )
    from relgate.eval.cli.show import show_plan  # noqa: PLC0415
    from relgate.eval.plans import plan_runs  # noqa: PLC0415

    output = _output(flags)
    desk = open_desk(output, state)
    found = load_fill(fill_project(output, flags), output, flags, out=None, desk=desk)
    if flags["dry_run"]:
        show_plan(output, plan_runs(found.aligned, found.opened, found.catalogue, found.project))
        return
    desk.begin(found.opened, found.project, overrides=flags["overrides"])

    async def work() -> None:
        await record(desk, found, output)
        await desk.driver.submit()

    with resumable(desk, output):
        run_sync(work())
    job = desk.job.state
    if not job.parts:
        desk.finish()
        output.line("nothing to ask: every grade is in the cache, or the budget allows none")
    else:
        _show_job(output, desk.job)
        output.line(f"come back with: relgate batch collect {job.id}")
    output.document(_job_document(desk.job.state))


@command.command("status")
@click.argument("job", required=False)
@state_option
@output_options
def status(job: str | None, *, state: Path | None, **flags: Any) -> None:  # noqa: ANN401 - click
    """Show how batches are, here and at the provider; changes nothing.

    JOB is its id; without one, every job that is not collected.
    """
    from relgate.eval.batch.state import Job  # noqa: PLC0415 - pydantic

    output = _output(flags)
    jobs = _open_jobs(state) if job is None else [Job.read(_root(state) / job)]
    if not jobs:
        output.line("no job waits to be collected")
    documents: list[dict[str, Any]] = []
    for one in jobs:
        words = run_sync(_remote_words(one))
        _show_job(output, one, words)
        documents.append(_job_document(one.state, words))
    output.document({"jobs": documents})


@command.command("collect")
@click.argument("job", required=False)
@click.option("--no-resubmit", is_flag=True, help="Send nothing again: only take what is there.")
@click.option("--cache", type=FILE, help="Folder of paid grades, or redis://..., if not the job's.")
@state_option
@output_options
def collect(job: str | None, *, no_resubmit: bool, state: Path | None, **flags: Any) -> int:  # noqa: ANN401
    """Put what is answered into the cache; send again what expired or must be asked further.

    Ends with exit code 0 when everything is collected, and 1 while something is under way.
    """
    from relgate.eval.cli.batch_desk import resumable, tell_ended  # noqa: PLC0415 - pydantic

    output = _output(flags)
    desk = _resumed(output, _one_job(job, state), state, flags["cache"])
    if no_resubmit:
        desk.book.refused = "--no-resubmit"

    async def work() -> None:
        tell_ended(output, await desk.look())
        await desk.settle(store=True, on_progress=progress(output, "groups read"))
        if not no_resubmit and desk.job.state.halted is None:
            await desk.driver.submit()
        if not desk.job.state.under_way:  # what is there is all that comes
            desk.judge.partial = True
            await desk.settle(store=True)

    with resumable(desk, output):
        run_sync(work())
    if not no_resubmit or not desk.unsettled:
        desk.finish()
    for remark in (*desk.opened.remarks, desk.book.refused):
        if remark is not None:
            output.remark(remark)
    _report_collected(output, desk)
    return 0 if desk.job.state.closed else _NOT_FINISHED


@command.command("cancel")
@click.argument("job", required=False)
@state_option
@output_options
def cancel(job: str | None, *, state: Path | None, **flags: Any) -> None:  # noqa: ANN401 - click
    """End a job's batches at the provider. What they answered is paid for: `collect` takes it."""
    from relgate.eval.batch.driver import Driver, Patience  # noqa: PLC0415 - pydantic
    from relgate.eval.batch.state import Job, alone  # noqa: PLC0415

    output = _output(flags)
    job_id = _one_job(job, state)
    with alone(_root(state), Job.read(_root(state) / job_id).state.fingerprint):
        found = Job.read(_root(state) / job_id)
        found.save(halted="cancelled by relgate batch cancel")
        driver = Driver(found, _provider(found), now=now, tell=output.remark, patience=Patience())
        asked = run_sync(driver.cancel())
    output.line(
        f"{asked:,} batches asked to end; relgate batch collect {job_id} takes what they answered"
    )
    output.document({"job": job_id, "asked_to_end": asked})


def _output(flags: dict[str, Any]) -> Output:
    return Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])


def _root(state: Path | None) -> Path:
    from relgate.eval.batch.state import DEFAULT_ROOT  # noqa: PLC0415 - pydantic

    return state or DEFAULT_ROOT


def _open_jobs(state: Path | None) -> list[Job]:
    from relgate.eval.batch.state import read_jobs  # noqa: PLC0415 - pydantic

    return [job for job in read_jobs(_root(state)) if not job.state.closed]


def _one_job(job_id: str | None, state: Path | None) -> str:
    """The job that is named, else the only one that waits."""
    if job_id is not None:
        return job_id
    waiting = [job.state.id for job in _open_jobs(state)]
    if len(waiting) != 1:
        raise click.UsageError(f"which job? Those that wait: {', '.join(waiting) or 'none'}")
    return waiting[0]


def _provider(job: Job) -> Batches:
    from relgate.eval.project import Project  # noqa: PLC0415 - pydantic
    from relgate.judge.providers.select import (  # noqa: PLC0415
        batches_for,
        parse_judge_spec,
    )

    project = Project.model_validate(job.state.settings)
    spec = parse_judge_spec(job.state.judge)
    return batches_for(spec, timeout_s=project.timeout_s, api=project.judge_api)


def _resumed(output: Output, job_id: str, state: Path | None, cache: Path | None) -> BatchDesk:
    """The desk of a job, its judge opened as it was."""
    from relgate.eval.batch.state import Job  # noqa: PLC0415 - pydantic
    from relgate.eval.cli.batch_desk import open_desk  # noqa: PLC0415
    from relgate.eval.cli.job_judge import job_judge  # noqa: PLC0415

    made = Job.read(_root(state) / job_id).state
    desk = open_desk(output, state)
    opened, project = job_judge(made, output, desk, cache=cache)
    desk.resume(opened, project, job_id)
    return desk


async def _remote_words(job: Job) -> dict[int, str]:
    """The provider's word for each submitted batch, by number; its failure where it has none."""
    from relgate.judge.types import CallError  # noqa: PLC0415

    submitted = [part for part in job.state.parts if part.step == "submitted"]
    if not submitted:
        return {}
    batches = _provider(job)
    words: dict[int, str] = {}
    for part in submitted:
        try:
            remote = await batches.get(part.batch_id or "")
        except CallError as error:
            words[part.number] = f"unknown: {error.message}"
        else:
            done = "" if remote.done is None else f", {remote.done:,} done"
            words[part.number] = f"{remote.state} ({remote.word}{done})"
    return words


def _show_job(output: Output, job: Job, words: dict[int, str] | None = None) -> None:
    state = job.state
    output.line(f"job {state.id}: {state.judge}, since {state.created_at}")
    if state.halted is not None:
        output.line(f"nothing more is sent: {state.halted}")
    output.table(
        "",
        ["Batch", "At the provider", "State", "Requests", "Answered", "Failed", "Open"],
        [
            [
                str(part.number),
                part.batch_id or "-",
                (words or {}).get(part.number) or _shown_step(part),
                f"{part.requests:,}",
                *(
                    [f"{part.answered:,}", f"{part.failed:,}", f"{part.open:,}"]
                    if part.step == "ended"
                    else ["-", "-", "-"]
                ),
            ]
            for part in state.parts
        ],
        text_columns=(0, 1, 2),
    )


def _shown_step(part: Part) -> str:
    if part.step == "ended":
        return f"{part.state}" + (f": {part.message}" if part.message else "")
    return _SHOWN_STEPS.get(part.step, part.step)


def _job_document(state: JobState, words: dict[int, str] | None = None) -> dict[str, Any]:
    """A job for machines; nothing of the settings, which hold paths."""
    fields = {
        "number", "label", "requests", "bytes", "step", "since", "batch_id", "state", "message",
        "answered", "failed", "open", "prompt_tokens", "completion_tokens", "uncounted",
    }  # fmt: skip
    return {
        "job": state.id,
        "judge": state.judge,
        "version": state.version,
        "fingerprint": state.fingerprint,
        "created_at": state.created_at,
        "halted": state.halted,
        "closed": state.closed,
        "requests": state.sent,
        "batches": [
            part.model_dump(mode="json", include=fields)
            | {"remote": (words or {}).get(part.number)}
            for part in state.parts
        ],
    }


def _report_collected(output: Output, desk: BatchDesk) -> None:
    state, cost = desk.job.state, desk.cost_usd
    stored = 0 if desk.opened.cached is None else desk.opened.cached.stored
    output.line(f"{stored:,} grades stored in the cache")
    if cost is not None:
        output.line(f"about {cost:.4f} USD spent by this job so far, at the price of batches")
    if state.halted is not None:
        output.line(f"nothing more is sent: {state.halted}")
    if state.closed:
        output.line(
            f"job {state.id} is collected: relgate fill writes the list from the cache"
            if not desk.unsettled
            else f"job {state.id} is at its end; {desk.unsettled:,} groups lack grades"
        )
    else:
        under_way = sum(part.requests for part in state.under_way)
        output.line(f"{under_way:,} requests are under way: collect again later")
    output.document(
        {
            **_job_document(state),
            "stored": stored,
            "unsettled": desk.unsettled,
            "cost_usd": cost,
        }
    )
