"""`relgate cache`: what was paid for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from relgate.eval.cli.common import FILE, Output, config_option, output_options, settings

__all__ = ["command"]


@click.group("cache")
def command() -> None:
    """Look at the cache of paid grades."""


@command.command("stats")
@click.option("--cache", type=FILE, help="Folder of paid grades.")
@config_option
@output_options
def stats(**flags: Any) -> None:  # noqa: ANN401 - click
    """Rows, size, and grades by judge version and model."""
    from relgate.cache.report import cache_stats  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    project = settings(output, flags["config"], {"cache": flags["cache"]})
    folder: Path = project.cache
    found = cache_stats(folder)
    output.table(
        "",
        ["Judge version", "Model", "Grades"],
        [
            [judge.version, judge.model or "-", f"{rows:,}"]
            for judge, rows in found.by_judge.items()
        ],
        text_columns=(0, 1),
    )
    output.line(f"{found.rows:,} grades, {found.bytes:,} bytes in {found.directory}")
    if found.oldest:
        output.line(f"from {found.oldest} to {found.newest}")
    if found.invalid:
        output.line(f"{found.invalid:,} rows are damaged and will be graded again")
    if found.set_aside:
        output.line(f"{found.set_aside:,} damaged files were set aside (*.corrupt-*)")
    output.document(
        {
            "directory": str(found.directory),
            "rows": found.rows,
            "invalid": found.invalid,
            "bytes": found.bytes,
            "oldest": found.oldest,
            "newest": found.newest,
            "set_aside": found.set_aside,
            "by_judge": [
                {"version": judge.version, "model": judge.model, "rows": rows}
                for judge, rows in found.by_judge.items()
            ],
        }
    )
