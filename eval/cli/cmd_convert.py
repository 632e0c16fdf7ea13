"""`relgate convert`: a list or a run of one format as another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import FILE, Output, disk_options, progress
from relgate.eval.cli.list_files import (
    RATERS,
    doc_ids_of,
    list_settings,
    open_list,
    output_of,
    reading_options,
    say_read,
)
from relgate.rubrics.errors import UsageError

if TYPE_CHECKING:
    from relgate.eval.large.lists import ListTold
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
@disk_options
@reading_options
def command(path: Path, *, to: str, out: Path, is_run: bool, **flags: Any) -> int:  # noqa: ANN401 - click
    """Write a judgment list or a run in another format.

    It says what it took IN for, and what the other format cannot carry: that is refused where it
    would change the list, and listed where it is left out. A scale is never guessed. Parquet lists
    larger than memory become Parquet from disk; their queries then come in no particular order.
    """
    from relgate.eval.cli.load import spare_inputs  # noqa: PLC0415 - numpy

    output = output_of(flags)
    spare_inputs([out], [path, *(flags[name] for name in ("queries", "catalogue", "search"))])
    if _on_disk(output, path, to, flags, is_run=is_run):
        done = _large_list(output, path, out, flags)
    elif is_run:
        done = _run(output, path, to, out, flags)
    else:
        done = _list(output, path, to, out, flags)
    for line in done["left_out"]:
        output.remark(f"left out: {line}")
    output.line(f"{path} ({done['read_as']}) -> {out} ({to}): {done['counts']}")
    output.document({"in": str(path), "out": str(out), "to": to, **done})
    return _UNRESOLVED if done.get("unresolved") else 0


def _on_disk(
    output: Output, path: Path, to: str, flags: Mapping[str, Any], *, is_run: bool
) -> bool:
    from relgate.eval.cli.disk import on_disk  # noqa: PLC0415 - numpy

    if is_run or to != "parquet":
        if flags["engine"] == "disk" or flags["memory"] is not None:
            raise UsageError("the disk engine writes a list as Parquet alone: --to parquet")
        return False
    return on_disk([path], [flags["list_format"]], flags, output)


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
    from relgate.eval.lists.write import write_list  # noqa: PLC0415 - numpy

    change = _Change(flags)
    found = open_list(output, path, flags, raters=flags["raters"], doc_column=flags["locator"])
    judgments = change(found.judgments)
    change.say(output)
    left = write_list(out, judgments, format=to, target=_target(path, flags))
    return {
        "read_as": found.format,
        **change.figures,
        "notes": list(found.notes),
        "conflicts": [conflict.shown for conflict in found.conflicts],
        "unresolved": list(change.unresolved),
        "left_out": list(left),
    }


def _large_list(output: Output, path: Path, out: Path, flags: Mapping[str, Any]) -> dict[str, Any]:
    from relgate.eval.cli.disk import MEMORY  # noqa: PLC0415 - numpy
    from relgate.eval.inputs import query_texts  # noqa: PLC0415
    from relgate.eval.large.lists import convert_parts  # noqa: PLC0415

    change = _Change(flags)
    stated = list_settings(output, flags, raters=flags["raters"], doc_column=flags["locator"])
    told: ListTold = convert_parts(
        path,
        out,
        stated,
        change=change,
        texts=query_texts(change.table),
        memory=flags["memory"] or MEMORY,
        report=progress(output, "converted part"),
    )
    say_read(output, path, told.summary, told.notes, scale=stated.scale)
    change.say(output)
    return {
        "read_as": told.summary.format,
        **change.figures,
        "notes": list(told.notes),
        "conflicts": list(told.first_conflicts),
        "conflict_count": told.conflicts,
        "unresolved": list(change.unresolved),
        "left_out": [],
    }


class _Change:
    """What happens to a list, or to its parts, on the way: live ids, texts of queries."""

    def __init__(self, flags: Mapping[str, Any]) -> None:
        from relgate.eval.catalogue import read_catalogue  # noqa: PLC0415 - numpy
        from relgate.eval.queries import read_queries  # noqa: PLC0415

        locator, catalogue, queries = flags["locator"], flags["catalogue"], flags["queries"]
        if (locator is None) != (catalogue is None):
            raise click.UsageError("--locator and --catalogue are given together or not at all")
        self._ids = None if locator is None else read_catalogue(catalogue).ids_by(locator)
        self.table = None if queries is None else read_queries(queries)
        self._judgments = self._queries = 0
        self._scale = ""
        self._unresolved: dict[str, None] = {}

    def __call__(self, judgments: JudgmentList) -> JudgmentList:
        from relgate.eval.inputs import with_texts  # noqa: PLC0415 - numpy
        from relgate.eval.lists.locate import relocate  # noqa: PLC0415

        if self._ids is not None:
            done = relocate(judgments, self._ids)
            judgments = done.judgments
            self._unresolved |= dict.fromkeys(done.unresolved)
        judgments = with_texts(judgments, self.table)
        self._judgments += len(judgments)
        self._queries += len(judgments.queries)
        self._scale = judgments.scale.name
        return judgments

    @property
    def unresolved(self) -> tuple[str, ...]:
        """Keys that no live document has."""
        return tuple(self._unresolved)

    @property
    def figures(self) -> dict[str, Any]:
        """How much came out."""
        return {
            "counts": f"{self._judgments:,} judgments of {self._queries:,} queries, "
            f"scale {self._scale}",
            "judgments": self._judgments,
            "queries": self._queries,
            "scale": self._scale,
        }

    def say(self, output: Output) -> None:
        """Every key that no document has is said."""
        if self._unresolved:
            shown = ", ".join(map(repr, self.unresolved[:_SHOWN]))
            output.remark(
                f"{len(self._unresolved):,} keys have no live document, and their judgments are "
                f"left out: {shown}"
            )


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
