"""`relgate init`: a commented settings file."""

from __future__ import annotations

from pathlib import Path

import click

from relgate.eval.cli.common import FILE

__all__ = ["command"]


@click.command("init")
@click.option("--config", type=FILE, default=Path("relgate.toml"), help="Where to write it.")
def command(config: Path) -> None:
    """Write a commented relgate.toml."""
    from relgate.eval.project import write_template  # noqa: PLC0415 - pydantic

    write_template(config)
    click.echo(f"wrote {config}: set the paths in it, then run relgate review")
