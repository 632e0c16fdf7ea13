"""What `relgate review` reads before a judge is opened: runs, list, change. I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from relgate.eval.change_diff import read_diff
from relgate.eval.change_file import change_types, read_change, read_mode
from relgate.eval.cli import load
from relgate.eval.cli.common import Output, commit
from relgate.eval.cli.exact_files import exact_paths, hold_against
from relgate.eval.detect.told import diff_remarks, with_diff
from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import JudgmentList, Source
from relgate.eval.project import Project
from relgate.eval.queries import QueryTable
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.supplied import ModeRuns
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import UsageError

__all__ = ["ReviewInputs", "read_inputs", "spare_review_inputs"]

Flags = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReviewInputs:
    """What a review is made of.

    Attributes:
        before: the run before the change.
        after: the run after it.
        labels: the judgment list, or None.
        table: the query table, or None.
        change: the change description with the flags on top, or None.
        people: people's labels kept aside, or None.
        warnings: what the readers had to say.
        provenance: {what: file name and hash}, never a path of this machine.
    """

    before: Run
    after: Run
    labels: JudgmentList | None
    table: QueryTable | None
    change: ChangeDescription | None
    people: JudgmentList | None
    warnings: tuple[str, ...]
    provenance: Mapping[str, str]


def spare_review_inputs(project: Project, flags: Flags, names: Iterable[str]) -> None:
    """Refuses a report that would be written over an input, and one file on both sides."""
    if project.out is not None:
        load.spare_inputs(
            [project.out / name for name in names],
            [
                *(flags[name] for name in ("before", "after", "diff", "human")),
                project.judgments, project.catalogue, project.queries, project.change,
            ],
        )  # fmt: skip
    load.two_files(flags["before"], flags["after"])


def read_inputs(output: Output, flags: Flags, project: Project) -> ReviewInputs:
    """Reads the two runs, the list, the query table and the change.

    Raises:
        InputError: one of them cannot be read.
    """
    before = load.load_run(flags["before"], "before", output, flags["run_format"])
    after = load.load_run(flags["after"], "after", output, flags["run_format"])
    change, warnings, exact = _change(project.change, flags)
    found = None
    if exact is not None:
        _only_recall(output, flags, project)
        (before, after), change = hold_against(exact, (before, after), change, project.k)
    elif project.judgments:
        found = load.load_list(project, output, flags["list_format"])
    return ReviewInputs(
        before=before,
        after=after,
        labels=found.judgments if found else None,
        table=load.load_queries(project),
        change=change,
        people=_people(output, flags, project),
        warnings=(
            *warnings,
            *(found.notes if found else ()),
            *(f"{run.name}: {note}" for run in (before, after) for note in run.notes),
        ),
        provenance=_provenance(flags, project, change),
    )


def _people(output: Output, flags: Flags, project: Project) -> JudgmentList | None:
    """People's labels kept aside."""
    if flags["human"] is None:
        return None
    found = read_list(flags["human"], scale=project.list_scale(), source=Source.HUMAN)
    output.remark(f"{found.path}: {len(found.judgments):,} labels aside, read as {found.format}")
    return found.judgments


def _only_recall(output: Output, flags: Flags, project: Project) -> None:
    """With exact neighbours the review is of recall: no list, and nothing for a judge."""
    if flags["judge"] or flags["fill"] or flags["human"]:
        raise UsageError("with --exact recall is measured; there is nothing for a judge")
    if project.judgments is not None:
        output.remark("with --exact recall is reviewed; the judgment list is not read")


def _reads_catalogue(flags: Flags, project: Project) -> bool:
    """For a judge, or for titles; then one of the settings may be absent."""
    asked = flags["judge"] or flags["fill"] or flags["catalogue"]
    return project.catalogue is not None and bool(asked or project.catalogue.exists())


def _provenance(flags: Flags, project: Project, change: ChangeDescription | None) -> dict[str, str]:
    paths = {
        "before": flags["before"],
        "after": flags["after"],
        "judgments": project.judgments,
        "catalogue": project.catalogue if _reads_catalogue(flags, project) else None,
        "queries": project.queries,
        "change": project.change,
        "diff": flags["diff"],
        "human": flags["human"],
    }
    modes = () if change is None else change.modes
    paths |= {
        f"mode {run.name}": Path(run.path)
        for mode in modes
        for run in (mode.before, mode.after)
        if run.path is not None
    }
    exact = () if change is None or change.exact is None else change.exact
    paths |= {
        f"exact neighbours {side}": Path(lists.path)
        for side, lists in zip(("before", "after"), exact, strict=False)
        if lists.path is not None
    }
    return load.stated_inputs(paths, seed=flags["seed"])


def _modes(flags: Flags) -> tuple[ModeRuns, ...]:
    """The modes that flags give.

    Raises:
        UsageError: not NAME=BEFORE,AFTER, or a name twice.
    """
    out: dict[str, ModeRuns] = {}
    for given in flags["modes"]:
        name, _, files = given.partition("=")
        before, _, after = files.partition(",")
        if not (name and before and after) or "," in after:
            raise UsageError(f"--mode {given!r}: write NAME=BEFORE,AFTER")
        if name in out:
            raise UsageError(f"--mode {name} stands twice")
        out[name] = read_mode(name, Path(before), Path(after))
    return tuple(out.values())


def _change(
    path: Path | None, flags: Flags
) -> tuple[ChangeDescription | None, tuple[str, ...], tuple[Path, Path] | None]:
    """The change, flags on top, the diff below; what there is to say; exact neighbours' files."""
    read = None if path is None else read_change(path)
    sha = flags["sha"] or commit()
    given = {
        "types": change_types(flags["types"]) or None,
        "intent": flags["intent"],
        "description": flags["description"],
        "sha": sha if read is None or read.change.sha is None or flags["sha"] else None,
        "head_queries": flags["head_queries"] or None,
        "modes": _modes(flags) or None,
    }
    given = {name: value for name, value in given.items() if value is not None}
    named = None if read is None else read.exact
    exact = exact_paths(flags["exact"]) if flags["exact"] else named
    if read is None and not given and flags["diff"] is None:
        return None, (), exact
    change = replace(ChangeDescription() if read is None else read.change, **given)
    said = () if read is None else read.warnings
    if flags["diff"] is None:
        return change, said, exact
    found = read_diff(flags["diff"])
    return with_diff(change, found), (*said, *diff_remarks(change, found)), exact
