"""`relgate rubric`: what the grades mean."""

from __future__ import annotations

from typing import Any

import click

from relgate.eval.cli.common import Output, output_options
from relgate.rubrics import load_rubric

__all__ = ["command"]


@click.group("rubric")
def command() -> None:
    """Look at what the grades mean."""


@command.command("show")
@click.argument("name", default="esci-v1")
@output_options
def show(name: str, **flags: Any) -> None:  # noqa: ANN401 - click
    """A rubric's version, labels and system text; NAME is a tag or a file."""
    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    rubric = load_rubric(name)
    output.line(f"{rubric.version}  (sha256 {rubric.sha256})")
    output.table(
        "",
        ["Label", "Name", "Grade", "Relevant"],
        [
            [x.code, x.name, str(x.grade), "yes" if x.grade >= rubric.floor else "no"]
            for x in rubric.labels
        ],
        text_columns=(0, 1, 3),
    )
    output.line(rubric.system)
    output.document(
        {
            "version": rubric.version,
            "sha256": rubric.sha256,
            "floor": rubric.floor,
            "labels": [{"code": x.code, "name": x.name, "grade": x.grade} for x in rubric.labels],
            "system": rubric.system,
        }
    )
