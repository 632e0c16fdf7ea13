"""What `convert` and `lists` share: how a list is read. I/O."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from relgate.eval.cli.common import FILE, Output, config_option, output_options, settings
from relgate.rubrics.errors import InputError

if TYPE_CHECKING:
    from relgate.eval.lists.docids import DocIds
    from relgate.eval.lists.read import ListFile
    from relgate.eval.lists.sink import Options
    from relgate.eval.lists.summary import ListSummary
    from relgate.eval.lists.types import Scale

__all__ = [
    "RATERS",
    "doc_ids_of",
    "list_settings",
    "open_list",
    "output_of",
    "reading_options",
    "say_read",
]

RATERS = ("refuse", "majority", "median", "first")

F = TypeVar("F", bound=Callable[..., Any])


def reading_options(function: F) -> F:
    """What a list leaves open, `--config` and the output options."""
    for option in reversed(
        (
            click.option("--scale", help="Its scale by name: 0-3, esci, esci-100, wands, 1-4 ..."),
            click.option("--format", "list_format", help="What to take it for."),
            click.option(
                "--judgments-source",
                type=click.Choice(["human", "rule", "import"]),
                help="Who made rows that do not say.",
            ),
            click.option("--grade-column", help="The column of the grade."),
            click.option(
                "--negative-as-zero", is_flag=True, help="Take TREC's negative grades as 0."
            ),
            click.option("--indices", type=FILE, help='TOML or JSON of alias = "index".'),
            click.option("--composite-ids", is_flag=True, help="Take index/id as the id."),
            config_option,
            output_options,
        )
    ):
        function = option(function)
    return function


def output_of(flags: Mapping[str, Any]) -> Output:
    """Where the command prints."""
    return Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])


def doc_ids_of(flags: Mapping[str, Any]) -> DocIds:
    """How `_index` and `_id` become one id."""
    from relgate.eval.files import read_json, read_text  # noqa: PLC0415 - only when called
    from relgate.eval.lists.docids import DocIds, indices_of  # noqa: PLC0415

    path: Path | None = flags["indices"]
    if path is None:
        return DocIds(composite=flags["composite_ids"])
    try:
        value = tomllib.loads(read_text(path)) if path.suffix == ".toml" else read_json(path)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {error}", path=path, mend='write alias = "index"') from error
    return DocIds(indices_of(value, str(path)), flags["composite_ids"])


def open_list(
    output: Output,
    path: Path,
    flags: Mapping[str, Any],
    *,
    raters: str = "refuse",
    doc_column: str | None = None,
) -> ListFile:
    """A list, and remarks on what it was taken for and what is odd in it."""
    from relgate.eval.lists.read import read_list  # noqa: PLC0415 - numpy
    from relgate.eval.lists.summary import ListSummary  # noqa: PLC0415

    stated = list_settings(output, flags, raters=raters, doc_column=doc_column)
    found = read_list(
        path,
        scale=stated.scale,
        format=flags["list_format"],
        source=stated.source,
        grade_column=stated.grade_column,
        negative_as_zero=stated.negative_as_zero,
        raters=stated.raters,
        doc_column=stated.doc_column,
        doc_ids=stated.doc_ids,
    )
    say_read(output, path, ListSummary.of(found), found.notes, scale=stated.scale)
    return found


def list_settings(
    output: Output, flags: Mapping[str, Any], *, raters: str, doc_column: str | None = None
) -> Options:
    """What the flags and the settings file say of a list."""
    from relgate.eval.lists.raters import Raters  # noqa: PLC0415 - numpy
    from relgate.eval.lists.sink import Options  # noqa: PLC0415
    from relgate.eval.lists.types import Source  # noqa: PLC0415

    names = ("scale", "judgments_source")
    project = settings(output, flags["config"], {name: flags[name] for name in names})
    return Options(
        scale=project.list_scale(),
        source=project.source() or Source.IMPORT,
        grade_column=flags["grade_column"],
        negative_as_zero=flags["negative_as_zero"],
        raters=Raters(raters),
        doc_column=doc_column,
        doc_ids=doc_ids_of(flags),
    )


def say_read(
    output: Output, path: Path, found: ListSummary, notes: Sequence[str], *, scale: Scale
) -> None:
    """Remarks on what a list was taken for and what is odd in it."""
    output.remark(
        f"{path}: {found.judgments:,} judgments of {found.queries:,} queries, "
        f"read as {found.format}, scale {scale.name}"
    )
    counted = (
        (found.repeats, "rows say again what another said; one of them is kept, with its rater"),
        (found.outranked, "rows are overruled by people"),
        (found.unlabelled, "pairs have no grade and are left out"),
    )
    for note in (*notes, *(f"{n:,} {what}" for n, what in counted if n)):
        output.remark(f"{path}: {note}")
