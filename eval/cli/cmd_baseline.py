"""`relgate baseline`: accept a new baseline, with its reason; measure the noise. I/O."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from relgate.eval.cli.common import FILE, Output, commit, now, output_options

__all__ = ["command"]

_NOTES_HEAD = "# Relevance notes\n\nWhy each baseline was accepted, the latest first.\n"


@click.group("baseline")
def command() -> None:
    """Accept a new baseline, with its reason; measure how far runs of one configuration move.

    Every command takes --json, --quiet and --no-color.
    """


@command.command("set")
@click.argument("current", type=FILE)
@click.option("--out", type=FILE, default=Path("baseline/relevance.json"), help="The baseline.")
@click.option("--rationale", required=True, help="Why the figures may change; kept in the notes.")
@click.option("--notes", type=FILE, help="RELEVANCE_NOTES.md, beside the baseline by default.")
@click.option("--sha", help="The commit; read from the CI's environment by default.")
@output_options
def set_(current: Path, *, out: Path, rationale: str, **flags: Any) -> None:  # noqa: ANN401 - click
    """Make CURRENT the baseline, and write the reason with both sides' figures into the notes.

    A separate pull request should hold these two files and nothing else.
    """
    from relgate.eval.cli.load import spare_inputs  # noqa: PLC0415 - numpy
    from relgate.eval.drift.accept import accept, with_entry  # noqa: PLC0415
    from relgate.eval.drift.artifact import read_artifact, write_artifact  # noqa: PLC0415
    from relgate.eval.drift.document import notes_entry  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    notes = flags["notes"] or out.parent / "RELEVANCE_NOTES.md"
    spare_inputs([out, notes], [current])
    new = accept(read_artifact(current), rationale)
    old = read_artifact(out) if out.exists() else None
    entry = notes_entry(
        new,
        old,
        rationale=rationale,
        at=now().isoformat(timespec="seconds"),
        sha=flags["sha"] or commit(),
    )
    there = notes.read_text(encoding="utf-8") if notes.exists() else _NOTES_HEAD
    write_artifact(out, new)
    output.file(notes, with_entry(there, entry))
    output.line(f"{out} is the baseline now; the reason stands in {notes}")
    output.document({"baseline": str(out), "notes": str(notes), "had_one": old is not None})


@command.command("noise")
@click.argument("replays", type=FILE, nargs=-1, required=True)
@click.option("--hard-factor", type=click.FloatRange(2, 3), default=3.0, help="2 to 3; 3.")
@click.option("--out", type=FILE, help="Write the proposed budgets as JSON.")
@output_options
def noise(replays: tuple[Path, ...], *, hard_factor: float, out: Path | None, **flags: Any) -> None:  # noqa: ANN401 - click
    """How far replays of one configuration move, and the budgets that follow."""
    from relgate.eval.drift.artifact import read_artifact  # noqa: PLC0415 - pydantic
    from relgate.eval.drift.noise import budget_values, noise_floor  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    found = noise_floor([read_artifact(path) for path in replays], hard_factor=hard_factor)
    output.line(f"{found.replays} replays of one configuration")
    output.table(
        "",
        ["Signal", "Noise floor", "Soft", "Hard", ""],
        [
            [
                signal.value,
                f"{floor:.4f}",
                f"{found.proposed[signal].soft:g}",
                f"{found.proposed[signal].hard:g}",
                "" if floor else "nothing moved: the default stands",
            ]
            for signal, floor in found.floor.items()
        ],
        text_columns=(0, 4),
    )
    if out is not None:
        output.file(out, json.dumps(budget_values(found), indent=2) + "\n")
        output.remark(f"budgets written: {out}")
    output.document(
        {
            "replays": found.replays,
            "floor": {signal.value: floor for signal, floor in found.floor.items()},
            "proposed": {s.value: asdict(budget) for s, budget in found.proposed.items()},
        }
    )
