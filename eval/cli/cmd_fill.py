"""`relgate fill`: a judge grades what nobody rated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from relgate.eval.cli.common import (
    FILE,
    Output,
    config_option,
    engine_options,
    judge_options,
    list_options,
    now,
    output_options,
    progress,
    run_format_option,
    settings,
    spending_options,
)

__all__ = ["command"]

_PROVIDER_TROUBLE = 6


@click.command("fill")
@click.option("--run", "runs", type=FILE, multiple=True, required=True, help="A run; repeatable.")
@run_format_option
@list_options
@click.option("--catalogue", type=FILE, help="Product texts: what the judge sees.")
@click.option("--queries", type=FILE, help="Query texts.")
@judge_options
@click.option("--system-model", "system_models", multiple=True, help="A model in the pipeline.")
@click.option("--k", type=click.IntRange(1, 10_000), help="Depth; 10 by default.")
@click.option("--all", "whole", is_flag=True, help="Fill whole runs, not only the top k.")
@spending_options
@engine_options
@click.option("--certificates", type=FILE, help="Folder of calibration certificates.")
@click.option("--cache", type=FILE, help="Folder of paid grades, or redis://...")
@click.option(
    "--override", "overrides", multiple=True, type=click.Choice(["family", "circular"]),
    help="Override an honesty rule by name.",
)  # fmt: skip
@click.option("--out", type=FILE, required=True, help="The new list: .jsonl or .csv.")
@config_option
@output_options
def command(runs: tuple[Path, ...], out: Path, *, whole: bool, **flags: Any) -> int:  # noqa: ANN401
    """Have a judge grade the gaps, and write a new list; people outrank judges."""
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.cli.show import show_plan  # noqa: PLC0415
    from relgate.eval.filling import fill_runs  # noqa: PLC0415
    from relgate.eval.inputs import align_inputs  # noqa: PLC0415
    from relgate.eval.lists.write import write_list  # noqa: PLC0415
    from relgate.eval.plans import plan_runs  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    names = (
        "judgments", "scale", "judgments_source", "catalogue", "queries", "judge",
        "judge_family", "k", "certificates", "cache", "max_calls", "max_cost",
        "engine", "ray_address", "ray_workers",
    )  # fmt: skip
    given = {name: flags[name] for name in names}
    given |= {"system_models": flags["system_models"] or None, "fill": "all" if whole else None}
    project = settings(output, flags["config"], given)
    if project.judge is None:
        raise click.UsageError("no judge: give --judge, or set judge in relgate.toml")
    written_as = list_format(out)
    load.spare_inputs([out], [project.judgments, project.catalogue, project.queries, *runs])
    found = load.load_list(project, output, flags["list_format"])
    read = [load.load_run(path, path.name, output, flags["run_format"]) for path in runs]
    catalogue = load.load_catalogue(project, output)
    aligned = align_inputs(found.judgments, read, project, table=load.load_queries(project))
    opened = load.load_judge(
        project,
        output,
        labels=found.judgments,
        catalogue=catalogue,
        overrides=flags["overrides"],
        plan_only=flags["dry_run"],
    )
    load.hold_honest(opened, project, output, flags["overrides"])
    for line in (*aligned.axis.warnings, *aligned.warnings):
        output.remark(line)
    if flags["dry_run"]:
        plan = plan_runs(aligned, opened, catalogue, project)
        show_plan(output, plan)
        return 0
    load.writable(out.parent)
    done = fill_runs(
        aligned,
        opened,
        catalogue,
        project,
        moment=now(),
        on_progress=progress(output, "graded", opened.spent),
    )
    for note in (*done.notes, *write_list(out, done.judgments, format=written_as)):
        output.remark(note)
    return _report(output, done, out)


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
        kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(filled.errors.items()))
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
