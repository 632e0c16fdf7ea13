"""`relgate agreement`: how far raters agree, people and judges, from labels that exist."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import FILE, Output
from relgate.eval.cli.list_files import open_list, output_of, reading_options

if TYPE_CHECKING:
    from relgate.eval.agreement.people import JudgeAmongPeople
    from relgate.eval.agreement.rating_table import Cells, RatingTable
    from relgate.eval.agreement.ratings import PairAgreement, RaterAgreement, Ratings
    from relgate.eval.agreement.versus import Versus

__all__ = ["command"]

_SHOWN = 28


@click.command("agreement")
@click.argument("paths", metavar="FILE...", type=FILE, nargs=-1, required=True)
@click.option(
    "--columns",
    "patterns",
    multiple=True,
    help="A table with a column a rater: their names, * for any; repeatable.",
)
@click.option("--rater-column", help="A table with a row a grade: the column of the rater.")
@click.option("--reference", help="Compare each of --columns with this one, not all with all.")
@click.option("--by", help="A column that names groups of rows, each measured apart.")
@click.option("--judge-rater", help="Which of the raters is a judge; the others are people.")
@click.option("--grades", type=FILE, help="Recorded grades of a judge, beside a judgment list.")
@click.option("--grades-column", help="Their grade column, where the file has several.")
@click.option(
    "--rater-scale",
    "rater_scales",
    multiple=True,
    help="Scale of --columns where not --scale, e.g. 0-1; one, or one a FILE.",
)
@click.option("--cut", type=float, help="Take numbers from here on as 1, below as 0.")
@click.option("--clip", is_flag=True, help="Take grades beyond the scale as its nearest end.")
@click.option("--csv", "csv_out", type=FILE, help="Write the table of --reference as CSV.")
@click.option("--seed", type=int, default=0, help="Seed of the resampling.")
@reading_options
def command(paths: tuple[Path, ...], **flags: Any) -> None:  # noqa: ANN401 - click
    """Measure how far raters agree: people with people, judges with people, prompts with labels.

    FILE is a judgment list whose rows name their raters, or with --columns a table with a column
    a rater, or with --rater-column a table with a row a grade. Gaps are left out, never taken as
    0. Of several files only --columns with --reference makes one table.
    """
    output = output_of(flags)
    _refuse_misfits(paths, flags)
    if flags["reference"] is not None:
        _against_reference(output, paths, flags)
        return
    people, judge = (
        _of_list(output, paths[0], flags)
        if not flags["patterns"] and flags["rater_column"] is None
        else _of_table(output, paths[0], flags)
    )
    _among_raters(output, paths[0], flags, people, judge)


def _refuse_misfits(paths: Sequence[Path], flags: dict[str, Any]) -> None:
    wide, long = bool(flags["patterns"]), flags["rater_column"] is not None
    versus, table = flags["reference"] is not None, wide or long
    given = {name for name, value in flags.items() if value not in (None, False, ())}
    cut, scales = flags["cut"], len(flags["rater_scales"])
    misfits = {
        "--columns is for a column a rater, --rater-column for a row a grade": wide and long,
        "--reference needs --columns: which raters to compare with it": versus and not wide,
        "several files need --reference: their raters never met": len(paths) > 1 and not versus,
        "--grades goes with a judgment list; a table has --judge-rater": "grades" in given
        and (table or "judge_rater" in given),
        "--judge-rater is one among people; --reference compares with one": versus
        and "judge_rater" in given,
        "--csv and --by go with --reference": not versus and bool(given & {"csv_out", "by"}),
        "--cut, --clip and --rater-scale need --columns or --rater-column": not table
        and bool(given & {"cut", "clip", "rater_scales"}),
        f"--cut is {cut}; it must be a number": cut is not None and not math.isfinite(cut),
        f"{scales} --rater-scale for {len(paths)} files": scales not in (0, 1, len(paths)),
    }
    for message, misfit in misfits.items():
        if misfit:
            raise click.UsageError(message)


def _cells(flags: dict[str, Any], scale: str | None = None) -> Cells:
    from relgate.eval.agreement.rating_table import Cells  # noqa: PLC0415 - numpy
    from relgate.eval.cli.common import settings  # noqa: PLC0415

    project = settings(output_of(flags | {"quiet": True}), flags["config"], {
        "scale": scale or flags["scale"]
    })  # fmt: skip
    return Cells(project.list_scale().once_read, flags["cut"], flags["clip"])


def _against_reference(output: Output, paths: Sequence[Path], flags: dict[str, Any]) -> None:
    from relgate.eval.agreement import render_raters as render  # noqa: PLC0415 - numpy
    from relgate.eval.agreement.intervals import RESAMPLES  # noqa: PLC0415
    from relgate.eval.cli.load import spare_inputs  # noqa: PLC0415

    scales: Sequence[str | None] = flags["rater_scales"] or (None,)
    table: list[Versus] = []
    for i, path in enumerate(paths):
        cells = _cells(flags, scales[min(i, len(scales) - 1)])
        table += _versus(output, path, flags, cells)
    columns = render.versus_columns(table)
    output.table(
        f"Agreement with {flags['reference']}",
        columns,
        render.versus_rows(table),
        text_columns=range(columns.index("Rater") + 1),
    )
    notes = render.versus_notes(table)
    for note in notes[:_SHOWN]:
        output.line(f"Note: {note}")
    if len(notes) > _SHOWN:
        output.line(f"Note: {len(notes) - _SHOWN} more with --json or --csv")
    if flags["csv_out"] is not None:
        spare_inputs([flags["csv_out"]], paths)
        output.file(flags["csv_out"], render.versus_csv(table))
        output.remark(f"wrote {len(table):,} rows with intervals to {flags['csv_out']}")
    output.line(f"{sum(row.n for row in table):,} labels of {len(table):,} raters and groups")
    output.document(
        {
            "format": "relgate-agreement/1",
            "files": [str(path) for path in paths],
            "reference": flags["reference"],
            "labels": sum(row.n for row in table),
            "interval": render.interval_json(seed=flags["seed"], resamples=RESAMPLES),
            "table": [render.versus_json(row) for row in table],
        }
    )


def _versus(output: Output, path: Path, flags: dict[str, Any], cells: Cells) -> list[Versus]:
    from relgate.eval.agreement.rating_table import read_wide_ratings  # noqa: PLC0415 - numpy
    from relgate.eval.agreement.versus import Columns, versus_reference  # noqa: PLC0415

    name, own = flags["reference"], _cells(flags)
    read = read_wide_ratings(
        path, cells, patterns=flags["patterns"], others=[(name, own)], by=flags["by"]
    )
    _say_read(output, read)
    return [
        versus_reference(
            Columns(
                read.columns[name][units], grades[units], read.query[units],
                own.n_grades, cells.n_grades,
            ),
            rater=rater,
            group=group,
            seed=flags["seed"],
        )
        for group, units in read.groups().items()
        for rater, grades in read.columns.items()
        if rater != name
    ]  # fmt: skip


def _say_read(output: Output, read: RatingTable) -> None:
    output.remark(
        f"{read.path}: {len(read.doc_ids):,} pairs of {len(read.queries):,} queries, "
        f"{len(read.columns):,} raters"
    )
    if read.clipped:
        output.remark(f"{read.path}: {read.clipped:,} grades beyond the scale taken as its end")


def _of_list(output: Output, path: Path, flags: dict[str, Any]) -> tuple[Ratings, Any]:
    """The raters of a judgment list, and the recorded grades of a judge beside them, or None."""
    from relgate.eval.agreement.ratings import (  # noqa: PLC0415 - numpy
        ratings_of_votes,
        recorded_grades,
    )

    file = open_list(output, path, flags, raters="first")
    n_grades = file.judgments.scale.max_grade + 1
    ratings = ratings_of_votes(file.votes, n_grades=n_grades)
    unnamed = sum(vote.rater is None for pair in file.votes for vote in pair.votes)
    if unnamed:
        output.remark(f"{path}: {unnamed:,} grades name no rater and are left out")
    if flags["judge_rater"] is not None or flags["grades"] is None:
        return _apart(ratings, flags["judge_rater"])
    grades = open_list(
        output, flags["grades"], flags | {"grade_column": flags["grades_column"]}
    ).judgments
    return ratings, recorded_grades(ratings, file.judgments, grades)


def _of_table(output: Output, path: Path, flags: dict[str, Any]) -> tuple[Ratings, Any]:
    from relgate.eval.agreement.rating_table import (  # noqa: PLC0415 - numpy
        read_long_ratings,
        read_wide_ratings,
    )

    scales = flags["rater_scales"]
    cells = _cells(flags, scales[0] if scales else None)
    if flags["patterns"]:
        read = read_wide_ratings(path, cells, patterns=flags["patterns"])
    else:
        grade = flags["grade_column"] or "grade"
        rater = flags["rater_column"]
        read = read_long_ratings(path, cells, rater_column=rater, grade_column=grade)
    _say_read(output, read)
    ratings = read.ratings(tuple(read.columns), n_grades=cells.n_grades)
    return _apart(ratings, flags["judge_rater"])


def _apart(ratings: Ratings, judge: str | None) -> tuple[Ratings, Any]:
    """The people, and the grades of the one rater who is a judge."""
    if judge is None:
        return ratings, None
    if judge not in ratings.raters:
        known = ", ".join(ratings.raters) or "none"
        raise click.UsageError(f"no rater {judge!r}; there are: {known}")
    people = [name for name in ratings.raters if name != judge]
    return ratings.only(people), ratings.grades[:, ratings.raters.index(judge)]


def _among_raters(
    output: Output,
    path: Path,
    flags: dict[str, Any],
    people: Ratings,
    judge: Any,  # noqa: ANN401
) -> None:
    from relgate.eval.agreement import render_raters as render  # noqa: PLC0415 - numpy
    from relgate.eval.agreement.intervals import RESAMPLES  # noqa: PLC0415
    from relgate.eval.agreement.people import judge_among_people  # noqa: PLC0415
    from relgate.eval.agreement.ratings import pairwise_agreement, rater_agreement  # noqa: PLC0415

    found = rater_agreement(people, seed=flags["seed"])
    beside = None if judge is None else judge_among_people(people, judge, seed=flags["seed"])
    named = people if judge is None else people.with_rater(flags["judge_rater"] or "judge", judge)
    pairs = pairwise_agreement(named)
    _show(output, found, beside, pairs)
    output.document(
        {
            "format": "relgate-agreement/1",
            "files": [str(path)],
            "interval": render.interval_json(seed=flags["seed"], resamples=RESAMPLES),
            "people": render.raters_json(found, pairs),
            "judge": None if beside is None else render.people_json(beside),
        }
    )


def _show(
    output: Output,
    found: RaterAgreement,
    beside: JudgeAmongPeople | None,
    pairs: Sequence[PairAgreement],
) -> None:
    from relgate.eval.agreement import render_raters as render  # noqa: PLC0415 - numpy

    output.line(
        f"{found.units:,} pairs of {found.queries:,} queries graded by two raters or more of "
        f"{len(found.raters):,}"
    )
    if found.undefined is not None:
        output.line(found.undefined)
        return
    output.table(
        "All raters" if beside is None else "People",
        ["Figure", "Value", "95 % interval over queries", f"SE over {found.errors_over}"],
        render.rater_rows(found),
    )
    output.table(
        "Every two raters on the pairs that both graded",
        render.PAIR_COLUMNS,
        render.pair_rows(pairs[:_SHOWN]),
        text_columns=(0, 1),
    )
    if len(pairs) > _SHOWN:
        output.line(f"{len(pairs) - _SHOWN} more with --json")
    if beside is not None:
        output.table(
            f"The judge as one more rater, {beside.units:,} pairs of {beside.queries:,} queries",
            ["Figure", "Value", "95 % interval over queries"],
            render.people_rows(beside),
        )
        output.line(beside.undefined or _worse(beside))


def _worse(beside: JudgeAmongPeople) -> str:
    """What the difference says."""
    over = beside.figures["over_people"]
    if over.low is None or over.high is None:
        return "Not told from people: no interval (it takes two queries or more)"
    if over.high < 0:
        return "The judge agrees with people less than people with each other"
    if over.low > 0:
        return "The judge agrees with people more than people with each other"
    return "The judge agrees with people about as far as people with each other, within the noise"
