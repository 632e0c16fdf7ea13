"""`relgate run`: a golden set replayed against a search, and measured. I/O."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import (
    FILE,
    OUT_DIR,
    Output,
    config_option,
    now,
    output_options,
    progress,
    settings,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from relgate.eval.drift.types import Measured
    from relgate.eval.golden.types import GoldenSet
    from relgate.eval.harness.config import HarnessConfig
    from relgate.eval.harness.report import Setup
    from relgate.eval.harness.session import Replayed

__all__ = ["command"]

_FAILED = 6
_SHOWN = 5
_POOL_DEPTH = 20


@click.command("run")
@click.option("--golden", "golden_file", type=FILE, required=True, help="The golden set.")
@click.option("--engine", "engine_file", type=FILE, required=True, help="The engine, TOML.")
@click.option("--out", type=OUT_DIR, required=True, help="Folder for relevance.json and the runs.")
@click.option("--stage", "stages", multiple=True, help="stage=setting; all of them by default.")
@click.option("--size", type=click.IntRange(1, 10_000), help="Documents to ask for; 20 or k.")
@click.option("--concurrency", type=click.IntRange(1, 256), help="Searches at once.")
@click.option("--timeout", "timeout_s", type=click.FloatRange(0, 600, min_open=True), help="s.")
@click.option("--with-caches", is_flag=True, help="Do not bypass the engine's caches.")
@click.option("--repeat", type=click.IntRange(1, 100), default=1, help="Replays, for the noise.")
@click.option("--fresh", is_flag=True, help="Begin anew, whatever a stopped run has left.")
@click.option("--floor", type=click.IntRange(1, 100), help="Least relevant grade; 2.")
@click.option("--gain", type=click.Choice(["exp2", "linear"]), help="exp2 is 2^grade - 1.")
@click.option("--no-ideal", type=click.Choice(["apart", "zero"]), help="Queries without an ideal.")
@config_option
@output_options
def command(golden_file: Path, engine_file: Path, out: Path, **flags: Any) -> int:  # noqa: ANN401 - click
    """Replay a golden set against a search, in every combination of its stages, and measure it.

    Writes relevance.json (what `relgate drift` compares), a run a combination (what `relgate
    review` reads), and run.json (failures, latency, near-duplicate titles). A run that was stopped
    goes on where it was. Exit code 6 when a search failed.
    """
    from relgate.eval.cli.load import spare_inputs, writable  # noqa: PLC0415 - numpy
    from relgate.eval.drift.types import stages_words  # noqa: PLC0415
    from relgate.eval.golden.files import read_golden  # noqa: PLC0415 - pydantic
    from relgate.eval.harness.config import read_engine  # noqa: PLC0415
    from relgate.eval.harness.report import Setup  # noqa: PLC0415
    from relgate.eval.harness.session import Session, combinations_of, open_engine  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    golden = read_golden(golden_file)
    config = _overridden(read_engine(engine_file), flags)
    names = ("floor", "gain", "no_ideal")
    project = settings(
        output, flags["config"], {**{name: flags[name] for name in names}, "k": golden.k}
    )
    writable(out)
    spare_inputs([out / "relevance.json"], [golden_file])
    combinations = combinations_of(config.stages, flags["stages"])
    engine = open_engine(config, bypass=not flags["with_caches"])
    click.get_current_context().call_on_close(engine.close)
    _remarks(output, golden, config, flags)
    size = flags["size"] or max(golden.k, _POOL_DEPTH)
    setup = Setup(
        golden,
        project.conventions(),
        "used" if flags["with_caches"] else _bypass(config) or "not told",
        {"engine": config.engine.kind, "measured_at": now().isoformat(timespec="seconds")},
    )
    reports: list[dict[str, Any]] = []
    for folder in _folders(out, flags["repeat"]):
        session = Session(golden, config, engine, folder, size)
        found = [
            session.run(
                stages,
                fresh=flags["fresh"] or flags["repeat"] > 1,
                progress=progress(output, f"{stages_words(stages)}: asked"),
            )
            for stages in combinations
        ]
        told = replace(setup, about={**engine.about(), **setup.about})
        reports.append(_write(output, folder, told, found))
        for one in found:
            session.forget(one.stages)
    output.document(reports[0] if len(reports) == 1 else {"replays": reports})
    return _FAILED if any(part["failed"] for report in reports for part in report["runs"]) else 0


def _folders(out: Path, repeat: int) -> list[Path]:
    return [out] if repeat == 1 else [out / str(number + 1) for number in range(repeat)]


def _overridden(config: HarnessConfig, flags: Mapping[str, Any]) -> HarnessConfig:
    given = {name: flags[name] for name in ("concurrency", "timeout_s") if flags[name] is not None}
    return config.model_copy(update=given)


def _remarks(
    output: Output, golden: GoldenSet, config: HarnessConfig, flags: Mapping[str, Any]
) -> None:
    open_ids = sum(judgment.doc_id is None for _, judgment in golden.pairs())
    if open_ids:
        output.remark(
            f"{open_ids} judgments have no live id and do not count: run relgate golden resolve"
        )
    if not flags["with_caches"] and _bypass(config) is None:
        output.remark("the engine's description has no [engine.bypass]: a cache may answer")


def _bypass(config: HarnessConfig) -> str | None:
    """How caches are bypassed, or None where nothing says."""
    kind = config.engine.kind
    if kind in {"elasticsearch", "opensearch"} or config.engine.bypass is not None:
        return "bypassed"
    return "none" if kind in {"python", "embedded"} else None


def _write(output: Output, folder: Path, setup: Setup, found: Sequence[Replayed]) -> dict[str, Any]:
    from relgate.eval.drift.artifact import artifact_text  # noqa: PLC0415
    from relgate.eval.harness.report import artifact_of, report_of  # noqa: PLC0415
    from relgate.eval.harness.session import slug  # noqa: PLC0415
    from relgate.eval.harness.summary import run_lines  # noqa: PLC0415

    artifact = artifact_of(setup, found)
    report = report_of(artifact, setup.golden, found)
    for one in found:
        text = run_lines(setup.golden.queries, one.answers)
        output.file(folder / f"run-{slug(one.stages)}.jsonl", text)
    output.file(folder / "relevance.json", artifact_text(artifact))
    output.file(folder / "run.json", json.dumps(report, ensure_ascii=False, indent=2) + "\n")
    output.remark(f"written: {folder / 'relevance.json'} and {len(found)} runs beside it")
    _show(output, artifact.runs, found)
    return report


def _show(output: Output, measured: Sequence[Measured], found: Sequence[Replayed]) -> None:
    from relgate.eval.drift.types import SIGNALS, stages_words  # noqa: PLC0415

    output.table(
        "",
        ["Stages", *(signal.value for signal in SIGNALS), "p95 ms", "Failed"],
        [
            [
                run.words,
                *(f"{run.means[s]:.4f}" if s in run.means else "-" for s in SIGNALS),
                f"{run.latency_ms['p95']:.1f}" if run.latency_ms else "-",
                str(len(one.failed)),
            ]
            for run, one in zip(measured, found, strict=True)
        ],
    )
    for one in found:
        for answer in one.failed[:_SHOWN]:
            output.line(f"failed: {answer.query_id} ({stages_words(one.stages)}): {answer.failure}")
        more = len(one.failed) - _SHOWN
        if more > 0:
            output.line(f"and {more} more, in run.json")
