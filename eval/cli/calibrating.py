"""What `relgate calibrate` does step by step: read, ask, measure, compare. I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from relgate.eval.agreement.calibrate import Terms, calibrate_pairs
from relgate.eval.agreement.calibration import Calibration
from relgate.eval.agreement.comparing import Comparison, Entry, compare_judges
from relgate.eval.agreement.groups import GroupsOf, no_groups
from relgate.eval.agreement.people import Votes, votes_in
from relgate.eval.agreement.policy_file import read_policy
from relgate.eval.agreement.split import Hygiene
from relgate.eval.calibrating import (
    ask_judge,
    groups_in,
    measuring_labels,
    plan_labels,
    read_tuning,
    recorded_entry,
)
from relgate.eval.catalogue import Catalogue
from relgate.eval.cli.common import Output, progress
from relgate.eval.cli.load import (
    load_catalogue,
    load_judge,
    load_queries,
    require,
    texts_of_table,
    two_columns,
    writable,
)
from relgate.eval.cli.show import plan_lines
from relgate.eval.gaps.plan import plan_document
from relgate.eval.lists.raters import Raters
from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import JudgmentList, Query, Source
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project
from relgate.eval.queries import QueryTable, read_queries
from relgate.rubrics.errors import InputError, PlatformError

__all__ = ["Job", "Measured", "Wanted", "compared", "measure", "prepare", "show_plans", "wanted"]

_BASELINE = "baseline"


@dataclass(frozen=True, slots=True)
class Recorded:
    """Grades that a judge once gave: a file, and its column where it has several."""

    path: Path
    column: str | None

    @property
    def name(self) -> str:
        """How a comparison calls it."""
        return self.column if self.column is not None else self.path.name


@dataclass(frozen=True, slots=True)
class Wanted:
    """The judges that a command names.

    Attributes:
        asked: judges to ask now, with their declared family.
        recorded: judges by their recorded grades.
    """

    asked: tuple[tuple[str, str | None], ...]
    recorded: tuple[Recorded, ...]

    @property
    def several(self) -> bool:
        """More than one: a comparison."""
        return len(self.asked) + len(self.recorded) > 1


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that measuring takes.

    Attributes:
        output: where remarks go.
        project: settings.
        wanted: the judges.
        labels: all labels.
        votes: who gave which grade, of pairs that several raters graded.
        catalogue: texts, where given.
        tuning: queries declared as used for tuning.
        split: leave out the labels of the tuning part.
        groups_of: strata and locales.
        seed: of the resampling.
        min_labels: refuse fewer.
    """

    output: Output
    project: Project
    wanted: Wanted
    labels: JudgmentList
    votes: Votes
    catalogue: Catalogue | None
    tuning: tuple[Query, ...]
    split: bool
    groups_of: GroupsOf
    seed: int
    min_labels: int


@dataclass(frozen=True, slots=True)
class Measured:
    """One judge's grades, and what was kept apart from the labels for it."""

    entry: Entry
    hygiene: Hygiene


def wanted(project: Project, flags: dict[str, Any]) -> Wanted:
    """The judges that the flags name; the project's judge where they name none.

    Raises:
        UsageError: no judge at all, one named twice, columns or families that fit no file or judge.
    """
    names: tuple[str, ...] = flags["judges"]
    if not names and not flags["grades"]:
        if project.judge is None:
            raise click.UsageError(
                "no judge: give --judge or --grades, or set judge in relgate.toml"
            )
        names = (project.judge,)
    families = flags["families"] or (project.judge_family,)
    if len(families) not in {1, len(names)}:
        raise click.UsageError("give --judge-family once, or once for each --judge")
    if len(families) == 1:
        families *= len(names)
    found = Wanted(
        tuple(zip(names, families, strict=True)), _recorded(flags["grades"], flags["columns"])
    )
    called = [*names, *(r.name for r in found.recorded)]
    twice = sorted({name for name in called if called.count(name) > 1})
    if twice:
        raise click.UsageError(f"named twice: {', '.join(twice)}")
    return found


def _recorded(files: Sequence[Path], columns: Sequence[str]) -> tuple[Recorded, ...]:
    if columns and not files:
        raise click.UsageError("--grades-column without --grades")
    if len(files) == 1 and columns:
        return tuple(Recorded(files[0], column) for column in columns)
    if not columns:
        return tuple(Recorded(path, None) for path in files)
    if len(columns) == len(files):
        return tuple(map(Recorded, files, columns))
    raise click.UsageError("give --grades-column for one file, or once for each --grades")


def prepare(output: Output, project: Project, flags: dict[str, Any], judges: Wanted) -> Job:
    """Reads labels, texts and what the queries are."""
    labels, votes = _labels(output, project, flags)
    for grades in judges.recorded:
        own = flags["human"] or project.judgments
        two_columns(own, flags["human_column"], grades.path, grades.column)
    table = load_queries(project)
    catalogue = (
        load_catalogue(project, output) if judges.asked or project.catalogue is not None else None
    )
    tuning = tuple(read_tuning(project.tuning, project.list_scale()))
    if judges.asked and not flags["dry_run"]:
        for folder in (project.certificates, flags["out"]):
            if folder is not None:
                writable(folder)
    few_shot = project.few_shot > 0 and any(name != _BASELINE for name, _ in judges.asked)
    return Job(
        output=output,
        project=project,
        wanted=judges,
        labels=labels,
        votes=votes,
        catalogue=catalogue,
        tuning=tuning,
        split=flags["split"] or few_shot,
        groups_of=_groups(table, flags["human"] or project.judgments),
        seed=flags["seed"],
        min_labels=flags["min_labels"],
    )


def _labels(output: Output, project: Project, flags: dict[str, Any]) -> tuple[JudgmentList, Votes]:
    stated = flags["human_source"] or ("human" if flags["human"] else project.judgments_source)
    found = read_list(
        require(flags["human"] or project.judgments, "--human"),
        scale=project.list_scale(),
        source=None if stated is None else Source(stated),
        grade_column=flags["human_column"],
        raters=Raters(flags["raters"]),
    )
    output.remark(f"{found.path}: {len(found.judgments):,} labels, read as {found.format}")
    votes = votes_in(found.votes)
    return texts_of_table(project, output, found.judgments), votes


def _groups(table: QueryTable | None, human: Path | None) -> GroupsOf:
    """By the query table; without one by the label file, where it has such columns itself."""
    if table is None and human is not None:
        try:
            table = read_queries(human)
        except InputError:  # a format without such columns
            return no_groups
    if table is None or not {"stratum", "locale"} & set(table.columns):
        return no_groups
    return groups_in(table)


def _opened(job: Job, name: str, family: str | None, *, plan_only: bool = False) -> OpenedJudge:
    project = job.project.model_copy(update={"judge": name, "judge_family": family})
    opened = load_judge(
        project,
        job.output,
        labels=job.labels,
        catalogue=job.catalogue,
        out_of_fold=True,
        plan_only=plan_only,
    )
    for note in opened.notes:
        job.output.remark(note)
    return opened


def show_plans(job: Job) -> None:
    """What each judge would be asked and what it would cost."""
    documents: list[dict[str, Any]] = []
    for name, family in job.wanted.asked:
        opened = _opened(job, name, family, plan_only=True)
        labels, _ = measuring_labels(job.labels, [opened], job.tuning, split=job.split)
        plan = plan_labels(labels, opened, _catalogue(job))
        head = f"{name}: " if job.wanted.several else ""
        for line in plan_lines(plan):
            job.output.line(head + line)
        documents.append({"judge": name, **plan_document(plan)})
    job.output.document({"judges": documents} if job.wanted.several else documents[0])


def _catalogue(job: Job) -> Catalogue:
    assert job.catalogue is not None  # noqa: S101 - `prepare` reads it for judges that are asked
    return job.catalogue


def measure(job: Job) -> list[Measured]:
    """Each judge's grades of the labels, in the order named; the asked ones first."""
    found: list[Measured] = []
    rest = job
    for name, family in job.wanted.asked:
        opened = _opened(rest, name, family)
        found.append(_ask(rest, opened))
        rest = _with_what_is_left(rest, opened)
    found += [_read(job, grades) for grades in job.wanted.recorded]
    return found


def _with_what_is_left(job: Job, opened: OpenedJudge) -> Job:
    """The job with the budgets less what a judge spent: they are of the whole command."""
    project = job.project
    left = {
        "max_calls": _less(project.max_calls, opened.calls),
        "max_cost": _less(project.max_cost, opened.cost_usd),
    }
    return replace(job, project=project.model_copy(update=left))


def _less(budget: Any, spent: Any) -> Any:  # noqa: ANN401 - counts or dollars
    return budget if budget is None or spent is None else max(0, budget - spent)


def _ask(job: Job, opened: OpenedJudge) -> Measured:
    labels, hygiene = measuring_labels(job.labels, [opened], job.tuning, split=job.split)
    entry = ask_judge(
        opened,
        labels,
        _catalogue(job),
        min_labels=job.min_labels,
        on_progress=progress(job.output, "graded", opened.spent),
    )
    for remark in opened.remarks:
        job.output.remark(remark)
    if not entry.pairs.graded.any():  # an outage is no evidence, and must not replace a certificate
        raise PlatformError(
            f"none of the {len(entry.pairs)} pairs got a grade of {opened.name}, so there is "
            "nothing to measure; mend the judge's calls and run again"
        )
    return Measured(entry, hygiene)


def _read(job: Job, grades: Recorded) -> Measured:
    found = read_list(
        grades.path,
        scale=job.project.list_scale(),
        source=Source.JUDGE,
        grade_column=grades.column,
    )
    job.output.remark(f"{found.path}: {len(found.judgments):,} grades, read as {found.format}")
    labels, hygiene = measuring_labels(job.labels, [], job.tuning, split=job.split)
    entry = recorded_entry(grades.name, labels, found.judgments, min_labels=job.min_labels)
    return Measured(entry, hygiene)


def calibrated(job: Job, measured: Measured) -> Calibration:
    """The calibration of one judge, on the project's terms."""
    return calibrate_pairs(
        measured.entry.pairs,
        scale=job.labels.scale,
        terms=Terms(
            floor=job.project.floor,
            policy=read_policy(job.project.policy),
            seed=job.seed,
            groups_of=job.groups_of,
            text_of=_texts(job.catalogue),
            hygiene=measured.hygiene,
            votes=job.votes,
        ),
        judge=measured.entry.identity,
    )


def _texts(catalogue: Catalogue | None) -> Callable[[str], str | None]:
    def text_of(doc_id: str) -> str | None:
        candidate = None if catalogue is None else catalogue.candidate(doc_id)
        return None if candidate is None else candidate.text

    return text_of


def compared(job: Job, measured: Sequence[Measured]) -> Comparison:
    """The judges side by side, with the baseline where it can be trained."""
    entries = [one.entry for one in measured]
    return compare_judges(
        [*entries, *_baseline(job, entries)],
        scale=job.labels.scale,
        floor=job.project.floor,
        seed=job.seed,
        resamples=Terms().resamples,
    )


def _baseline(job: Job, entries: Sequence[Entry]) -> Iterator[Entry]:
    """The bar that a model must beat; a remark says why it is not there."""
    if any(entry.kind == _BASELINE for entry in entries):
        return
    if job.catalogue is None:
        job.output.remark("the baseline judge is no row: it learns from texts; give --catalogue")
        return
    try:
        yield _ask(job, _opened(job, _BASELINE, None)).entry
    except InputError as error:
        job.output.remark(f"the baseline judge is no row: {error.what}")
