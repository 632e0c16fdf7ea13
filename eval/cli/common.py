"""What the commands share: options, output, progress, loading of inputs. I/O."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import click

from relgate.eval.report.escape import heeds_commands, inert_in_ci, terminal_text
from relgate.judge.redact import known_secrets, redact

__all__ = [
    "FILE",
    "OUT_DIR",
    "ByteSize",
    "FiniteRange",
    "Output",
    "commit",
    "config_option",
    "engine_options",
    "judge_options",
    "list_options",
    "metric_options",
    "now",
    "output_options",
    "progress",
    "run_format_option",
    "settings",
    "spending_options",
]

FILE = click.Path(path_type=Path)
OUT_DIR = click.Path(path_type=Path, file_okay=False)


class FiniteRange(click.FloatRange):
    """A range of numbers; click's own lets NaN pass, which no comparison holds against."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """The number, or click's own complaint."""
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value} is no finite number", param, ctx)
        return number


class ByteSize(click.ParamType[int]):
    """An amount of memory: `500MB`, `2GB`, `1.5 GB`; MB and GB are powers of ten."""

    name = "size"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        """Bytes, or click's own complaint."""
        if isinstance(value, int):
            return value
        found = _SIZE.fullmatch(str(value).strip())
        size = 0 if found is None else int(float(found[1]) * _UNITS[found[2].upper()])
        if size < _LEAST_SIZE:
            self.fail(f"{value!r} is no size from 200MB up, like 500MB or 2GB", param, ctx)
        return size


F = TypeVar("F", bound=Callable[..., Any])

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(MB|GB)", re.IGNORECASE)
_UNITS = {"MB": 10**6, "GB": 10**9}
_LEAST_SIZE = 200 * 10**6  # DuckDB cannot sort large files in less than half of it

_SHA_VARIABLES = ("GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "CIRCLE_SHA1", "GIT_COMMIT")

_PROGRESS_EVERY_S = 5.0
_REDRAW_S = 0.2
_PLAIN_WIDTH = 110


def _stack(*options: Callable[[F], F]) -> Callable[[F], F]:
    def apply(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


def config_option(function: F) -> F:
    """`--config`."""
    return click.option("--config", type=FILE, help="Settings file; relgate.toml by default.")(
        function
    )


def output_options(function: F) -> F:
    """`--json`, `--quiet`, `--no-color`."""
    return _stack(
        click.option("--json", "as_json", is_flag=True, help="Print JSON for machines."),
        click.option("--quiet", is_flag=True, help="Print nothing but the result."),
        click.option("--no-color", is_flag=True, help="No colours on a terminal."),
    )(function)


def disk_options(function: F) -> F:
    """`--engine` and `--memory`, of commands that can work from disk."""
    return _stack(
        click.option(
            "--engine",
            type=click.Choice(["auto", "memory", "disk"]),
            default="auto",
            help="Where the work is done: in memory, or on disk for Parquet files larger than "
            "that, which needs relgate[large]. auto, the default: on disk when they would not "
            "fit in --memory.",
        ),
        click.option(
            "--memory",
            type=ByteSize(),
            help="What the disk engine keeps to, roughly, say 500MB; 2GB by default.",
        ),
    )(function)


def list_options(function: F) -> F:
    """`--judgments` and what a list leaves open."""
    return _stack(
        click.option("--judgments", type=FILE, help="The judgment list."),
        click.option("--scale", help="Its scale by name: 0-3, esci, esci-100, wands, 1-4 ..."),
        click.option(
            "--judgments-source",
            type=click.Choice(["human", "rule", "import"]),
            help="Who made rows that do not say.",
        ),
        click.option("--format", "list_format", help="What to take the list for."),
    )(function)


def judge_options(function: F) -> F:
    """`--judge` and `--judge-family`."""
    return _stack(
        click.option(
            "--judge",
            help="baseline, openai:MODEL, openai-decisions:MODEL, gemini:MODEL, "
            "gemini-decisions:MODEL, compatible:MODEL@URL or python:module:function.",
        ),
        click.option("--judge-family", help="Its model family, where its name does not tell."),
    )(function)


def system_model_option(function: F) -> F:
    """`--system-model`: None when it is not given, no model at all for `none`."""
    return click.option(
        "--system-model",
        "system_models",
        multiple=True,
        callback=_declared_models,
        help="A model that writes, rewrites or reranks in the pipeline; repeatable. "
        "'none' says that there is none.",
    )(function)


def _declared_models(
    _context: click.Context, _parameter: click.Parameter, models: tuple[str, ...]
) -> tuple[str, ...] | None:
    said = {model.strip().casefold() for model in models}
    if "" in said:
        raise click.BadParameter("a model without a name; 'none' says that there is none")
    if "none" in said:
        if len(said) > 1:
            raise click.BadParameter("'none' says that there is no model, and one is named beside")
        return ()
    return models or None


def spending_options(function: F) -> F:
    """`--dry-run`, `--max-calls`, `--max-cost`."""
    return _stack(
        click.option("--dry-run", is_flag=True, help="Say what it would ask and cost, and stop."),
        click.option("--max-calls", type=click.IntRange(0), help="Stop after so many calls."),
        click.option("--max-cost", type=FiniteRange(0), help="Stop at so many US dollars."),
    )(function)


def engine_options(function: F) -> F:
    """`--engine`, `--ray-address`, `--ray-workers`."""
    return _stack(
        click.option(
            "--engine",
            type=click.Choice(["single", "ray"]),
            help="What makes the calls: this process (single), or workers on a Ray cluster (ray).",
        ),
        click.option(
            "--ray-address",
            help="A Ray cluster that runs, HOST:PORT or auto; left out, one is started here.",
        ),
        click.option("--ray-workers", type=click.IntRange(1, 1024), help="Ray workers; one a CPU."),
    )(function)


def run_format_option(function: F) -> F:
    """`--run-format`."""
    return click.option("--run-format", help="What to take the runs for.")(function)


def metric_options(function: F) -> F:
    """`--k`, `--floor`, `--gain`, `--no-ideal`."""
    return _stack(
        click.option("--k", type=click.IntRange(1, 10_000), help="Depth; 10 by default."),
        click.option("--floor", type=click.IntRange(1, 100), help="Least relevant grade; 2."),
        click.option("--gain", type=click.Choice(["exp2", "linear"]), help="exp2 is 2^grade - 1."),
        click.option(
            "--no-ideal",
            type=click.Choice(["apart", "zero"]),
            help="Queries without a relevant judgment: apart, or 0 as in trec_eval.",
        ),
    )(function)


def settings(output: Output, config: Path | None, flags: Mapping[str, Any]) -> Any:  # noqa: ANN401 - pydantic, lazily
    """The project's settings with the flags on top; a flag left out (None) overrides nothing."""
    from relgate.eval.project import CONFIG_NAME, read_project  # noqa: PLC0415 - pydantic

    project = read_project(config)
    if config is None and Path(CONFIG_NAME).is_file():
        output.remark(f"settings from {CONFIG_NAME}")
    given = {name: value for name, value in flags.items() if value is not None}
    return project.model_validate({**project.model_dump(), **given})


def commit() -> str | None:
    """The commit that the CI system is on, read at the rim; None elsewhere."""
    return next((value for name in _SHA_VARIABLES if (value := os.environ.get(name))), None)


def now() -> datetime:
    """The current time, read at the rim."""
    return datetime.now(UTC)


class Output:
    """Where a command prints: results to stdout, remarks to stderr.

    Args:
        as_json: print the result's JSON and nothing else on stdout.
        quiet: no remarks.
        no_color: no colours.
    """

    def __init__(
        self, *, as_json: bool = False, quiet: bool = False, no_color: bool = False
    ) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.no_color = no_color or "NO_COLOR" in os.environ
        self._remarked = set[str]()
        self._secrets = known_secrets(os.environ)
        self._in_ci = heeds_commands(os.environ)
        self._stdout = sys.stdout
        if as_json:  # a user's own judge may print; stdout holds the document and nothing else
            sys.stdout = sys.stderr
            click.get_current_context().call_on_close(self._give_back)
        logging.basicConfig(format="relgate: %(message)s", level=logging.WARNING, force=True)
        logging.getLogger().handlers[0].addFilter(self._clean_record)

    def _give_back(self) -> None:
        sys.stdout = self._stdout

    def _clean_record(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self.clean(record.getMessage()), None
        return not self.quiet

    def masked(self, text: str) -> str:
        """`text` with keys masked."""
        return redact(text, self._secrets)

    def clean(self, text: str) -> str:
        """`text` with keys masked, controls shown as escapes, and no command to a CI system."""
        shown = terminal_text(self.masked(text))
        return inert_in_ci(shown) if self._in_ci else shown

    def line(self, text: str = "") -> None:
        """One line of the result, whatever is in it; nothing under `--json`."""
        if not self.as_json:
            click.echo(self.clean(" ".join(text.splitlines())))

    def remark(self, text: str) -> None:
        """One line beside the result; what was said is not said again."""
        if not self.quiet and text not in self._remarked:
            self._remarked.add(text)
            click.echo(self.clean(f"relgate: {' '.join(text.splitlines())}"), err=True)

    def document(self, value: Mapping[str, Any]) -> None:
        """The result for machines, under `--json`."""
        if self.as_json:
            self.raw_json(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))

    def raw_json(self, text: str) -> None:
        """The result for machines, as it is already written."""
        if self.as_json:  # "##" stands in strings only, where an escape means the same
            inert = text.replace("##", "#\\u0023") if self._in_ci else text
            click.echo(self.masked(inert.rstrip("\n")), file=self._stdout)

    def unmasked(self, text: str) -> None:
        """One line of the result as it is: for links whose token a mask would make worthless."""
        click.echo(text, file=self._stdout)

    def file(self, path: Path, text: str) -> None:
        """Writes a report, keys masked; never through a link that leads out of its folder.

        Raises:
            PlatformError: there is such a link, or the file cannot be written.
        """
        from relgate.eval.files import inside, write_text_atomic  # noqa: PLC0415 - when written

        write_text_atomic(inside(path.parent, path.name), self.masked(text))

    def table(
        self,
        title: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        text_columns: Sequence[int] = (0,),
    ) -> None:
        """A table; columns of text stand left, those of numbers right."""
        if self.as_json:
            return
        from rich import box  # noqa: PLC0415 - only when something is drawn
        from rich.console import Console  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        table = Table(
            box=box.SIMPLE_HEAD,
            pad_edge=False,
        )
        for i, name in enumerate(columns):
            table.add_column(
                Text(self.clean(name)),
                justify="left" if i in text_columns else "right",
                overflow="fold",
            )
        for row in rows:
            table.add_row(*(Text(self.clean(cell)) for cell in row))
        width = None if sys.stdout.isatty() else _PLAIN_WIDTH
        console = Console(no_color=self.no_color, width=width, highlight=False)
        if title:  # a line of its own: rich would break it at the table's width
            console.print(Text(self.clean(title), style="italic"), soft_wrap=True)
        console.print(table)


def progress(
    output: Output, verb: str, spent: Callable[[], str] = str
) -> Callable[[int, int], None]:
    """A callback for long work: a line every few seconds with count, rate, cost and time left.

    On a terminal the line is rewritten in place; elsewhere each is a line of its own.
    """
    begin = time.monotonic()
    last = begin
    live = sys.stderr.isatty()

    def report(done: int, total: int) -> None:
        nonlocal last
        moment = time.monotonic()
        finished = done >= total
        due = moment - last >= (_REDRAW_S if live else _PROGRESS_EVERY_S)
        closing = finished and live and moment - begin > 1
        if output.quiet or not total or not (due or closing):
            return
        last = moment
        rate = done / max(moment - begin, 1e-9)
        left = (total - done) / rate if rate else 0.0
        text = f"relgate: {verb} {done:,} of {total:,} ({rate:,.1f}/s, {left:,.0f} s left{spent()})"
        click.echo(f"\r{text:<{_PLAIN_WIDTH}}" if live else text, err=True, nl=not live or finished)

    return report
