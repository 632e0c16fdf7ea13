"""`relgate convert`: a list or a run of one format as another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import FILE, Output
from relgate.eval.cli.list_files import (
    RATERS,
    doc_ids_of,
    open_list,
    output_of,
    reading_options,
)

if TYPE_CHECKING:
    from relgate.eval.lists.foreign import Target
    from relgate.eval.lists.types import JudgmentList

__all__ = ["command"]

_SHOWN = 5
_UNRESOLVED = 1


@click.command("convert")
@click.argument("path", metavar="IN", type=FILE)
@click.option("--to", "to", required=True, help="The format to write.")
@click.option("--out", type=FILE, required=True, help="The file to write.")
@click.option("--run", "is_run", is_flag=True, help="IN is a run, not a judgment list.")
@click.option("--only", help="The run to take of a table that holds several.")
@click.option(
    "--raters",
    type=click.Choice(RATERS),
    default="refuse",
    help="How equals that grade a pair differently are settled; by default they are refused.",
)
@click.option("--queries", type=FILE, help="Texts of queries that have an id only.")
@click.option("--locator", help="The column with a durable key, say url, instead of an id.")
@click.option("--catalogue", type=FILE, help="Whose field of that name gives the live id.")
@click.option("--index", help="The index that rank-eval-request and rre name.")
@click.option("--search", type=FILE, help="A search body with {{query}}, for rank-eval-request.")
@click.option("--case-id", type=int, help="The Quepid case that quepid-ratings go into.")
@reading_options
def command(path: Path, *, to: str, out: Path, is_run: bool, **flags: Any) -> int:  # noqa: ANN401 - click
    """Write a judgment list or a run in another format.

    It says what it took IN for, and what the other format cannot carry: that is refused where it
    would change the list, and listed where it is left out. A scale is never guessed.
    """
    from relgate.eval.cli.load import spare_inputs  # noqa: PLC0415 - numpy

    output = output_of(flags)
    spare_inputs([out], [path, *(flags[name] for name in ("queries", "catalogue", "search"))])
    done = _run(output, path, to, out, flags) if is_run else _list(output, path, to, out, flags)
    for line in done["left_out"]:
        output.remark(f"left out: {line}")
    output.line(f"{path} ({done['read_as']}) -> {out} ({to}): {done['counts']}")
    output.document({"in": str(path), "out": str(out), "to": to, **done})
    return _UNRESOLVED if done.get("unresolved") else 0


def _run(
    output: Output, path: Path, to: str, out: Path, flags: Mapping[str, Any]
) -> dict[str, Any]:
    from relgate.eval.runs.read import read_run  # noqa: PLC0415 - numpy
    from relgate.eval.runs.write import write_run  # noqa: PLC0415

    run = read_run(path, format=flags["list_format"], only=flags["only"], doc_ids=doc_ids_of(flags))
    for note in run.notes:
        output.remark(f"{path}: {note}")
    left = write_run(out, run, format=to)
    return {
        "read_as": run.format,
        "counts": f"{len(run.queries):,} queries, {len(run.failures):,} failed",
        "queries": len(run.queries),
        "failures": len(run.failures),
        "notes": list(run.notes),
        "left_out": list(left),
    }


def _list(
    output: Output, path: Path, to: str, out: Path, flags: Mapping[str, Any]
) -> dict[str, Any]:
    from relgate.eval.inputs import with_texts  # noqa: PLC0415 - numpy
    from relgate.eval.lists.write import write_list  # noqa: PLC0415
    from relgate.eval.queries import read_queries  # noqa: PLC0415

    if (flags["locator"] is None) != (flags["catalogue"] is None):
        raise click.UsageError("--locator and --catalogue are given together or not at all")
    found = open_list(output, path, flags, raters=flags["raters"], doc_column=flags["locator"])
    judgments, unresolved = _located(output, found.judgments, flags)
    if flags["queries"] is not None:
        judgments = with_texts(judgments, read_queries(flags["queries"]))
    left = write_list(out, judgments, format=to, target=_target(path, flags))
    return {
        "read_as": found.format,
        "counts": f"{len(judgments):,} judgments of {len(judgments.queries):,} queries, "
        f"scale {judgments.scale.name}",
        "judgments": len(judgments),
        "queries": len(judgments.queries),
        "scale": judgments.scale.name,
        "notes": list(found.notes),
        "conflicts": [conflict.shown for conflict in found.conflicts],
        "unresolved": list(unresolved),
        "left_out": list(left),
    }


def _located(
    output: Output, judgments: JudgmentList, flags: Mapping[str, Any]
) -> tuple[JudgmentList, tuple[str, ...]]:
    """The list under live ids; every key that no document has is said."""
    from relgate.eval.catalogue import read_catalogue  # noqa: PLC0415 - numpy
    from relgate.eval.lists.locate import relocate  # noqa: PLC0415

    if flags["locator"] is None:
        return judgments, ()
    done = relocate(judgments, read_catalogue(flags["catalogue"]).ids_by(flags["locator"]))
    if done.unresolved:
        shown = ", ".join(map(repr, done.unresolved[:_SHOWN]))
        output.remark(
            f"{len(done.unresolved):,} keys have no live document, and their judgments are left "
            f"out: {shown}"
        )
    return done.judgments, done.unresolved


def _target(path: Path, flags: Mapping[str, Any]) -> Target:
    from relgate.eval.files import read_json  # noqa: PLC0415 - numpy
    from relgate.eval.lists.foreign import Target  # noqa: PLC0415
    from relgate.eval.lists.jsontext import as_object  # noqa: PLC0415

    search: Path | None = flags["search"]
    body = None if search is None else as_object(read_json(search), "the search", search)
    return Target(
        name=path.name.split(".")[0],
        index=flags["index"],
        case_id=flags["case_id"],
        search=body,
    )
