"""`relgate doctor`: what is set up, what is missing, what to run next."""

from __future__ import annotations

import os
from pathlib import Path

import click

from relgate.eval.cli.common import Output, config_option, now, output_options

__all__ = ["command"]


@click.command("doctor")
@config_option
@output_options
def command(config: Path | None, **flags: bool) -> int:
    """Say what is set up here, what is missing, and what to run next.

    Asks no model, reaches no provider and writes nothing. A part that is missing is no fault. Exit
    code 0 when nothing is wrong; else that of the first fault: 1 a certificate that does not hold,
    2 a setting or a file, 5 the honesty rules, 6 a package, a key, the cache.
    """
    from relgate.eval.doctor.look import look  # noqa: PLC0415 - pydantic, numpy

    output = Output(**flags)
    found = look(config, folder=Path(), environ=os.environ, now=now())
    output.table(
        "",
        ["Part", "State", "What was found"],
        [[check.name, check.state.value, check.says] for check in found.checks],
        text_columns=(0, 1, 2),
    )
    output.line("Next:")
    for step in found.steps:
        output.line(f"  {step}")
    output.document(found.document)
    return found.exit_code
