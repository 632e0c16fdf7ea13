"""Batches as the commands handle them: submitted, waited for, collected. I/O."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click

from relgate.eval.batch.desk import BatchDesk
from relgate.eval.batch.state import DEFAULT_ROOT, Part
from relgate.eval.cli.common import Output, now, progress
from relgate.eval.cli.fill_inputs import FillInputs
from relgate.eval.filling import review_gaps, same_scale
from relgate.judge.sync import run_sync

__all__ = ["open_desk", "record", "resumable", "run_to_end", "tell_ended"]


def open_desk(output: Output, root: Path | None) -> BatchDesk:
    """A desk whose lock ends with the command."""
    desk = BatchDesk(root or DEFAULT_ROOT, now=now, tell=output.remark)
    click.get_current_context().call_on_close(desk.close)
    return desk


async def record(desk: BatchDesk, found: FillInputs, output: Output) -> None:
    """Plans the batches of a fill; nothing is sent."""
    same_scale(found.aligned, found.opened)
    gaps = review_gaps(found.aligned, found.project)
    await desk.record(gaps, found.catalogue, on_progress=progress(output, "queries written"))
    if desk.book.refused is not None:
        output.remark(f"not everything is asked: {desk.book.refused}")


def run_to_end(desk: BatchDesk, found: FillInputs, output: Output, *, poll_s: float) -> None:
    """Plans, submits, waits, asks further where an answer calls for it, until all is answered.

    Raises:
        PlatformError: the provider refuses or cannot be reached; run again to go on.
    """

    async def work() -> None:
        await record(desk, found, output)
        show, shown = progress(output, "requests answered"), (0, 0)
        while desk.job.state.under_way:
            if desk.job.state.halted is None:
                await desk.driver.submit()
            if not shown[1]:
                shown = desk.driver.answered
                output.remark(
                    f"job {desk.job.state.id}: {shown[1]:,} requests under way; looking every "
                    f"{poll_s:g} s; Ctrl-C loses nothing"
                )
            await asyncio.sleep(poll_s)
            ended = await desk.look()
            tell_ended(output, ended)
            if ended:
                await desk.settle(store=False)
            elif desk.driver.answered != shown:
                shown = desk.driver.answered
                show(*shown)
        desk.judge.partial = True

    run_sync(work())
    if desk.job.state.halted is not None:
        output.remark(desk.job.state.halted)


def tell_ended(output: Output, ended: list[Part]) -> None:
    """One line for each batch that ended."""
    for part in ended:
        if part.step == "ended":
            output.remark(
                f"batch {part.number} {part.state}: {part.answered:,} of {part.requests:,} "
                f"requests answered, {part.failed:,} failed, {part.open:,} open"
            )


@contextmanager
def resumable(desk: BatchDesk, output: Output) -> Generator[None]:
    """Says how to go on when the user stops the wait."""
    try:
        yield
    except (KeyboardInterrupt, asyncio.CancelledError):
        job = desk.job.state
        output.remark(
            f"stopped waiting; the batches of job {job.id} go on at the provider: run the same "
            f"command again, or relgate batch collect {job.id}"
        )
        raise KeyboardInterrupt from None
