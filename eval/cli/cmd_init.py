"""`relgate init`: a commented settings file."""

from __future__ import annotations

from pathlib import Path

import click

from relgate.eval.cli.common import FILE, Output, output_options

__all__ = ["command"]


@click.command("init")
@click.option("--config", type=FILE, default=Path("relgate.toml"), help="Where to write it.")
@output_options
def command(config: Path, **flags: bool) -> None:
    """Write a commented relgate.toml."""
    from relgate.eval.project import write_template  # noqa: PLC0415 - pydantic

    output = Output(**flags)
    write_template(config)
    output.line(f"wrote {config}: set the paths in it, then run relgate review")
    output.document({"wrote": str(config)})
