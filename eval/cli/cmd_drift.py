"""`relgate drift`: a measured golden set against the committed baseline. I/O."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import FILE, OUT_DIR, Output, commit, now, output_options
from relgate.rubrics.errors import UsageError

if TYPE_CHECKING:
    from relgate.eval.drift.budgets import Budgets
    from relgate.eval.drift.types import Report

__all__ = ["command", "read_budgets"]


@click.command("drift")
@click.option("--current", type=FILE, required=True, help="What relgate run measured.")
@click.option("--baseline", type=FILE, required=True, help="The committed baseline.")
@click.option("--budgets", "budgets_file", type=FILE, help="Limits, JSON or TOML; the guide's.")
@click.option("--out", type=OUT_DIR, help="Folder for drift.json and drift.md.")
@click.option("--history", type=FILE, help="A file of past runs (JSONL) that this one joins.")
@click.option("--trend", type=FILE, help="Write the history as a page with charts (HTML).")
@click.option("--sha", help="The commit, for the history; read from the CI's environment.")
@output_options
def command(current: Path, baseline: Path, **flags: Any) -> int:  # noqa: ANN401 - click
    """Fail when relevance drifts past its budgets.

    Exit codes: 0 pass or soft warning, 3 over a hard budget (or another stack was measured), 4
    another golden set, other conventions, or NaN, 2 bad input.
    """
    from relgate.eval.cli.load import spare_inputs  # noqa: PLC0415 - numpy
    from relgate.eval.drift.artifact import read_artifact  # noqa: PLC0415 - pydantic
    from relgate.eval.drift.check import check_drift  # noqa: PLC0415
    from relgate.eval.drift.document import drift_document  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    history, trend = flags["history"], flags["trend"]
    if trend is not None and history is None:
        raise UsageError("--trend shows a history: name its file with --history")
    if trend is not None and trend == history:
        raise UsageError("--trend is a page, --history a file of lines: name two files")
    kept = [path for path in (history, trend) if path is not None]
    spare_inputs(kept, [current, baseline, flags["budgets_file"]])
    budgets = read_budgets(flags["budgets_file"])
    report = check_drift(read_artifact(current), read_artifact(baseline), budgets)
    _show(output, report, budgets)
    document = drift_document(report, budgets)
    if flags["out"] is not None:
        _write(output, flags["out"], report, budgets)
    if flags["history"] is not None:
        _remember(output, report, **{name: flags[name] for name in ("history", "trend", "sha")})
    output.document(document)
    return report.exit_code


def read_budgets(path: Path | None) -> Budgets:
    """The limits of a JSON or TOML file; without one the guide's."""
    from relgate.eval.drift.budgets import DEFAULT, budgets_of  # noqa: PLC0415
    from relgate.eval.files import read_json  # noqa: PLC0415
    from relgate.eval.lists.jsontext import as_object  # noqa: PLC0415
    from relgate.eval.project import read_toml  # noqa: PLC0415 - pydantic

    if path is None:
        return DEFAULT
    value = read_toml(path) if path.suffix == ".toml" else read_json(path)
    return budgets_of(as_object(value, "the budgets", path), str(path))


def _show(output: Output, report: Report, budgets: Budgets) -> None:
    from relgate.eval.drift.document import (  # noqa: PLC0415
        WEIGHTED_HEADER,
        outcome,
        signal_rows,
        weighted_rows,
    )

    output.line(
        f"{outcome(report).upper()}: golden set {report.current.golden_version} against baseline "
        f"{report.baseline.golden_version}"
    )
    for finding in report.findings:
        output.line(f"{finding.level.value}: {finding.message}")
    output.table(
        "",
        ["Stages", "Signal", "Baseline", "Current", "Move", "Soft", "Hard"],
        signal_rows(report, budgets),
        text_columns=(0, 1),
    )
    if by_traffic := weighted_rows(report):
        output.table("", list(WEIGHTED_HEADER), by_traffic, text_columns=(0, 1))
    if report.losers:
        output.table(
            "Top losers",
            ["Query", "Stages", "Baseline", "Current", "Move"],
            [
                [
                    loser.text,
                    loser.stages,
                    f"{loser.baseline:.4f}",
                    f"{loser.current:.4f}",
                    f"{-loser.drop:+.4f}",
                ]
                for loser in report.losers
            ],
            text_columns=(0, 1),
        )


def _write(output: Output, folder: Path, report: Report, budgets: Budgets) -> None:
    from relgate.eval.drift.document import drift_document, drift_markdown  # noqa: PLC0415

    text = json.dumps(drift_document(report, budgets), ensure_ascii=False, indent=2)
    output.file(folder / "drift.json", text + "\n")
    output.file(folder / "drift.md", drift_markdown(report, budgets))
    output.remark(f"written: {folder / 'drift.json'}, {folder / 'drift.md'}")


def _remember(
    output: Output, report: Report, *, history: Path, trend: Path | None, sha: str | None
) -> None:
    from relgate.eval.drift.history import append, entries_of  # noqa: PLC0415 - pydantic

    at = now().isoformat(timespec="seconds")
    every = append(history, entries_of(report, at=at, sha=sha or commit()))
    output.remark(f"{history}: {len(every):,} entries")
    if trend is not None:
        from relgate.eval.drift.trend import trend_html  # noqa: PLC0415 - jinja2, matplotlib

        output.file(trend, trend_html(every))
        output.remark(f"written: {trend}")
