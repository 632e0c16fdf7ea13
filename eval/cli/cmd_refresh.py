"""`relgate refresh`: finds stale judgments, has a judge grade its own anew, lists the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from relgate.eval.cli.cmd_fill import list_format
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

_PROVIDER_TROUBLE = 6
_MANY_GONE = 0.2  # a refresh retires some; so many look like an extract
_ELSEWHERE = "name another --report"
_SETTINGS = (
    "judgments", "scale", "judgments_source", "catalogue", "queries", "judge", "judge_family",
    "k", "floor", "gain", "no_ideal", "certificates", "cache", "max_calls", "max_cost",
    "engine", "ray_address", "ray_workers", "system_models",
)  # fmt: skip


@click.command("refresh")
@list_options
@click.option("--catalogue", type=FILE, help="Product texts as they are now.")
@click.option("--queries", type=FILE, help="Query texts.")
@judge_options
@system_model_option
@click.option(
    "--max-age-days", type=FiniteRange(0, 100_000), help="Older judgments are stale; no limit."
)
@click.option("--run", "runs", type=FILE, multiple=True, help="Score it by both lists; repeatable.")
@run_format_option
@metric_options
@spending_options
@engine_options
@click.option("--certificates", type=FILE, help="Folder of calibration certificates.")
@click.option("--cache", type=FILE, help="Folder of paid grades, or redis://...")
@click.option(
    "--override", "overrides", multiple=True, type=click.Choice(["family", "circular"]),
    help="Override an honesty rule by name.",
)  # fmt: skip
@click.option("--out", type=FILE, required=True, help="The new list: .jsonl or .csv.")
@click.option("--report", type=OUT_DIR, help="Folder of the report; beside the new list.")
@config_option
@output_options
def command(runs: tuple[Path, ...], out: Path, report: Path | None, **flags: Any) -> int:  # noqa: ANN401 - click
    """Find stale judgments, have a judge grade its own anew, list people's for people."""
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.refresh.work import plan_refresh, refresh_list  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    given = {name: flags[name] for name in _SETTINGS}
    project = settings(output, flags["config"], given)
    folder = report or out.with_suffix(".refresh")
    written_as = list_format(out)
    inputs = [project.judgments, project.catalogue, project.queries, *runs]
    load.spare_inputs([out, *_places(folder).values()], inputs)
    catalogue, looked, aligned = _looked(output, project, runs, flags)
    if flags["dry_run"]:
        _show_look(output, looked)
        _show_plan(output, looked, plan_refresh(looked, catalogue, project))
        return 0
    load.writable(out.parent)
    load.writable(folder)
    _spare_work(folder, looked, catalogue)
    _show_look(output, looked)
    done = refresh_list(
        looked,
        catalogue,
        project,
        on_progress=progress(output, "graded", looked.opened.spent if looked.opened else str),
    )
    return _write(output, project, (catalogue, looked, aligned, done), (out, written_as, folder))


def _looked(output: Output, project: Any, runs: tuple[Path, ...], flags: dict[str, Any]) -> Any:  # noqa: ANN401 - lazily imported
    """The catalogue, what is stale, and the runs on one axis with the list (None without)."""
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.inputs import align_inputs, query_texts  # noqa: PLC0415
    from relgate.eval.lists.types import Source  # noqa: PLC0415
    from relgate.eval.metrics.score import score_runs  # noqa: PLC0415
    from relgate.eval.refresh.work import look  # noqa: PLC0415

    listed = load.load_list(project, output, flags["list_format"]).judgments
    read = [load.load_run(path, path.name, output, flags["run_format"]) for path in runs]
    catalogue, table = load.load_catalogue(project, output), load.load_queries(project)
    aligned = align_inputs(listed, read, project, table=table) if read else None
    if aligned is not None:  # what cannot be scored is found out before anything is paid for
        score_runs(listed, aligned.runs, aligned.axis, project.conventions())
        for line in (*aligned.axis.warnings, *aligned.warnings):
            output.remark(line)
    opened = None
    if Source.JUDGE in listed.counts_by_source():
        opened = load.load_judge(
            project, output, labels=listed, catalogue=catalogue, overrides=flags["overrides"]
        )
        load.hold_honest(opened, project, output, flags["overrides"])
    looked = look(
        listed,
        catalogue,
        opened,
        moment=now(),
        max_age_days=flags["max_age_days"],
        texts=query_texts(table),
    )
    return catalogue, looked, aligned


def _show_look(output: Output, looked: Any) -> None:  # noqa: ANN401 - Look, lazily imported
    from relgate.eval.refresh.stale import State  # noqa: PLC0415

    staleness = looked.staleness
    gone = staleness.count(State.GONE)
    if gone > _MANY_GONE * len(staleness.rows):
        output.remark(
            f"{gone:,} of {len(staleness.rows):,} judgments are of documents that the catalogue "
            "lacks: is it the whole catalogue?"
        )
    output.table(
        "",
        ["Graded by", *(state.value for state in State)],
        [
            [who, *(f"{staleness.count(state, by_judge=judge):,}" for state in State)]
            for who, judge in (("a judge", True), ("people, rules, imports", False))
        ],
    )
    for who, judge in (("a judge's", True), ("other", False)):
        for check, n in staleness.reasons(by_judge=judge).items():
            output.line(f"{n:,} {who} judgments: {check}")
        for check, n in staleness.unknowns(by_judge=judge).items():
            output.line(f"{n:,} {who} judgments do not say enough to be checked for {check}")


def _show_plan(output: Output, looked: Any, plan: Any) -> None:  # noqa: ANN401 - FillPlan, lazily imported
    from relgate.eval.cli.show import plan_lines  # noqa: PLC0415
    from relgate.eval.gaps.plan import plan_document  # noqa: PLC0415
    from relgate.eval.refresh.report import look_document  # noqa: PLC0415

    for line in plan_lines(plan):
        output.line(line)
    output.document({**look_document(looked), "plan": plan_document(plan)})


def _places(folder: Path) -> dict[str, Path]:
    names = {
        "report": "refresh.json",
        "markdown": "refresh.md",
        "retired": "retired.jsonl",
        "for people": "for-people.csv",
    }
    return {what: folder / name for what, name in names.items()}


def _spare_work(folder: Path, looked: Any, catalogue: Any) -> None:  # noqa: ANN401 - lazily imported
    """Refuses a folder that holds another refresh's retired judgments or people's sheet."""
    from relgate.eval.refresh.files import people_rows, spare_retired  # noqa: PLC0415
    from relgate.eval.sampling.write import spare_sheet  # noqa: PLC0415

    places = _places(folder)
    spare_retired(places["retired"], looked, mend=_ELSEWHERE)
    if rows := people_rows(looked, catalogue):
        spare_sheet(places["for people"], rows, mend=_ELSEWHERE)


def _write(output: Output, project: Any, parts: Any, to: Any) -> int:  # noqa: ANN401 - lazily imported
    """Every file beside the list first; the new list last, so that it is there when all is."""
    from relgate.eval.lists.write import write_list  # noqa: PLC0415
    from relgate.eval.refresh.apply import retired_rows  # noqa: PLC0415
    from relgate.eval.refresh.files import people_rows  # noqa: PLC0415
    from relgate.eval.refresh.markdown import refresh_markdown  # noqa: PLC0415
    from relgate.eval.refresh.report import Report, refresh_document  # noqa: PLC0415
    from relgate.eval.refresh.shift import run_shifts  # noqa: PLC0415
    from relgate.eval.sampling.write import write_sheet  # noqa: PLC0415

    (catalogue, looked, aligned, done), (out, written_as, folder) = parts, to
    places = _places(folder)
    refreshed = done.refreshed
    files = {"list": out, "report": places["report"]}
    if refreshed.retired:
        files["retired"] = places["retired"]
        retired = retired_rows(looked.judgments, looked.staleness)
        write_list(places["retired"], retired, format="jsonl")
    if refreshed.for_people:
        files["for people"] = places["for people"]
        write_sheet(places["for people"], people_rows(looked, catalogue), mend=_ELSEWHERE)
    shifts = (
        ()
        if aligned is None
        else run_shifts(
            looked.judgments,
            refreshed.judgments,
            aligned.runs,
            aligned.axis,
            project.conventions(),
        )
    )
    told = Report(looked, done, shifts, {what: str(path) for what, path in files.items()})
    document = refresh_document(told)
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    output.file(places["report"], text + "\n")
    output.file(places["markdown"], refresh_markdown(told))
    for note in (*done.notes, *write_list(out, refreshed.judgments, format=written_as)):
        output.remark(note)
    _say(output, told, document)
    return _PROVIDER_TROUBLE if done.filled.asked and not refreshed.moves else 0


def _say(output: Output, told: Any, document: dict[str, Any]) -> None:  # noqa: ANN401 - Report
    done, refreshed = told.done, told.done.refreshed
    calls = "" if done.calls is None else f", {done.calls:,} calls"
    cached = f", {done.cached:,} from the cache" if done.cached else ""
    output.line(
        f"{len(refreshed.moves):,} of {done.filled.asked:,} pairs graded anew{cached}{calls}; "
        f"{refreshed.changed:,} grades changed"
    )
    if done.cost_usd is not None:
        output.line(f"about {done.cost_usd:.4f} USD spent")
    if done.saved_usd is not None:
        output.line(f"about {done.saved_usd:.4f} USD saved by the cache")
    if refreshed.retired:
        output.line(f"{len(refreshed.retired):,} judgments retired: their documents are gone")
    if refreshed.for_people:
        output.line(f"{len(refreshed.for_people):,} stale judgments wait for people")
    if refreshed.still_stale:
        output.line(f"{len(refreshed.still_stale):,} got no new grade: still stale, kept as is")
        if done.filled.first_error:
            output.line(f"the first failure: {done.filled.first_error}")
    for shift in told.shifts:
        output.line(
            f"{shift.name}: {shift.old} by the old list, {shift.new} by the new; "
            f"{shift.delta:+.4f} by labels alone over {shift.n} queries"
        )
    for what, path in told.files.items():
        output.line(f"{what}: {path}")
    output.document(document)
