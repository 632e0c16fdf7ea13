"""The group of commands, and the one place where errors become exit codes."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from relgate.judge.redact import known_secrets, redact
from relgate.rubrics.errors import RelgateError

__all__ = ["COMMANDS", "cli", "run"]

# Name -> what it does. The module is `relgate.eval.cli.cmd_<name>` with `_` for `-`, loaded
# only when called.
COMMANDS: dict[str, str] = {
    "init": "Write a commented relgate.toml.",
    "doctor": "Say what is set up, what is missing, what to run next.",
    "demo": "Run the whole job on the bundled example shop.",
    "review": "Review a change: before and after, judged, with a verdict.",
    "explain": "Say what a rule of the reviewer asks, and how to mend.",
    "report": "Render a saved review again.",
    "score": "Score runs against a judgment list.",
    "compare": "Compare runs pair by pair: interval, p, effect, power.",
    "gaps": "List the documents that nobody rated.",
    "fill": "Have a judge grade the gaps, and write a new list.",
    "batch": "Ask a judge through its provider's batches, at half the price.",
    "refresh": "Find stale judgments, grade anew, list people's for people.",
    "sample": "Draw the pairs that people should label, in blind order.",
    "label": "Have people grade pairs on a local page.",
    "calibrate": "Measure how far a judge agrees with people.",
    "certificate": "Look at calibration certificates: show, verify, compare.",
    "agreement": "Measure how far raters agree, people and judges, from their labels.",
    "canary": "Grade a frozen set anew, to tell a judge that moved from search.",
    "correct": "Correct a judge's means and rates by people's labels of a part.",
    "judge": "Grade documents for one query.",
    "judge-check": "Check a judge by order, repetition, batch size and attacks.",
    "rerank": "Reorder a run with a judge.",
    "sxs": "Have people compare two runs side by side, blind; count their votes.",
    "neighbours": "Compute exact neighbours of vectors, to measure recall against.",
    "convert": "Write a judgment list or a run in another format.",
    "run": "Replay a golden set against a search, and measure it.",
    "drift": "Fail when a golden set's figures drift past their budgets.",
    "baseline": "Accept a new baseline with its reason; measure the noise.",
    "golden": "Make, check, freeze and tend golden sets.",
    "lists": "Check, compare, merge and describe judgment lists.",
    "cache": "Look at the cache of paid grades.",
    "rubric": "Look at what the grades mean.",
}

_INTERRUPTED = 130


class _Lazy(click.Group):
    """A group that imports a command when it is called; `--help` imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"relgate.eval.cli.cmd_{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:  # noqa: FBT001
    if value:
        from importlib.metadata import version  # noqa: PLC0415 - slow, and rarely asked

        click.echo(f"relgate {version('relgate')}")
        ctx.exit()


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 approve, 1 needs-work, 2 usage or bad input, 3 block, 4 refuse, "
    "5 honesty rule, 6 environment or provider.",
)
@click.option(
    "--version", is_flag=True, callback=_version, expose_value=False, is_eager=True,
    help="Show the version.",
)  # fmt: skip
def cli() -> None:
    """Judge search relevance, honestly: gaps filled by a calibrated judge, then a verdict."""


def run() -> NoReturn:
    """Runs the command line and exits with its code."""
    _speak_utf8()
    try:
        code = cli.main(prog_name="relgate", standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.ClickException as error:
        _say(error.format_message(), hint=_usage_hint(error))
        sys.exit(2)
    except RelgateError as error:
        from relgate.eval.cli.pages import page_of  # noqa: PLC0415 - only for errors

        _say(str(error), hint=f"more: {page_of(error)}")
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted; what was graded is kept in the cache: run the same command to go on")
        sys.exit(_INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _speak_utf8() -> None:
    """Queries and titles are of any language: no locale may end a command with a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _usage_hint(error: click.ClickException) -> str | None:
    context = getattr(error, "ctx", None)
    return None if context is None else f"see: {context.command_path} --help"


def _say(message: str, *, hint: str | None = None) -> None:
    from relgate.eval.report.escape import (  # noqa: PLC0415 - only for errors
        heeds_commands,
        inert_in_ci,
        terminal_text,
    )

    line = " ".join(redact(message, known_secrets(os.environ)).split())
    line = inert_in_ci(line) if heeds_commands(os.environ) else line
    click.echo(terminal_text(f"relgate: {line}"), err=True)
    if hint is not None:
        click.echo(terminal_text(f"relgate: {hint}"), err=True)
