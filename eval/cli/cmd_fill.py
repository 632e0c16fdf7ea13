"""`relgate fill`: a judge grades what nobody rated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import FILE, FiniteRange, Output, now, progress
from relgate.eval.cli.fill_inputs import (
    FillInputs,
    fill_options,
    fill_project,
    load_fill,
    state_option,
)
from relgate.eval.wording import tallied

if TYPE_CHECKING:
    from relgate.eval.batch.desk import BatchDesk

__all__ = ["command"]

_PROVIDER_TROUBLE = 6


@click.command("fill")
@fill_options
@click.option("--out", type=FILE, required=True, help="The new list: .jsonl or .csv.")
@click.option(
    "--via", type=click.Choice(["live", "batch"]), default="live",
    help="live (default), or batch: the provider's batches, half the price, within a day.",
)  # fmt: skip
@state_option
@click.option("--poll", type=FiniteRange(0.01), help="Seconds between looks at batches; 60.")
def command(out: Path, *, via: str, state: Path | None, poll: float | None, **flags: Any) -> int:  # noqa: ANN401
    """Have a judge grade the gaps, and write a new list; people outrank judges."""
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.cli.show import show_plan  # noqa: PLC0415
    from relgate.eval.filling import fill_runs  # noqa: PLC0415
    from relgate.eval.lists.write import write_list  # noqa: PLC0415
    from relgate.eval.plans import plan_runs  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    project = fill_project(output, flags)
    written_as = list_format(out)
    desk = _desk(output, state) if via == "batch" else None
    if desk is None and (state is not None or poll is not None):
        raise click.UsageError("--state and --poll go with --via batch")
    found = load_fill(project, output, flags, out=out, desk=desk)
    if flags["dry_run"]:
        show_plan(output, plan_runs(found.aligned, found.opened, found.catalogue, project))
        return 0
    load.writable(out.parent)
    if desk is not None:
        _wait(desk, found, output, poll_s=poll or 60.0, overrides=flags["overrides"])
    done = fill_runs(
        found.aligned,
        found.opened,
        found.catalogue,
        project,
        moment=now(),
        on_progress=progress(output, "graded", found.opened.spent),
    )
    for note in (*done.notes, *write_list(out, done.judgments, format=written_as)):
        output.remark(note)
    code = _report(output, done, out)
    if desk is not None:
        desk.finish()
        if desk.job.state.halted is not None and not done.facts.graded:
            return _PROVIDER_TROUBLE
    return code


def _desk(output: Output, state: Path | None) -> BatchDesk:
    from relgate.eval.cli.batch_desk import open_desk  # noqa: PLC0415 - pydantic

    return open_desk(output, state)


def _wait(
    desk: BatchDesk, found: FillInputs, output: Output, *, poll_s: float, overrides: tuple[str, ...]
) -> None:
    """Has the batches made, and waits until there is nothing more to wait for."""
    from relgate.eval.cli.batch_desk import resumable, run_to_end  # noqa: PLC0415 - pydantic

    desk.begin(found.opened, found.project, overrides=overrides)
    with resumable(desk, output):
        run_to_end(desk, found, output, poll_s=poll_s)


def list_format(out: Path) -> Any:  # noqa: ANN401 - a Literal of write_list
    """What to write, by the file's ending.

    TREC qrels hold no provenance: a judge's grades would come back as somebody's, past the rules
    that ask for a certificate.
    """
    formats = {".jsonl": "jsonl", ".csv": "csv"}
    if out.suffix not in formats:
        raise click.UsageError(
            f"--out {out.name}: end it in {' or '.join(formats)}; other formats do not say that a "
            "judge made a grade"
        )
    return formats[out.suffix]


def _report(output: Output, done: Any, out: Path) -> int:  # noqa: ANN401 - FilledList
    facts, filled = done.facts, done.filled
    cached = f", {facts.cached:,} from the cache" if facts.cached else ""
    calls = "" if facts.calls is None else f", {facts.calls:,} calls"
    output.line(f"{facts.graded:,} of {facts.asked:,} unrated documents graded{cached}{calls}")
    if facts.no_text:
        output.line(f"{facts.no_text:,} have no text in the catalogue and were not asked")
    if facts.cost_usd is not None:
        output.line(f"about {facts.cost_usd:.4f} USD spent")
    if facts.saved_usd is not None:
        output.line(f"about {facts.saved_usd:.4f} USD saved by the cache")
    if facts.not_asked:
        output.line(f"{facts.not_asked:,} not asked, since the run stopped: {filled.first_error}")
    if filled.errors:
        kinds = tallied(filled.errors)
        output.line(f"{sum(filled.errors.values()):,} got no grade ({kinds}): still unrated")
        output.line(f"the first failure: {filled.first_error}")
    output.line(f"wrote {len(done.judgments):,} judgments to {out}")
    output.document(
        {
            "out": str(out),
            "judgments": len(done.judgments),
            "asked": facts.asked,
            "graded": facts.graded,
            "cached": facts.cached,
            "calls": facts.calls,
            "errors": dict(filled.errors),
            "error_rate": filled.error_rate,
            "no_text": facts.no_text,
            "not_asked": facts.not_asked,
            "cost_usd": facts.cost_usd,
            "saved_usd": facts.saved_usd,
        }
    )
    return _PROVIDER_TROUBLE if facts.asked and not facts.graded else 0
