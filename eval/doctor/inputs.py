"""The settings and the files that they name: whether they can be read, and what is in them. I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from relgate.eval.catalogue import Catalogue, read_catalogue
from relgate.eval.change_file import read_change
from relgate.eval.doctor.types import Check, State, looked
from relgate.eval.golden.files import read_golden
from relgate.eval.inputs import outranked_texts, with_texts
from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import JudgmentList
from relgate.eval.project import CONFIG_NAME, Project, read_project
from relgate.eval.queries import QueryTable, golden_table, read_queries
from relgate.eval.query_ids import bare_queries, opaque_queries
from relgate.eval.wording import counted
from relgate.rubrics.errors import RelgateError

__all__ = ["Inputs", "read_inputs", "settings_check"]


@dataclass(slots=True)
class Inputs:
    """What could be read, and a check a file.

    Attributes:
        judgments: the list, with query texts where there are any; None when it cannot be had.
        catalogue: likewise.
        checks: in the order in which they were made.
    """

    judgments: JudgmentList | None = None
    catalogue: Catalogue | None = None
    checks: list[Check] = field(default_factory=list[Check])


def settings_check(config: Path | None, folder: Path) -> tuple[Project, Check]:
    """The settings, defaults where they cannot be read, and how they stand."""
    path = config or folder / CONFIG_NAME
    try:
        project = read_project(config, folder=folder)
    except RelgateError as error:
        return Project(), Check("settings", State.FAULT, str(error), exit_code=error.exit_code)
    if path.is_file():
        return project, Check("settings", State.OK, f"{path} is valid")
    return project, Check(
        "settings", State.MISSING, f"no {CONFIG_NAME} here: all is default", run="relgate init"
    )


def read_inputs(project: Project) -> Inputs:
    """Reads each file that the settings name."""
    found = Inputs()

    def one(name: str, path: Path | None, what: str, look: Callable[[Path], Check]) -> None:
        if path is None:
            found.checks.append(Check(name, State.MISSING, what))
        else:
            found.checks.append(looked(name, lambda: look(path)))

    one("judgments", project.judgments, "no judgment list is named: a review of two files alone "
        "runs fewer rules", lambda path: _list(path, project, found))  # fmt: skip
    one("catalogue", project.catalogue, "no product texts are named: no judge can fill gaps",
        lambda path: _catalogue(path, found))  # fmt: skip
    one("queries", project.queries, "no query table: no head queries, strata or weights",
        _queries)  # fmt: skip
    one("change", project.change, "no change description: give --type and --intent with a review",
        _change)  # fmt: skip
    return found


def _list(path: Path, project: Project, found: Inputs) -> Check:
    file = read_list(path, scale=project.list_scale(), source=project.source())
    if file.format == "golden":
        read_golden(path)  # a frozen version with other content is refused
    table = _queries_of(project, path)
    found.judgments = with_texts(file.judgments, table)
    judgments = found.judgments
    made = dict[str, int]()
    for origin, n in zip(judgments.origins, judgments.counts_by_origin(), strict=True):
        made[origin.source.value] = made.get(origin.source.value, 0) + n
    by = ", ".join(f"{n:,} by {source}" for source, n in sorted(made.items()) if n)
    says = (
        f"{path}: {counted(len(judgments), 'judgment')} of "
        f"{counted(len(judgments.queries), 'query', 'queries')} ({by or 'none'}), read as "
        f"{file.format}, scale {judgments.scale.name}"
    )
    odd = (
        *file.notes,
        outranked_texts(file.judgments, table),
        opaque_queries(judgments.queries),
        *bare_queries(judgments.queries),
    )
    return Check(
        "judgments", State.OK, _joined(says, odd), run=f"relgate lists check {path}" if any(odd)
        else None,
    )  # fmt: skip


def _queries_of(project: Project, judgments: Path) -> QueryTable | None:
    """Texts for the list; a table that cannot be read has a check of its own."""
    try:
        return golden_table(judgments) if project.queries is None else read_queries(project.queries)
    except RelgateError:
        return None


def _catalogue(path: Path, found: Inputs) -> Check:
    found.catalogue = catalogue = read_catalogue(path)
    says = f"{path}: {counted(len(catalogue), 'product')}, read as {catalogue.format}"
    if found.judgments is None or not len(found.judgments):
        return Check("catalogue", State.OK, says)
    judged = {row.doc_id for row in found.judgments.rows()}
    there = sum(catalogue.candidate(doc) is not None for doc in judged)
    says += f"; it has {there:,} of the {len(judged):,} judged documents"
    if not there:
        return Check("catalogue", State.FAULT, f"{says}: the ids of list and catalogue differ")
    return Check("catalogue", State.OK, says)


def _queries(path: Path) -> Check:
    table = read_queries(path)
    unknown = f"passed over: {', '.join(table.unknown)}" if table.unknown else None
    says = f"{path}: {counted(len(table.rows), 'query', 'queries')} with {', '.join(table.columns)}"
    return Check("queries", State.OK, _joined(says, [unknown]))


def _change(path: Path) -> Check:
    change = read_change(path).change
    kinds = ", ".join(change.types) or "no type"
    return Check("change", State.OK, f"{path}: {kinds}, intent {change.intent}")


def _joined(says: str, notes: Iterable[str | None]) -> str:
    return "; ".join([says, *(note for note in notes if note)])
