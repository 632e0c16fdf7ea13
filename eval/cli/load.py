"""Reads the inputs that a command names, opens its judge, spares its inputs. I/O."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relgate.eval.cli.common import Output
from relgate.eval.cli.failures import Failures
from relgate.eval.files import inside
from relgate.eval.inputs import outranked_texts, with_texts
from relgate.eval.lists.grades_used import no_zero, two_grades
from relgate.eval.lists.read import ListFile, read_list
from relgate.eval.lists.summary import ListSummary
from relgate.eval.lists.types import JudgmentList, Query
from relgate.eval.project import Project
from relgate.eval.queries import QueryTable, golden_table, read_queries
from relgate.eval.query_ids import bare_queries, opaque_queries, without_texts_elsewhere
from relgate.eval.runs.read import read_run
from relgate.eval.runs.types import Run
from relgate.eval.wording import counted, named
from relgate.rubrics.errors import PlatformError, UsageError

if TYPE_CHECKING:
    from relgate.eval.batch.desk import BatchDesk
    from relgate.eval.catalogue import Catalogue
    from relgate.eval.opened_judge import OpenedJudge

__all__ = [
    "hold_honest",
    "load_catalogue",
    "load_judge",
    "load_list",
    "load_queries",
    "load_run",
    "needed",
    "require",
    "say_bare_queries",
    "say_list",
    "say_run",
    "spare_inputs",
    "stated_inputs",
    "texts_of_table",
    "two_columns",
    "two_files",
    "writable",
]


def require(path: Path | None, flag: str) -> Path:
    """The path. Raises UsageError that names the flag when there is none."""
    if path is None:
        raise UsageError(f"{flag} is missing; give it, or set it in relgate.toml")
    return path


def needed(project: Project, name: str) -> Path:
    """A path of the project. Raises UsageError that names its flag when it is not set."""
    value: Path | None = getattr(project, name)
    return require(value, f"--{name}")


def load_list(project: Project, output: Output, list_format: str | None = None) -> ListFile:
    """The project's judgment list with its query texts, and a remark on what it was taken for."""
    found = read_list(
        needed(project, "judgments"),
        scale=project.list_scale(),
        format=list_format,
        source=project.source(),
    )
    if found.format == "golden":
        from relgate.eval.golden.files import read_golden  # noqa: PLC0415 - pydantic's models

        read_golden(found.path)  # a frozen version with other content is refused
    notes = say_list(output, found.path, ListSummary.of(found), found.notes)
    judgments = texts_of_table(project, output, found.judgments)
    return replace(found, judgments=judgments, notes=notes)


def texts_of_table(project: Project, output: Output, judgments: JudgmentList) -> JudgmentList:
    """The list with the texts of the query table, and a remark where these are other texts."""
    table = load_queries(project)
    outranked = outranked_texts(judgments, table)
    if outranked is not None:
        output.remark(outranked)
    return with_texts(judgments, table)


def say_bare_queries(output: Output, queries: Iterable[Query]) -> None:
    """Remarks on queries that a judge is asked about by their ids, for want of a text."""
    known = list(queries)
    for line in (opaque_queries(known), *bare_queries(known)):
        if line is not None:
            output.remark(line)


def say_list(
    output: Output, path: str | Path, found: ListSummary, notes: Sequence[str]
) -> tuple[str, ...]:
    """Remarks on what a list was taken for and what is odd in it, which is returned."""
    output.remark(
        f"{path}: {counted(found.judgments, 'judgment')} of "
        f"{counted(found.queries, 'query', 'queries')}, read as {found.format}, "
        f"scale {found.grades.scale.name}"
    )
    odd = (no_zero(found.grades), two_grades(found.grades))
    said = (*notes, *(f"{path}: {line}" for line in odd if line is not None))
    for note in said:
        output.remark(note)
    if found.unlabelled:
        output.remark(f"{path}: {counted(found.unlabelled, 'row')} without a grade passed over")
    return said


def load_run(path: Path, name: str, output: Output, run_format: str | None = None) -> Run:
    """A run, and a remark on what it was taken for."""
    run = read_run(path, name=name, format=run_format)
    say_run(
        output,
        path,
        run.format,
        queries=len(run.queries),
        failures=len(run.failures),
        notes=(*run.notes, *_repeats(run)),
    )
    return run


def _repeats(run: Run) -> tuple[str, ...]:
    """A note on queries that returned a document twice: each counts once."""
    if run.ranking.distinct:
        return ()
    found = [
        query.shown
        for query, docs in zip(run.queries, run.docs, strict=True)
        if docs is not None and len(set(docs)) < len(docs)
    ]
    if not found:
        return ()
    queries = counted(len(found), "query returns", "queries return")
    return (f"{queries} a document twice or more, which counts once: {named(found)}",)


def say_run(
    output: Output,
    path: Path,
    taken_for: str,
    *,
    queries: int,
    failures: int = 0,
    notes: Sequence[str] = (),
) -> None:
    """Remarks on what a run was taken for and what is odd in it."""
    failed = f", {failures} failed" if failures else ""
    output.remark(f"{path}: {counted(queries, 'query', 'queries')}{failed}, read as {taken_for}")
    for note in notes:
        output.remark(f"{path}: {note}")


def load_catalogue(project: Project, output: Output) -> Catalogue:
    """The project's catalogue."""
    from relgate.eval.catalogue import read_catalogue  # noqa: PLC0415 - most commands need none

    catalogue = read_catalogue(needed(project, "catalogue"))
    output.remark(f"{catalogue.path}: {len(catalogue):,} products, read as {catalogue.format}")
    if not catalogue.has_titles:
        output.remark(
            f"{catalogue.path}: no product has a title (`title`, `name`, `product_title`) or a "
            "`text`: a judge sees what else there is"
        )
    return catalogue


def stated_inputs(paths: Mapping[str, Path | None], *, seed: int) -> dict[str, str]:
    """What a report is made of: names and hashes of files, never a path of this machine."""
    from importlib import metadata  # noqa: PLC0415 - 17 ms, for reports alone

    found = {
        what: f"{path.name}, sha256 {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"
        for what, path in paths.items()
        if path is not None and path.is_file()  # a file that is not there is its reader's to name
    }
    return {**found, "relgate": metadata.version("relgate"), "seed": str(seed)}


def load_queries(project: Project) -> QueryTable | None:
    """The project's query table: the one that is named, else the golden set's own, else None."""
    if project.queries is not None:
        return read_queries(project.queries)
    return None if project.judgments is None else golden_table(project.judgments)


def load_judge(
    project: Project,
    output: Output,
    *,
    labels: JudgmentList | None,
    catalogue: Catalogue | None,
    elsewhere: Iterable[Query] = (),
    out_of_fold: bool = False,
    models: Iterable[str] | None = None,
    overrides: Iterable[str] = (),
    plan_only: bool = False,
    desk: BatchDesk | None = None,
) -> OpenedJudge:
    """The project's judge; its cache is closed when the command ends.

    Args:
        project: names the judge.
        output: told of batches that failed.
        labels: what the baseline learns from, and few-shot examples come from.
        catalogue: the texts of `labels`.
        elsewhere: queries of the runs, which may have the texts that the list lacks.
        out_of_fold: for a calibration.
        models: the pipeline's models; the project's own by default.
        overrides: honesty rules overridden by name.
        plan_only: it will not be asked, so no key is needed.
        desk: for a judge that is asked through its provider's batches.

    Raises:
        HonestyError: the judge's name tells that it is of the pipeline's family.
    """
    # Most commands open no judge, and this is most of what there is to load.
    from relgate.eval.judge_honesty import check_named_family  # noqa: PLC0415
    from relgate.eval.judges import open_judge  # noqa: PLC0415

    if project.judge is None:
        raise UsageError("no judge: give --judge, or set judge in relgate.toml")
    if labels is not None:
        say_bare_queries(output, without_texts_elsewhere(labels.queries, elsewhere))
    check_named_family(
        project.judge, project, project.system_models if models is None else models, overrides
    )
    failures = Failures(output.remark)
    opened = open_judge(
        project.judge,
        project,
        labels=labels,
        candidate_of=None if catalogue is None else catalogue.candidate,
        out_of_fold=out_of_fold,
        plan_only=plan_only,
        on_error=failures.tell if desk is None else None,  # what waits is no failure
        desk=desk,
    )
    context = click.get_current_context()
    context.call_on_close(failures.close)
    context.call_on_close(opened.close)  # first: what is under way may fail yet
    return opened


def hold_honest(
    opened: OpenedJudge, project: Project, output: Output, overrides: Iterable[str]
) -> None:
    """Refuses a judge of the pipeline's family or ranking; remarks on rules overridden by name.

    Raises:
        HonestyError: exit code 5.
    """
    from relgate.eval.judge_honesty import check_opened  # noqa: PLC0415

    for sentence in check_opened(
        opened,
        system_models=project.system_models,
        ranker_judges=project.ranker_judges,
        overrides=overrides,
    ):
        output.remark(sentence)


def two_files(before: Path, after: Path) -> None:
    """Refuses one file on both sides: it would pass as a change that changes nothing.

    Raises:
        UsageError: they are the same file.
    """
    if before.exists() and after.exists() and before.samefile(after):
        raise UsageError("--before and --after are the same file")


def writable(folder: Path, names: Iterable[str] = ()) -> None:
    """Looks whether a report's folder can be made and written, before anything is paid for.

    Args:
        folder: the folder.
        names: the files that will be written there.

    Raises:
        PlatformError: it cannot, or a file there is a link that leads out of it.
    """
    for name in names:
        inside(folder, name)
    there = next(
        place for place in (folder.absolute(), *folder.absolute().parents) if place.exists()
    )
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise PlatformError(f"{folder} cannot be written: look at {there}, or name another --out")


def spare_inputs(outputs: Iterable[Path], inputs: Iterable[Path | None]) -> None:
    """Refuses to write over an input.

    Raises:
        UsageError: one of `outputs` is one of `inputs`.
    """
    there = [path for path in inputs if path is not None and path.exists()]
    for out in outputs:
        if out.exists() and any(out.samefile(path) for path in there):
            raise UsageError(f"{out} would be written over, and it is an input; name another --out")


def two_columns(
    human: Path | None, human_column: str | None, grades: Path, grades_column: str | None
) -> None:
    """Refuses labels against themselves: they agree perfectly.

    Raises:
        UsageError: one file on both sides, and not two columns of it by name.
    """
    if human is None or not human.exists() or not grades.exists() or not human.samefile(grades):
        return
    if human_column is None or grades_column is None or human_column == grades_column:
        raise UsageError(
            "--human and --grades are the same file; name two columns of it, --human-column and "
            "--grades-column"
        )
