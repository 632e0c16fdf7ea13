"""`relgate lists`: look at judgment lists, compare them, make one of several. I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import (
    FILE,
    Output,
    disk_options,
    progress,
    run_format_option,
)
from relgate.eval.cli.list_files import (
    list_settings,
    open_list,
    output_of,
    reading_options,
    say_read,
)
from relgate.rubrics.errors import UsageError

if TYPE_CHECKING:
    from relgate.eval.agreement.ratings import PairAgreement
    from relgate.eval.lists.check import Finding
    from relgate.eval.lists.merge import Decision, ListDiff
    from relgate.eval.lists.stats import Coverage, ListStats
    from relgate.eval.lists.types import JudgmentList

__all__ = ["command"]

_SHOWN = 20
_FOUND = 1
_k_option = click.option("--k", type=click.IntRange(1, 10_000), default=10, help="Depth; 10.")
_run_option = click.option("--run", "runs", type=FILE, multiple=True, help="A run; repeatable.")


@click.group("lists")
def command() -> None:
    """Look at judgment lists; every command takes --json, --quiet and --no-color."""


@command.command("check")
@click.argument("path", metavar="LIST", type=FILE)
@_run_option
@run_format_option
@_k_option
@disk_options
@reading_options
def check(path: Path, *, runs: tuple[Path, ...], k: int, **flags: Any) -> int:  # noqa: ANN401 - click
    """What is wrong or odd in a list; exit code 1 when there is a fault.

    Parquet lists larger than memory are checked from disk, without runs.
    """
    output = output_of(flags)
    if _on_disk(output, path, flags, has_runs=bool(runs)):
        found = _checked_parts(output, path, flags)
    else:
        found = _checked(output, path, runs, k, flags)
    findings, covered = found.findings, found.coverage
    apart = [figure for figure in covered if figure.returned and not figure.rated]
    if findings:
        output.table(
            "",
            ["Finding", "Count", "First of them"],
            [
                [("" if f.fault else "(note) ") + f.what, str(f.count), "; ".join(f.examples)]
                for f in findings
            ],
            text_columns=(0, 2),
        )
    _show_coverage(output, covered)
    for figure in apart:
        output.line(f"no judged document occurs in the top {k} of {figure.run}")
    faults = [f.kind for f in findings if f.fault] + ["no-overlap"] * len(apart)
    output.line(f"{len(faults)} kinds of fault" if faults else "no fault found")
    output.document(
        {
            "list": str(path),
            "read_as": found.read_as,
            "faults": faults,
            "findings": [asdict(f) for f in findings],
            "conflicts": found.conflicts,
            "coverage": [asdict(figure) for figure in covered],
        }
    )
    return _FOUND if faults else 0


@dataclass(frozen=True, slots=True)
class _Found:
    """What a check found.

    Attributes:
        read_as: what the list was taken for.
        findings: what is wrong or odd.
        conflicts: pairs with two grades, for JSON; from disk the first of them, in words.
        coverage: of each run.
    """

    read_as: str
    findings: tuple[Finding, ...]
    conflicts: list[Any]
    coverage: list[Coverage]


def _on_disk(output: Output, path: Path, flags: Mapping[str, Any], *, has_runs: bool) -> bool:
    from relgate.eval.cli.disk import on_disk  # noqa: PLC0415 - numpy

    if has_runs:
        if flags["engine"] == "disk" or flags["memory"] is not None:
            raise UsageError(
                "the disk engine checks a list without runs; relgate score --engine disk tells "
                "what of a run is unrated"
            )
        return False
    return on_disk([path], [flags["list_format"]], flags, output)


def _checked(
    output: Output, path: Path, runs: tuple[Path, ...], k: int, flags: Mapping[str, Any]
) -> _Found:
    from relgate.eval.lists.check import check_list  # noqa: PLC0415 - numpy

    file = open_list(output, path, flags, raters="first")
    return _Found(
        read_as=file.format,
        findings=check_list(file),
        conflicts=[asdict(conflict) for conflict in file.conflicts],
        coverage=_coverage(file.judgments, runs, k, flags["run_format"]),
    )


def _checked_parts(output: Output, path: Path, flags: Mapping[str, Any]) -> _Found:
    from relgate.eval.cli.disk import MEMORY  # noqa: PLC0415 - numpy
    from relgate.eval.large.lists import check_parts  # noqa: PLC0415

    stated = list_settings(output, flags, raters="first")
    told, findings = check_parts(
        path,
        stated,
        memory=flags["memory"] or MEMORY,
        report=progress(output, "checked part"),
    )
    say_read(output, path, told.summary, told.notes, scale=stated.scale)
    return _Found(told.summary.format, findings, list(told.first_conflicts), [])


@command.command("stats")
@click.argument("path", metavar="LIST", type=FILE)
@_run_option
@run_format_option
@_k_option
@reading_options
def stats(path: Path, *, runs: tuple[Path, ...], k: int, **flags: Any) -> None:  # noqa: ANN401 - click
    """Classes, depth, agreement of the raters, coverage of runs."""
    from relgate.eval.agreement.ratings import (  # noqa: PLC0415 - numpy
        pairwise_agreement,
        ratings_of_votes,
    )
    from relgate.eval.lists.stats import list_stats  # noqa: PLC0415

    output = output_of(flags)
    file = open_list(output, path, flags, raters="first")
    figures = list_stats(file.judgments)
    n_grades = file.judgments.scale.max_grade + 1
    agreement = pairwise_agreement(ratings_of_votes(file.votes, n_grades=n_grades))
    covered = _coverage(file.judgments, runs, k, flags["run_format"])
    _show_stats(output, figures)
    _show_agreement(output, agreement)
    _show_coverage(output, covered)
    output.document(
        {
            "list": str(path),
            "read_as": file.format,
            "scale": file.judgments.scale.name,
            **asdict(figures),
            "raters": [asdict(pair) for pair in agreement],
            "coverage": [asdict(figure) for figure in covered],
        }
    )


def _coverage(
    judgments: JudgmentList, runs: tuple[Path, ...], k: int, run_format: str | None
) -> list[Coverage]:
    from relgate.eval.lists.stats import coverage_of  # noqa: PLC0415 - numpy
    from relgate.eval.runs.read import read_run  # noqa: PLC0415

    return [
        coverage_of(judgments, read_run(path, name=path.name, format=run_format), k=k)
        for path in runs
    ]


def _show_coverage(output: Output, covered: list[Coverage]) -> None:
    if covered:
        output.table(
            "Coverage of runs",
            ["Run", "Rated", "Returned", "Share", "Queries not judged", "Judged, not in the run"],
            [
                [
                    f"{c.run}, top {c.k}",
                    f"{c.rated:,}",
                    f"{c.returned:,}",
                    f"{c.rated / c.returned:.3f}" if c.returned else "-",
                    f"{len(c.queries_unjudged):,}",
                    f"{len(c.queries_missing):,}",
                ]
                for c in covered
            ],
        )


def _show_stats(output: Output, figures: ListStats) -> None:
    least, median, most = figures.depth
    output.line(
        f"{figures.judgments:,} judgments of {figures.queries:,} queries, "
        f"{figures.documents:,} documents; {least} to {most} a query, median {median:g}; "
        f"{figures.no_relevant:,} queries without a grade above 0"
    )
    output.table(
        "Grades",
        ["Grade", "Pairs", "Share"],
        [
            [str(grade), f"{n:,}", f"{n / max(figures.judgments, 1):.3f}"]
            for grade, n in sorted(figures.grades.items(), reverse=True)
        ],
    )
    output.line(
        "Made by: " + ", ".join(f"{source} {n:,}" for source, n in sorted(figures.sources.items()))
    )


def _show_agreement(output: Output, agreement: tuple[PairAgreement, ...]) -> None:
    if not agreement:
        return
    output.table(
        "Agreement of raters on the pairs that both graded",
        ["Rater", "Rater", "Pairs", "Same", "Kappa", "Quadratic kappa"],
        [
            [a.one, a.two, f"{a.pairs:,}", _figure(a.same), _figure(a.kappa),
             _figure(a.quadratic_kappa)]
            for a in agreement[:_SHOWN]
        ],
        text_columns=(0, 1),
    )  # fmt: skip


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


@command.command("diff")
@click.argument("old", type=FILE)
@click.argument("new", type=FILE)
@reading_options
def diff(old: Path, new: Path, **flags: Any) -> None:  # noqa: ANN401 - click
    """What differs between two lists, pair by pair."""
    from relgate.eval.lists.merge import diff_lists  # noqa: PLC0415 - numpy

    output = output_of(flags)
    before, after = (open_list(output, path, flags).judgments for path in (old, new))
    found = diff_lists(before, after)
    _show_diff(output, found)
    output.document({"old": str(old), "new": str(new), **asdict(found)})


def _show_diff(output: Output, found: ListDiff) -> None:
    output.table(
        "",
        ["Query", "Document", "Old", "New"],
        [[m.query, m.doc_id, str(m.old), str(m.new)] for m in found.moved[:_SHOWN]],
        text_columns=(0, 1),
    )
    if len(found.moved) > _SHOWN:
        output.line(f"{len(found.moved) - _SHOWN} more with --json")
    output.line(
        f"{found.same:,} pairs the same, {len(found.moved):,} moved, {len(found.added):,} added, "
        f"{len(found.removed):,} removed; {len(found.queries_added):,} queries added, "
        f"{len(found.queries_removed):,} removed; queries met by {found.by}"
    )


@command.command("merge")
@click.argument("paths", metavar="LIST...", type=FILE, nargs=-1, required=True)
@click.option(
    "--policy",
    type=click.Choice(["refuse", "human-first", "newest"]),
    default="refuse",
    help="Who wins where lists differ; by default nobody.",
)
@click.option("--to", default="jsonl", help="The format to write; jsonl.")
@click.option("--out", type=FILE, required=True, help="The file to write.")
@reading_options
def merge(paths: tuple[Path, ...], *, policy: str, to: str, out: Path, **flags: Any) -> int:  # noqa: ANN401 - click
    """One list of several, with a line a contested pair: who wins and why.

    refuse: nobody wins. human-first: people, then rules and imports, then judges. newest: the
    same, and among equals the one judged last. What is left open is refused, and nothing written.
    """
    from relgate.eval.cli.load import spare_inputs  # noqa: PLC0415 - numpy
    from relgate.eval.lists.merge import MergePolicy, merge_lists  # noqa: PLC0415
    from relgate.eval.lists.write import write_list  # noqa: PLC0415

    output = output_of(flags)
    spare_inputs([out], paths)
    lists = [open_list(output, path, flags).judgments for path in paths]
    merged = merge_lists(lists, MergePolicy(policy))
    left: tuple[str, ...] = ()
    _show_decisions(output, merged.refused or merged.decisions)
    if merged.judgments is None:
        output.line(f"{len(merged.refused):,} pairs are left open by {policy}; nothing written")
    else:
        left = write_list(out, merged.judgments, format=to)
        output.line(f"{len(merged.judgments):,} judgments, {len(merged.decisions):,} contested")
    for line in left:
        output.remark(f"left out: {line}")
    output.document(
        {
            "lists": [str(path) for path in paths],
            "policy": policy,
            "out": None if merged.judgments is None else str(out),
            "judgments": None if merged.judgments is None else len(merged.judgments),
            "decisions": [asdict(decision) for decision in merged.decisions],
            "left_out": list(left),
        }
    )
    return _FOUND if merged.judgments is None else 0


def _show_decisions(output: Output, decisions: tuple[Decision, ...]) -> None:
    output.table(
        "",
        ["Query", "Document", "Grades (list: grade, source)", "Taken", "Why"],
        [
            [
                d.query,
                d.doc_id,
                "; ".join(f"{number}: {grade}, {source}" for number, grade, source in d.grades),
                "none" if d.winner is None else f"list {d.winner}",
                d.why,
            ]
            for d in decisions[:_SHOWN]
        ],
        text_columns=(0, 1, 2, 3, 4),
    )
    if len(decisions) > _SHOWN:
        output.line(f"{len(decisions) - _SHOWN} more with --json")
