"""`relgate sxs`: people say which of two runs they prefer, blind; a check beside the gate."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import (
    FILE,
    Output,
    config_option,
    list_options,
    metric_options,
    now,
    output_options,
    run_format_option,
    settings,
)
from relgate.eval.cli.local_page import host_site, images_of, page_options

if TYPE_CHECKING:
    from relgate.eval.inputs import Aligned
    from relgate.eval.project import Project
    from relgate.eval.sidebyside.match import Matches
    from relgate.eval.sidebyside.tally import Against, Tally
    from relgate.eval.sidebyside.votes import Head

__all__ = ["command"]

_SHOWN = 10
_NO_GATE = "A preference of people stands beside the gate; it is no verdict and changes none."


@click.group("sxs")
def command() -> None:
    """Show two runs side by side, blind, keep people's votes, and count them.

    Every command takes --json, --quiet and --no-color.
    """


@command.command("serve")
@click.option("--before", type=FILE, required=True, help="The run before.")
@click.option("--after", type=FILE, required=True, help="The run after.")
@run_format_option
@click.option("--queries", type=FILE, help="Query texts.")
@click.option("--catalogue", type=FILE, help="What people see of a document; else its id.")
@click.option("--votes", type=FILE, required=True, help="The file of votes; made or gone on with.")
@click.option("--k", type=click.IntRange(1, 100), help="Documents of each list; 10 by default.")
@click.option("--sample", type=click.IntRange(1), help="So many queries by lot; all that differ.")
@click.option("--seed", type=int, default=0, help="Another seed draws other sides and orders.")
@page_options
@config_option
@output_options
def serve(before: Path, after: Path, votes: Path, **flags: Any) -> None:  # noqa: ANN401 - click
    """Open the page for people to vote on.

    Which run stands on the left is drawn for each rater and query. Queries with the same list on
    both sides are not asked.
    """
    from relgate.eval.web.installed import require_web  # noqa: PLC0415 - click only until here

    require_web()
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.sidebyside.match import match_runs  # noqa: PLC0415
    from relgate.eval.sidebyside.site import VotePages  # noqa: PLC0415 - starlette
    from relgate.eval.sidebyside.votes import VoteFile, head_of  # noqa: PLC0415
    from relgate.eval.web.site import site  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    project = settings(output, flags["config"], _flags(flags, "catalogue"))
    load.spare_inputs([votes], [before, after, project.queries, project.catalogue])
    aligned = _aligned(project, output, before, after, flags["run_format"])
    matches = match_runs(aligned, k=project.k, seed=flags["seed"], sample=flags["sample"])
    _say_matches(output, matches)
    catalogue = None if project.catalogue is None else load.load_catalogue(project, output)
    images = images_of(flags)
    with VoteFile(votes, head_of(matches, before=before.name, after=after.name)) as kept:
        if kept.torn:
            output.remark(f"{votes}: a last line that was cut short is taken out")
        pages = VotePages(matches, kept, catalogue=catalogue, images=images, clock=now)
        host_site(
            output,
            flags,
            lambda access, door: site(
                pages.routes(), pages=pages.pages, access=access, door=door, images=images
            ),
            roles=("rater",),
            opens="rater",
            kept=lambda: f"{len(kept.votes):,} votes are kept: relgate sxs tally --votes {votes}",
        )


@command.command("tally")
@click.option("--votes", type=FILE, required=True, help="The file of votes.")
@click.option("--before", type=FILE, help="With --after and --judgments: the votes' runs.")
@click.option("--after", type=FILE, help="The run after.")
@run_format_option
@list_options
@click.option("--queries", type=FILE, help="Query texts.")
@metric_options
@click.option("--seed", type=int, default=0, help="Seed of the resampling.")
@config_option
@output_options
def tally(votes: Path, **flags: Any) -> None:  # noqa: ANN401 - click
    """Count the votes: preference with its interval and p, agreement, and whether a place won.

    With both runs and a judgment list, the votes also stand beside the change of nDCG, query by
    query. The exit code is 0 whatever people prefer.
    """
    from relgate.eval.sidebyside.tally import tally_votes  # noqa: PLC0415 - numpy
    from relgate.eval.sidebyside.votes import read_votes  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    head, given = read_votes(votes)
    found = tally_votes(given, seed=flags["seed"])
    against = _against(output, head, found, flags)
    _show(output, head, found)
    if against is not None:
        _show_against(output, against)
    output.line(_NO_GATE)
    output.document(_document(head, found, against))


def _flags(flags: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: flags[name] for name in ("queries", "k", *names)}


def _aligned(
    project: Project, output: Output, before: Path, after: Path, run_format: str | None
) -> Aligned:
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.inputs import align_inputs  # noqa: PLC0415

    runs = [load.load_run(path, path.name, output, run_format) for path in (before, after)]
    aligned = align_inputs(None, runs, project, table=load.load_queries(project))
    for warning in (*aligned.axis.warnings, *aligned.warnings):
        output.remark(warning)
    return aligned


def _say_matches(output: Output, matches: Matches) -> None:
    output.remark(
        f"{len(matches.matches):,} queries to compare to depth {matches.k}; {len(matches.same):,} "
        f"have one list on both sides, {matches.undrawn:,} were not drawn, "
        f"{len(matches.unknown):,} lack a side"
    )


def _against(output: Output, head: Head, found: Tally, flags: dict[str, Any]) -> Against | None:
    """The votes beside the metric, when runs and list are given."""
    before, after = flags["before"], flags["after"]
    if before is None and after is None:
        return None
    if before is None or after is None:
        raise click.UsageError("give --before and --after together")
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.inputs import align_inputs  # noqa: PLC0415
    from relgate.eval.metrics.compare import compare  # noqa: PLC0415
    from relgate.eval.metrics.conventions import Metric  # noqa: PLC0415
    from relgate.eval.metrics.score import score_runs  # noqa: PLC0415
    from relgate.eval.sidebyside.match import match_runs  # noqa: PLC0415
    from relgate.eval.sidebyside.tally import against_metric  # noqa: PLC0415
    from relgate.rubrics.errors import UsageError  # noqa: PLC0415

    names = ("judgments", "scale", "judgments_source", "floor", "gain", "no_ideal")
    project = settings(output, flags["config"], _flags(flags, *names))
    judged = load.load_list(project, output, flags["list_format"])
    runs = [load.load_run(p, p.name, output, flags["run_format"]) for p in (before, after)]
    aligned = align_inputs(judged.judgments, runs, project, table=load.load_queries(project))
    if match_runs(aligned, k=head.k, seed=head.seed).key != head.key:
        raise UsageError("the votes are on other runs than these; give those they were made with")
    scored = score_runs(aligned.judgments, aligned.runs, aligned.axis, project.conventions())
    moved = compare(scored[0], scored[1], Metric("ndcg"))
    index: list[int] = moved.index.tolist()
    values: list[float] = moved.deltas.tolist()
    deltas = {aligned.axis.queries[i].id: d for i, d in zip(index, values, strict=True)}
    return against_metric(found, moved.name, deltas)


def _show(output: Output, head: Head, found: Tally) -> None:
    voted = found.before + found.after + found.ties
    output.line(f"Votes on {voted:,} of {head.asked:,} queries by {len(found.raters):,} raters")
    output.table(
        "People prefer",
        ["On", "Queries"],
        [
            [f"before ({head.before})", str(found.before)],
            [f"after ({head.after})", str(found.after)],
            ["neither", str(found.ties)],
        ],
    )
    output.line(
        f"Preference {_text(found.preference, '+.3f')} (-1 all before, +1 all after), 95 % interval"
        f" {_text(found.low, '+.3f')} to {_text(found.high, '+.3f')}, sign test p "
        f"{_text(found.p, '.3f')}"
    )
    output.line(
        f"Agreement of raters: alpha {_text(found.alpha, '.3f')} (ordinal) on "
        f"{found.shared:,} queries with two votes and more"
    )
    output.table(
        "Raters",
        ["Rater", "Before", "After", "Alike", "Neither", "Skipped", "Left/right", "p"],
        [
            [
                r.rater,
                *map(str, (r.before, r.after, r.same, r.neither, r.skipped)),
                f"{r.left}/{r.right}",
                _text(r.side_p, ".3f"),
            ]
            for r in found.raters
        ],
    )
    for rater in found.raters:
        if rater.leans:
            output.line(
                f"{rater.rater} leans to a place: {rater.left} left, {rater.right} right, though "
                "sides are drawn by lot; look at those votes before you count them"
            )
    _show_queries(output, found)


def _show_queries(output: Output, found: Tally) -> None:
    ends = [q for q in found.queries if q.preference]
    shown = ends if len(ends) <= 2 * _SHOWN else [*ends[:_SHOWN], *ends[-_SHOWN:]]
    if not shown:
        return
    more = f" ({len(ends) - len(shown)} more with --json)" if len(ends) > len(shown) else ""
    output.table(
        f"Queries{more}",
        ["Query", "Before", "After", "Ties", "Notes"],
        [
            [q.query, str(q.before), str(q.after), str(q.ties), "; ".join(q.notes)[:80]]
            for q in shown
        ],
        text_columns=(0, 4),
    )


def _show_against(output: Output, found: Against) -> None:
    both = found.alike + found.apart
    share = f" ({100 * found.alike / both:.0f} %)" if both else ""
    output.line(
        f"Beside {found.metric}: on {both:,} queries both prefer a side, on {found.alike:,} of them"
        f"{share} the same; it moved on {found.metric_only:,} that people find alike, people prefer"
        f" a side on {found.people_only:,} where it did not move; {found.unscored:,} have no value"
    )


def _text(value: float, form: str) -> str:
    return format(value, form) if isfinite(value) else "undefined"


def _number(value: float) -> float | None:
    return round(value, 6) if isfinite(value) else None


def _document(head: Head, found: Tally, against: Against | None) -> dict[str, Any]:
    from dataclasses import asdict  # noqa: PLC0415

    return {
        "is_verdict": False,
        "votes_on": asdict(head),
        "before": found.before,
        "after": found.after,
        "ties": found.ties,
        "preference": _number(found.preference),
        "interval": [_number(found.low), _number(found.high)],
        "p": _number(found.p),
        "alpha": _number(found.alpha),
        "shared": found.shared,
        "raters": [
            {**asdict(r), "side_p": _number(r.side_p), "leans": r.leans} for r in found.raters
        ],
        "queries": [{**asdict(q), "preference": q.preference} for q in found.queries],
        "against": None if against is None else asdict(against),
    }
