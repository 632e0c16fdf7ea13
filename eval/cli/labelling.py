"""Runs a labelling: what is graded, the file it is kept in, the site. I/O."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from relgate.eval.catalogue import Catalogue
from relgate.eval.cli import load
from relgate.eval.cli.common import Output, now, settings
from relgate.eval.cli.label_files import list_format, write_labels
from relgate.eval.cli.local_page import host_site, images_of
from relgate.eval.cli.pooling import open_pool
from relgate.eval.label.answers import KIND, AnswerFile, Head
from relgate.eval.label.app import OWNER, RATER, LabelSite
from relgate.eval.label.board import Board, dual_sample
from relgate.eval.label.desk import Desk, rater_name
from relgate.eval.label.gather import Gathered, gather, judge_grades, judged_rows
from relgate.eval.label.types import JudgeGrade, Task, tasks_key
from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import JudgmentList
from relgate.eval.project import Project
from relgate.eval.query_ids import bare_queries
from relgate.eval.sampling.draw import draw_sample
from relgate.eval.sampling.read import read_sheet
from relgate.eval.sampling.sheet import SheetRow
from relgate.eval.sampling.side import sample_rows
from relgate.eval.web.images import Images
from relgate.eval.web.pages import Pages
from relgate.eval.web.site import site
from relgate.rubrics import Rubric, load_rubric
from relgate.rubrics.errors import UsageError

__all__ = ["run_labelling"]

_SETTINGS = ("judgments", "scale", "catalogue", "queries", "rubric")
_FROM_RUNS = ("depth", "budget")


def run_labelling(output: Output, flags: Mapping[str, Any]) -> None:
    """Serves the page until Ctrl-C.

    Raises:
        UsageError: not one source of pairs, nothing to grade, or another process serves the file.
        InputError: any fault of an input; answers on other pairs in the file.
    """
    _refuse_misfits(flags)
    project = settings(output, flags["config"], {name: flags[name] for name in _SETTINGS})
    kept_in = _answers_path(flags)
    if flags["out"] is not None:
        list_format(flags["out"])
        _spare_inputs(flags, project, kept_in)
    rubric = load_rubric(project.rubric)
    images = images_of(flags)
    judged_in = flags["review"] or flags["judge_grades"]
    judged = None if judged_in is None else _list(output, project, judged_in)
    tasks = _tasks(output, project, flags, images, judged)
    judge = {} if judged is None else _judge(output, rubric, judged, tasks)
    third = None if flags["third"] is None else rater_name(flags["third"])
    board = Board(tasks, dual=dual_sample(tasks, flags["dual"], seed=flags["seed"]), third=third)
    head = Head(KIND, tasks_key(tasks), len(tasks), rubric.version, rubric.max_grade)
    with AnswerFile(kept_in, head) as file:
        _say_begun(output, board, file)
        desk = Desk(
            board,
            file,
            rubric,
            judge=judge,
            now=lambda: now().isoformat(timespec="seconds"),
            running=time.monotonic,
        )
        _serve(output, flags, desk, images)
    if flags["out"] is not None and board.raters:
        write_labels(output, kept_in, flags["out"], scale=flags["scale"])


def _refuse_misfits(flags: Mapping[str, Any]) -> None:
    given = [name for name in ("sheets", "runs", "review") if flags[name]]
    if len(given) != 1:
        raise UsageError("name what to grade: --sheet, --run or --review, one of the three")
    stray = [name for name in _FROM_RUNS if flags[name] is not None]
    if flags["review"] is not None and flags["judge_grades"] is not None:
        raise UsageError("--review has the judge's grades already; leave out --judge-grades")
    if stray and given != ["runs"]:
        raise UsageError(f"--{stray[0]} goes with --run")
    if flags["third"] is not None and rater_name(flags["third"]) is None:
        raise UsageError(f"--third {flags['third']!r} is no name")


def _spare_inputs(flags: Mapping[str, Any], project: Project, kept_in: Path) -> None:
    inputs = [
        *flags["sheets"], *flags["runs"], flags["review"], flags["judge_grades"],
        project.judgments, project.catalogue, project.queries,
    ]  # fmt: skip
    load.spare_inputs([flags["out"]], inputs)
    if flags["out"].resolve() == kept_in.resolve():
        raise UsageError(f"{kept_in} holds the answers; name another --out")


def _answers_path(flags: Mapping[str, Any]) -> Path:
    if flags["answers"] is not None:
        return Path(flags["answers"])
    if len(flags["sheets"]) == 1:
        return Path(flags["sheets"][0]).with_suffix(".answers.jsonl")
    raise UsageError("--answers is missing: where the answers are kept, say labels.answers.jsonl")


def _tasks(
    output: Output,
    project: Project,
    flags: Mapping[str, Any],
    images: Images,
    judged: JudgmentList | None,
) -> tuple[Task, ...]:
    needed = not flags["sheets"]  # a sheet holds texts itself
    catalogue = (
        load.load_catalogue(project, output) if needed or project.catalogue is not None else None
    )
    rows = _rows(output, project, flags, catalogue, judged)
    table = load.load_queries(project)
    found = gather(rows, catalogue=catalogue, table=table, image_address=images.address)
    _say_gathered(output, found)
    if not found.tasks:
        raise UsageError(f"nothing to grade: {found.no_text:,} pairs have no text to show")
    return found.tasks


def _rows(
    output: Output,
    project: Project,
    flags: Mapping[str, Any],
    catalogue: Catalogue | None,
    judged: JudgmentList | None,
) -> Sequence[SheetRow]:
    if flags["review"] is not None and judged is not None:
        reviewed = judged_rows(judged)
        if not reviewed:
            raise UsageError(f"{flags['review']}: no judge graded any pair of it")
        return reviewed
    if flags["runs"] and catalogue is not None:
        return _pool_rows(output, project, flags, catalogue)
    rows: list[SheetRow] = []
    for path in flags["sheets"]:
        sheet = read_sheet(path)
        done = f", {sheet.graded:,} graded on it already, left out" if sheet.graded else ""
        output.remark(f"{path}: {len(sheet.rows):,} pairs{done}")
        rows += sheet.rows
    return rows


def _pool_rows(
    output: Output, project: Project, flags: Mapping[str, Any], catalogue: Catalogue
) -> list[SheetRow]:
    asked = {**flags, "run_format": None, "list_format": None, "known": ()}
    pool = open_pool(output, project, catalogue, asked)
    sample = draw_sample(pool.pairs, budget=flags["budget"], seed=flags["seed"])
    return sample_rows(sample, catalogue.candidate)


def _list(output: Output, project: Project, path: Path) -> JudgmentList:
    found = read_list(path, scale=project.list_scale())
    output.remark(f"{path}: {len(found.judgments):,} judgments, read as {found.format}")
    return found.judgments


def _judge(
    output: Output, rubric: Rubric, judged: JudgmentList, tasks: Sequence[Task]
) -> dict[tuple[str, str], JudgeGrade]:
    if judged.scale.max_grade != rubric.max_grade:
        raise UsageError(
            f"rubric {rubric.tag} grades 0 to {rubric.max_grade}, and the judge's list is on scale "
            f"{judged.scale.name}; name another --rubric or --scale"
        )
    found = judge_grades(judged, tasks)
    output.remark(f"a judge graded {len(found):,} of the {len(tasks):,} pairs")
    return found


def _say_gathered(output: Output, found: Gathered) -> None:
    held_back = (
        f"of {found.images:,} images are not shown: the page loads none from other machines; "
        "--images serves a folder, --image-host allows a host"
    )
    changed = "pairs have another text in the catalogue than on the sheet; today's is shown"
    for n, what in (
        (found.no_text, "pairs have no text to show and are left out"),
        (found.changed, changed),
        (found.images_held_back, held_back),
    ):
        if n:
            output.remark(f"{n:,} {what}")
    for line in bare_queries((task.query for task in found.tasks), "people see"):
        output.remark(line)


def _say_begun(output: Output, board: Board, file: AnswerFile) -> None:
    kept = file.kept
    if kept.torn:
        output.remark(
            f"{file.path}: a last line was cut short ({kept.torn} bytes) and is removed; it was "
            "never acknowledged to anybody"
        )
    output.remark(f"{len(board.tasks):,} pairs to grade; answers are kept in {file.path}")
    if kept.answers:
        output.remark(f"goes on after {len(kept.answers):,} answers")


def _serve(output: Output, flags: Mapping[str, Any], desk: Desk, images: Images) -> None:
    pages = Pages("relgate.eval.label")
    routes = LabelSite(desk, pages, flags["language"]).routes

    def kept() -> str:
        done = desk.board.progress()
        return f"stopped; {done.graded:,} of {done.pairs:,} pairs are graded, all answers are kept"

    host_site(
        output,
        flags,
        lambda access, door: site(routes, pages=pages, access=access, door=door, images=images),
        roles=(RATER, OWNER),
        opens=OWNER,
        kept=kept,
    )
