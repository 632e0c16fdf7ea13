"""`relgate init`: a commented settings file that names what lies beside it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relgate.eval.cli.common import FILE, Output, output_options

if TYPE_CHECKING:
    from relgate.eval.doctor.folder import Folder, Lying

__all__ = ["command"]

_SHOWN = 12


@click.command("init")
@click.option("--config", type=FILE, default=Path("relgate.toml"), help="Where to write it.")
@output_options
def command(config: Path, **flags: bool) -> None:
    """Write a commented relgate.toml that names the files beside it.

    Judgment lists, catalogues, query tables and change descriptions are told by their content. A
    setting that no file or several files would fit stays open, and that is said.
    """
    from relgate.eval.doctor.folder import look_into  # noqa: PLC0415 - numpy
    from relgate.eval.project import write_template  # noqa: PLC0415 - pydantic

    output = Output(**flags)
    found = look_into(config.parent, leave_out=config)
    write_template(config, found.settings)
    output.line(f"wrote {config}")
    _say(output, found)
    output.line(f"Next: {_next(found, config)}")
    output.document(
        {
            "wrote": str(config),
            "settings": found.settings,
            "files": [
                {"file": f.name, "is": None if f.part is None else f.part.value, "says": f.says}
                for f in found.files
            ],
            "left": found.left,
            "next": _next(found, config),
        }
    )


def _say(output: Output, found: Folder) -> None:
    from relgate.eval.doctor.folder import MAX_FILES, Part  # noqa: PLC0415 - numpy

    for part in Part:
        here = found.of(part)
        if part is Part.RUN:
            if here:
                output.line(f"  runs: {_files(here)}")
        elif len(here) == 1:
            output.line(f"  {part.value}: {_files(here)}")
        elif here:
            output.line(f"  {part.value}: left open, several fit: {_files(here)}")
        elif part is not Part.CHANGE:
            output.line(f"  {part.value}: left open, none found here")
    for file in found.untold[:_SHOWN]:
        output.line(f"  not told: {file.name}: {file.says}")
    if len(found.untold) > _SHOWN:
        output.line(f"  not told: {len(found.untold) - _SHOWN} more files")
    if found.left:
        output.line(f"  not looked into: {found.left:,} files after the first {MAX_FILES} by name")


def _files(files: tuple[Lying, ...]) -> str:
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    return ", ".join(f"{file.name} ({file.says})" for file in files[:_SHOWN]) + more


def _next(found: Folder, config: Path) -> str:
    """A review where it is plain what is before and what after; else the doctor."""
    from relgate.eval.doctor.folder import Part  # noqa: PLC0415 - numpy

    open_ = [part.value for part in Part if part is not Part.RUN and len(found.of(part)) > 1]
    if open_:
        return f"name one file for {' and '.join(open_)} in {config}, then relgate doctor"
    given = "" if config.name == "relgate.toml" else f" --config {shlex.quote(str(config))}"
    runs = [file.name for file in found.of(Part.RUN)]
    before = [name for name in runs if "before" in name.casefold()]
    after = [name for name in runs if "after" in name.casefold()]
    if len(before) == len(after) == 1 and before != after and "judgments" in found.settings:
        sides = (str(config.parent / name) for name in (*before, *after))
        names = dict(zip(("--before", "--after"), map(shlex.quote, sides), strict=True))
        return f"relgate review {' '.join(f'{flag} {name}' for flag, name in names.items())}{given}"
    return f"relgate doctor{given}"
