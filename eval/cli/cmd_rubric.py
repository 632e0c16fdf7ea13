"""`relgate rubric`: what the grades mean. I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from relgate.eval.cli.common import FILE, Output, output_options
from relgate.rubrics import (
    Label,
    Problem,
    Rubric,
    RubricDiff,
    RubricSource,
    builtin_names,
    diff_rubrics,
    find_rubric,
    lint_rubric,
    load_rubric,
    rubric_files,
)
from relgate.rubrics.errors import InputError
from relgate.rubrics.rubric import PROJECT_FOLDER

__all__ = ["command"]

_folder_option = click.option(
    "--dir", "folder", type=FILE, help="The project's rubrics; rubrics/ by default, if there."
)


@click.group("rubric")
def command() -> None:
    """Look at what the grades mean; NAME is a built-in tag, a file, or a tag of the project's."""


@command.command("list")
@_folder_option
@output_options
def list_(folder: Path | None, **flags: Any) -> None:  # noqa: ANN401 - click
    """The built-in rubrics, and the project's own."""
    output = _output(flags)
    rows = [_listed(source) for source in _all(folder)]
    output.table(
        "",
        ["Rubric", "Labels", "Floor", "Where", "State"],
        [
            [
                x["version"] or "-",
                " ".join(x["labels"]) or "-",
                "-" if x["floor"] is None else str(x["floor"]),
                x["where"],
                x["state"],
            ]
            for x in rows
        ],
        text_columns=(0, 1, 3, 4),
    )
    output.document({"rubrics": rows})


@command.command("show")
@click.argument("name", default="esci-v1")
@_folder_option
@output_options
def show(name: str, folder: Path | None, **flags: Any) -> None:  # noqa: ANN401 - click
    """A rubric's version, labels, system text and examples.

    The examples are for people who grade by hand; a judge is sent the system text alone.
    """
    output = _output(flags)
    rubric = load_rubric(name, folder=folder)
    output.line(f"{rubric.version}  (sha256 {rubric.sha256})")
    output.table(
        "",
        ["Label", "Name", "Grade", "Relevant"],
        [
            [x.code, x.name, str(x.grade), "yes" if x.grade >= rubric.floor else "no"]
            for x in rubric.labels
        ],
        text_columns=(0, 1, 3),
    )
    for line in rubric.system.splitlines():
        output.line(line)
    for label in rubric.labels:
        _show_examples(output, label)
    output.document(
        {
            "version": rubric.version,
            "sha256": rubric.sha256,
            "floor": rubric.floor,
            "label_field": rubric.label_field,
            "label_noun": rubric.label_noun,
            "candidate_noun": rubric.candidate_noun,
            "labels": [asdict(x) for x in rubric.labels],
            "system": rubric.system,
        }
    )


@command.command("hash")
@click.argument("name", default="esci-v1")
@_folder_option
@output_options
def hash_(name: str, folder: Path | None, **flags: Any) -> None:  # noqa: ANN401 - click
    """A rubric's version: its tag and the hash of its system text."""
    output = _output(flags)
    rubric = load_rubric(name, folder=folder)
    output.line(rubric.version)
    output.document({"version": rubric.version, "sha256": rubric.sha256})


@command.command("lint")
@click.argument("names", nargs=-1)
@_folder_option
@output_options
def lint(names: tuple[str, ...], folder: Path | None, **flags: Any) -> int:  # noqa: ANN401 - click
    """Find what is wrong with rubrics; all that `list` shows when no NAME is given.

    Exit code 1 when there is an error, 0 with warnings only.
    """
    output = _output(flags)
    sources = [find_rubric(name, folder=folder) for name in names] or _all(folder)
    reports = [(source.place, _problems(source)) for source in sources]
    for place, problems in reports:
        for problem in problems:
            output.line(f"{place}: {problem.severity}: {problem.message}; {problem.mend}")
        if not problems:
            output.line(f"{place}: clean")
    output.document(
        {"rubrics": [{"where": w, "problems": [asdict(x) for x in found]} for w, found in reports]}
    )
    return int(any(x.severity == "error" for _, found in reports for x in found))


@command.command("diff")
@click.argument("before")
@click.argument("after")
@_folder_option
@output_options
def diff(before: str, after: str, folder: Path | None, **flags: Any) -> None:  # noqa: ANN401 - click
    """What changed from BEFORE to AFTER, and whether paid grades and certificates still fit."""
    output = _output(flags)
    found = diff_rubrics(load_rubric(before, folder=folder), load_rubric(after, folder=folder))
    for line in _diff_lines(found):
        output.line(line)
    output.document(
        {
            **asdict(found),
            "version_changes": found.version_changes,
            "grades_kept": found.grades_kept,
            "consequence": _consequence(found),
        }
    )


def _output(flags: dict[str, Any]) -> Output:
    return Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])


def _all(folder: Path | None) -> list[RubricSource]:
    """The built-in rubrics, then the files of `folder`, or of `rubrics/` where it exists."""
    place = folder if folder is not None else Path(PROJECT_FOLDER)
    files: Sequence[Path] = rubric_files(place) if folder is not None or place.is_dir() else ()
    return [find_rubric(name) for name in builtin_names()] + [find_rubric(file) for file in files]


def _problems(source: RubricSource) -> tuple[Problem, ...]:
    try:
        rubric = source.parse()
    except InputError as error:
        line = "" if error.line is None else f"line {error.line}: "
        return (Problem("error", f"{line}{error.what}", error.mend or "mend it"),)
    return (*_naming(source, rubric), *lint_rubric(rubric))


def _naming(source: RubricSource, rubric: Rubric) -> Iterator[Problem]:
    """A file that a tag would not find, or would not be taken for."""
    if source.builtin:
        return
    if rubric.tag in builtin_names() and load_rubric(rubric.tag).system != rubric.system:
        yield Problem(
            "error",
            f"tag {rubric.tag!r} is that of a built-in rubric with another text, which is what "
            "the tag loads",
            "give it a tag of its own",
        )
    elif Path(source.place).name != f"{rubric.tag}.md":
        yield Problem(
            "warning",
            f"the file is not named after its tag {rubric.tag!r}, so the tag does not find it",
            f"name it {rubric.tag}.md",
        )


def _listed(source: RubricSource) -> dict[str, Any]:
    problems = _problems(source)
    try:
        rubric = source.parse()
    except InputError:
        rubric = None
    return {
        "version": None if rubric is None else rubric.version,
        "labels": [] if rubric is None else [label.code for label in rubric.labels],
        "floor": None if rubric is None else rubric.floor,
        "where": "built-in" if source.builtin else source.place,
        "state": _state(problems),
    }


def _state(problems: Sequence[Problem]) -> str:
    errors = [x for x in problems if x.severity == "error"]
    if errors:
        return f"error: {errors[0].message}"
    return f"{len(problems)} warning(s)" if problems else "clean"


def _show_examples(output: Output, label: Label) -> None:
    for title, examples in (
        (f"{label.code} ({label.name}): is", label.positive),
        (f"{label.code} ({label.name}): looks like it, and is not", label.negative),
    ):
        if examples:
            output.line()
            output.line(title)
        for x in examples:
            output.line(f"  {x.query}  <-  {x.text}")
            output.line(f"      {x.why}")


def _diff_lines(found: RubricDiff) -> Iterator[str]:
    yield from found.system
    yield from found.head
    if found.floor is not None:
        yield f"floor: {found.floor[0]} -> {found.floor[1]}"
    yield from found.examples
    yield _consequence(found)


def _consequence(found: RubricDiff) -> str:
    if found.empty:
        return f"no change: both are {found.before}"
    if found.version_changes:
        return (
            f"version {found.before} -> {found.after}: another judge; no paid grade is taken from "
            "the cache, and it must be calibrated anew"
        )
    if not found.grades_kept:
        return (
            f"version {found.before} stays, and the judge's fingerprint changes: no paid grade is "
            "taken from the cache, and it must be calibrated anew"
        )
    if found.floor is not None:
        return (
            f"version {found.before} stays and paid grades are kept; what was calibrated at floor "
            f"{found.floor[0]} says nothing of floor {found.floor[1]}: calibrate anew"
        )
    return f"version {found.before} stays; paid grades and certificates are kept"
