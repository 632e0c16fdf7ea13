"""`relgate report`: a saved review rendered again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from relgate.eval.cli.common import FILE, OUT_DIR, Output, output_options

__all__ = ["command"]

_FORMATS = {"md": "review.md", "html": "review.html", "junit": "junit.xml"}


@click.command("report")
@click.argument("file", type=FILE)
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", *_FORMATS]),
    default="terminal",
    show_default=True,
    help="What to print.",
)
@click.option("--out", type=OUT_DIR, help="Folder for every file; nothing else is then printed.")
@output_options
def command(file: Path, form: str, out: Path | None, **flags: Any) -> None:  # noqa: ANN401 - click
    """Render a saved review.json FILE again, the same to the byte.

    The exit code says whether it could be rendered, not what the verdict is.
    """
    from relgate.eval.cli.load import spare_inputs  # noqa: PLC0415 - numpy
    from relgate.eval.cli.outputs import (  # noqa: PLC0415
        RENDERED,
        saved_review,
        write_rendered,
    )
    from relgate.eval.cli.show import show_review  # noqa: PLC0415
    from relgate.eval.files import read_text  # noqa: PLC0415

    output = Output(**flags)
    if output.as_json and form != "terminal":
        raise click.UsageError("--json prints the saved review itself: leave --format out")
    found = saved_review(read_text(file), file)
    if out is not None:
        spare_inputs([out / name for name in RENDERED], [file])
        write_rendered(output, out, found)
        output.remark(f"wrote {', '.join(RENDERED)} to {out}")
    elif output.as_json:
        output.raw_json(found.text)
    elif form == "terminal":
        show_review(output, found.review)
    else:
        click.echo(output.masked(RENDERED[_FORMATS[form]](found)), nl=False)
