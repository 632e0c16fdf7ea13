"""`relgate judge-check`: how a judge holds out against order, repetition, company and attacks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import (
    FILE,
    OUT_DIR,
    FiniteRange,
    Output,
    config_option,
    judge_options,
    list_options,
    output_options,
    settings,
)
from relgate.rubrics.errors import InputError, PlatformError

if TYPE_CHECKING:
    from relgate.eval.opened_judge import OpenedJudge
    from relgate.judge.robustness.attacks import Attack
    from relgate.judge.robustness.sample import Plan, Shelf
    from relgate.judge.robustness.types import Batch, Robustness

__all__ = ["command"]

_MAX_BATCH = 25
_SHARE = FiniteRange(0, 1)


@click.command("judge-check")
@list_options
@click.option("--catalogue", type=FILE, help="Product texts: what the judge sees.")
@click.option("--queries", type=FILE, help="Query texts.")
@judge_options
@click.option("--rubric", help="Built-in tag or file.")
@click.option("--items", type=click.IntRange(2, 10_000), default=50, help="Pairs regraded; 50.")
@click.option("--shuffles", type=click.IntRange(2, 100), default=5, help="Orders a batch; 5.")
@click.option("--repeats", type=click.IntRange(2, 100), default=3, help="Askings a batch; 3.")
@click.option("--texts", type=click.IntRange(1, 10_000), default=25,
              help="Innocent texts, each attacked in every kind; 25.")  # fmt: skip
@click.option("--attack-limit", type=_SHARE, default=0.05, help="Texts lifted that pass; 0.05.")
@click.option("--change-limit", type=_SHARE, default=0.10, help="Grades changed that pass; 0.10.")
@click.option("--seed", type=int, default=0, help="Seed of samples and orders.")
@click.option("--dry-run", is_flag=True, help="Print the plan, ask nothing.")
@click.option("--out", type=OUT_DIR, help="Folder for judge-check.json and judge-check.md.")
@config_option
@output_options
def command(**flags: Any) -> int:  # noqa: ANN401 - click
    """Check how a judge holds out: by order, repetition, batch size, and texts that attack it.

    The judge is asked uncached about a sample of the judgment list and random other products.
    Exit code 1 when a limit is broken or a check could not be measured.
    """
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.judge.robustness.attacks import make_attacks  # noqa: PLC0415
    from relgate.judge.robustness.sample import draw_batches, draw_innocent  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    names = ("judgments", "scale", "judgments_source", "catalogue", "queries", "judge",
             "judge_family", "rubric")  # fmt: skip
    project = settings(output, flags["config"], {name: flags[name] for name in names})
    labels = load.load_list(project, output, flags["list_format"]).judgments
    load.say_bare_queries(output, labels.queries)
    catalogue = load.load_catalogue(project, output)
    failures: list[str] = []
    opened = _open(project, labels, catalogue, failures)
    for note in opened.notes:
        output.remark(note)
    shelf = _shelf(labels, catalogue, load.load_queries(project), flags["seed"])
    size = min(_MAX_BATCH, opened.judge.batch_size)
    batches = draw_batches(shelf, items=flags["items"], size=size)
    if not batches:
        raise InputError(
            "no query of the list has two documents with a text, nor has the catalogue others",
            path=catalogue.path,
            mend="give the catalogue of the index that was labelled",
        )
    pairs = draw_innocent(shelf, n=flags["texts"])
    if len(pairs) < flags["texts"]:
        output.remark(f"only {len(pairs)} innocent texts of {flags['texts']} could be drawn")
    attacks = make_attacks(pairs, opened.rubric)
    plan = _plan(output, opened, batches, attacks, flags)
    if flags["dry_run"]:
        output.document({"plan": _plan_json(plan)})
        return 0
    found = _ask(output, opened, batches, attacks, flags)
    first = failures[0] if failures else None
    if not found.graded:
        raise PlatformError(
            f"the judge gave no grade at all, so there is nothing to measure (first: {first}); "
            "mend the judge's calls and run again"
        )
    return _report(output, found, plan, first, flags["out"])


def _open(project: Any, labels: Any, catalogue: Any, failures: list[str]) -> OpenedJudge:  # noqa: ANN401
    """The judge; hundreds of calls may fail alike, so what they say is kept and not printed."""
    from relgate.eval.judges import open_judge  # noqa: PLC0415 - numpy

    if project.judge is None:
        raise click.UsageError("no judge: give --judge, or set judge in relgate.toml")
    opened = open_judge(
        project.judge,
        project,
        labels=labels,
        candidate_of=catalogue.candidate,
        on_error=failures.append,
    )
    click.get_current_context().call_on_close(opened.close)
    return opened


def _shelf(labels: Any, catalogue: Any, table: Any, seed: int) -> Shelf:  # noqa: ANN401 - lazily
    """The list's documents by query text, and the catalogue."""
    from relgate.judge.robustness.sample import Shelf  # noqa: PLC0415

    by_query: dict[str, list[str]] = {}
    for row in labels.rows():
        known = None if table is None else table.by_key(row.query.id)
        text = known.text if known is not None and known.text else row.query.shown
        if text.strip():
            by_query.setdefault(text, []).append(row.doc_id)
    return Shelf(by_query, catalogue.ids, catalogue.candidate, seed)


def _plan(
    output: Output,
    opened: OpenedJudge,
    batches: Sequence[Batch],
    attacks: Sequence[Attack],
    flags: dict[str, Any],
) -> Plan | None:
    """Says what will be asked before anything is."""
    from relgate.judge.robustness.sample import plan_calls  # noqa: PLC0415

    items = sum(len(batch.candidates) for batch in batches)
    output.remark(
        f"plan: {items} items in {len(batches)} batches, {flags['shuffles']} orders, "
        f"{flags['repeats']} askings; {len(attacks)} attacked texts"
    )
    llm = opened.llm
    if llm is None:
        output.remark("plan: no calls, this judge asks no model")
        return None
    plan = plan_calls(
        batches,
        attacks,
        shuffles=flags["shuffles"],
        repeats=flags["repeats"],
        calls=lambda query, texts: len(llm.batches(query, texts)),
    )
    output.remark(
        f"plan: {plan.calls:,} calls, uncached, retries not counted: order {plan.positions:,}, "
        f"repeat {plan.repeats:,}, batch size {plan.batch_size:,}, attacks {plan.attacks:,}"
    )
    return plan


def _ask(
    output: Output,
    opened: OpenedJudge,
    batches: Sequence[Batch],
    attacks: Sequence[Attack],
    flags: dict[str, Any],
) -> Robustness:
    from relgate.judge.robustness.run import check_robustness  # noqa: PLC0415 - asyncio
    from relgate.judge.robustness.types import Limits  # noqa: PLC0415
    from relgate.judge.sync import run_sync  # noqa: PLC0415

    change = flags["change_limit"]
    return run_sync(
        check_robustness(
            opened.llm or opened.judge,  # around the cache: it would answer for the judge
            batches,
            attacks,
            in_order=None if opened.llm is None else opened.llm.grade_in_order,
            floor=opened.rubric.floor,
            limits=Limits(change, change, change, flags["attack_limit"]),
            shuffles=flags["shuffles"],
            repeats=flags["repeats"],
            seed=flags["seed"],
            on_step=lambda name: output.remark(f"checking {name.replace('_', ' ')}"),
        )
    )


def _report(
    output: Output, found: Robustness, plan: Plan | None, failure: str | None, out: Path | None
) -> int:
    from relgate.judge.robustness import render  # noqa: PLC0415
    from relgate.judge.robustness.rates import Verdict  # noqa: PLC0415

    output.table(
        f"Judge {found.version}",
        render.SUMMARY_COLUMNS,
        render.summary_rows(found),
        text_columns=(0, 6),
    )
    for line in render.remarks(found):
        output.line(f"Note: {line}")
    if failure is not None:
        output.line(f"Note: the first failure: {failure}")
    output.line(f"Verdict: {found.verdict}")
    document = {
        "plan": _plan_json(plan),
        **render.robustness_json(found),
        "first_failure": failure,
    }
    if out is not None:
        text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
        output.file(out / "judge-check.json", text + "\n")
        output.file(out / "judge-check.md", render.robustness_markdown(found))
        output.remark(f"wrote judge-check.json and judge-check.md to {out}")
    output.document(document)
    return 0 if found.verdict is Verdict.WITHIN else 1


def _plan_json(plan: Plan | None) -> dict[str, int] | None:
    return None if plan is None else {**asdict(plan), "calls": plan.calls}
