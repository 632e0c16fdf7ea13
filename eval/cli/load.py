"""Reads the inputs that a command names. I/O."""

from __future__ import annotations

from pathlib import Path

from relgate.eval.catalogue import Catalogue, read_catalogue
from relgate.eval.cli.common import Output
from relgate.eval.lists.read import ListFile, read_list
from relgate.eval.project import Project
from relgate.eval.queries import QueryTable, read_queries
from relgate.eval.runs.read import read_run
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import UsageError

__all__ = ["load_catalogue", "load_list", "load_queries", "load_run", "needed", "require"]


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
    """The project's judgment list, and a remark on what it was taken for."""
    found = read_list(
        needed(project, "judgments"),
        scale=project.list_scale(),
        format=list_format,
        source=project.source(),
    )
    output.remark(
        f"{found.path}: {len(found.judgments):,} judgments of "
        f"{len(found.judgments.queries):,} queries, read as {found.format}, "
        f"scale {found.judgments.scale.name}"
    )
    for note in found.notes:
        output.remark(note)
    return found


def load_run(path: Path, name: str, output: Output) -> Run:
    """A run, and a remark on what it was taken for."""
    run = read_run(path, name=name)
    failed = f", {len(run.failures)} failed" if run.failures else ""
    output.remark(f"{path}: {len(run.queries):,} queries{failed}, read as {run.format}")
    return run


def load_catalogue(project: Project, output: Output) -> Catalogue:
    """The project's catalogue."""
    catalogue = read_catalogue(needed(project, "catalogue"))
    output.remark(f"{catalogue.path}: {len(catalogue):,} products, read as {catalogue.format}")
    return catalogue


def load_queries(project: Project) -> QueryTable | None:
    """The project's query table, or None."""
    return None if project.queries is None else read_queries(project.queries)
