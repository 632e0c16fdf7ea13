"""`relgate golden`: make, check, freeze and tend a golden set. I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from relgate.eval.cli.common import FILE, FiniteRange, Output, now, output_options

if TYPE_CHECKING:
    from relgate.eval.golden.content import Change
    from relgate.eval.golden.types import GoldenSet
    from relgate.eval.lists.check import Finding

__all__ = ["command"]

_FOUND = 1
_SHOWN = 20

F = TypeVar("F", bound=Callable[..., Any])

_file = click.argument("path", metavar="GOLDEN", type=FILE)
_ids = click.argument("ids", metavar="ID...", nargs=-1, required=True)
_version = click.option("--version", required=True, help="The new set's version.")
_out = click.option("--out", type=FILE, help="Where to write the new set; over the old by default.")


@click.group("golden")
def command() -> None:
    """Make, check, freeze and tend a golden set; every command takes --json, --quiet, --no-color.

    A golden set is JSON or JSONL: a version, k, and queries with their judgments, filters, locale,
    stratum, weight, expectation, and the set they are in (core gates; challenge and shadow are
    reported). Its schema: relgate golden schema.
    """


@command.command("check")
@_file
@click.option("--measured", type=FILE, help="What relgate run measured on it: is it large enough?")
@click.option("--budgets", "budgets_file", type=FILE, help="Limits, JSON or TOML; the guide's.")
@output_options
def check(path: Path, measured: Path | None, **flags: Any) -> int:  # noqa: ANN401 - click
    """Faults of a set, and what one of its kind should have; exit code 1 when there is a fault.

    With --measured the interval of its mean nDCG is held against the hard budget of the alarm.
    """
    from relgate.eval.golden.check import check_set, gating_words  # noqa: PLC0415 - pydantic
    from relgate.eval.golden.content import content_hash  # noqa: PLC0415
    from relgate.eval.golden.files import read_golden, read_lock  # noqa: PLC0415

    output = _output(flags)
    golden = read_golden(path, faulty=True)
    findings = (*check_set(golden), *_width(golden, measured, flags["budgets_file"]))
    frozen = golden.version in read_lock(path)
    state = "frozen" if frozen else f"not frozen (relgate golden freeze {path})"
    output.line(f"version {golden.version}, {state}, k={golden.k}: {gating_words(golden)}")
    _show_findings(output, findings)
    faults = [finding.kind for finding in findings if finding.fault]
    output.line(f"{len(faults)} kinds of fault" if faults else "no fault found")
    output.document(
        {
            "version": golden.version,
            "sha256": content_hash(golden),
            "frozen": frozen,
            "queries": len(golden.queries),
            "faults": faults,
            "findings": [asdict(finding) for finding in findings],
        }
    )
    return _FOUND if faults else 0


def _width(golden: GoldenSet, measured: Path | None, budgets: Path | None) -> tuple[Finding, ...]:
    if measured is None:
        if budgets is not None:
            raise click.UsageError("--budgets needs --measured")
        return ()
    from relgate.eval.cli.cmd_drift import read_budgets  # noqa: PLC0415 - numpy
    from relgate.eval.drift.artifact import read_artifact  # noqa: PLC0415
    from relgate.eval.drift.width import width_notes  # noqa: PLC0415
    from relgate.rubrics.errors import GoldenVersionError  # noqa: PLC0415

    artifact = read_artifact(measured)
    if artifact.golden_version != golden.version:
        raise GoldenVersionError(
            f"{measured} was measured on version {artifact.golden_version!r}, this set is "
            f"{golden.version!r}; run it again: relgate run"
        )
    return width_notes(artifact, read_budgets(budgets))


def _show_findings(output: Output, findings: Sequence[Finding]) -> None:
    if findings:
        rows = [
            [("" if f.fault else "(note) ") + f.what, str(f.count), "; ".join(f.examples)]
            for f in findings
        ]
        output.table("", ["Finding", "Count", "First of them"], rows, text_columns=(0, 2))


@command.command("diff")
@click.argument("before", type=FILE)
@click.argument("after", type=FILE)
@output_options
def diff(before: Path, after: Path, **flags: Any) -> None:  # noqa: ANN401 - click
    """What changed between two sets: labels above all."""
    from relgate.eval.golden.content import diff_sets  # noqa: PLC0415 - pydantic
    from relgate.eval.golden.files import read_golden  # noqa: PLC0415

    output = _output(flags)
    old, new = (read_golden(path, unfrozen=True) for path in (before, after))
    found = diff_sets(old, new)
    if not found:
        output.line(f"the same content (versions {old.version!r} and {new.version!r})")
    elif old.version == new.version:
        output.remark(f"both say version {old.version!r}: the changed one needs another")
    for what, ids in (("added", found.added), ("removed", found.removed)):
        if ids:
            more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
            output.line(f"{len(ids)} queries {what}: {', '.join(ids[:_SHOWN])}{more}")
    _show_changes(output, "Labels", found.labels)
    _show_changes(output, "Moved", found.moved)
    _show_changes(output, "Other", (*found.settings, *found.other))
    output.document({"before": old.version, "after": new.version, **asdict(found)})


def _show_changes(output: Output, title: str, changes: Sequence[Change]) -> None:
    if changes:
        output.table(
            f"{title} ({len(changes)})",
            ["Query", "Id", "What", "Before", "After"],
            [[c.text, c.query, c.what, _shown(c.before), _shown(c.after)] for c in changes],
            text_columns=(0, 1, 2, 3, 4),
        )


def _shown(value: Any) -> str:  # noqa: ANN401 - any value of the format
    return "-" if value is None else str(value)


@command.command("freeze")
@_file
@output_options
def freeze(path: Path, **flags: Any) -> None:  # noqa: ANN401 - click
    """Note in the lock beside the set which content its version has, for good."""
    from relgate.eval.golden.files import freeze, lock_path, read_golden  # noqa: PLC0415 - pydantic

    output = _output(flags)
    frozen = freeze(path, now().isoformat(timespec="seconds"))
    version = read_golden(path).version
    output.line(f"version {version} is {frozen.sha256[:12]}, frozen at {frozen.frozen_at}")
    output.line(f"commit {lock_path(path)} with the set")
    output.document({"version": version, **asdict(frozen), "lock": str(lock_path(path))})


@command.command("tag")
@_file
@click.argument("name")
@output_options
def tag(path: Path, name: str, **flags: Any) -> None:  # noqa: ANN401 - click
    """Note that a baseline was accepted on this frozen version, under NAME."""
    from relgate.eval.golden.files import read_golden, tag  # noqa: PLC0415 - pydantic

    output = _output(flags)
    frozen = tag(path, name)
    version = read_golden(path).version
    output.line(f"version {version}: {', '.join(frozen.tags)}")
    output.document({"version": version, **asdict(frozen)})


@command.command("from-log")
@click.argument("log", type=FILE)
@_version
@click.option("--size", type=click.IntRange(1), default=300, help="Queries to draw; 300.")
@click.option("--out", type=FILE, required=True, help="The new set.")
@click.option("--seed", type=int, default=0, help="Another seed draws another lot.")
@click.option("--least-count", type=FiniteRange(0), default=1, help="Searches; 1.")
@click.option(
    "--least-users",
    type=click.IntRange(1),
    default=3,
    help="People, where the log tells (users, sessions); 3. What one person types is theirs.",
)
@click.option("--region", help="Two letters: national phone numbers to look for, say DE.")
@click.option("--k", type=click.IntRange(1, 10_000), default=10, help="Depth; 10.")
@output_options
def from_log(log: Path, out: Path, **flags: Any) -> None:  # noqa: ANN401 - click
    """Draw queries from a log: personal data dropped, a third each from head, torso and tail."""
    from relgate.eval.cli.load import spare_inputs  # noqa: PLC0415 - numpy
    from relgate.eval.golden.files import write_golden  # noqa: PLC0415 - pydantic
    from relgate.eval.golden.log import draw_queries  # noqa: PLC0415
    from relgate.eval.golden.log_file import read_log  # noqa: PLC0415

    output = _output(flags)
    spare_inputs([out], [log])
    rows = read_log(log)
    names = ("version", "size", "seed", "least_count", "least_users", "region", "k")
    drawn = draw_queries(rows, **{name: flags[name] for name in names})
    if not any(row.users is not None for row in rows):
        output.remark("the log does not tell how many people typed a query: --least-users is idle")
    write_golden(out, drawn.golden)
    output.line(
        f"{len(drawn.golden.queries):,} of {drawn.distinct:,} distinct queries "
        f"({drawn.searches:,.0f} searches) drawn into {out}; none is judged yet"
    )
    output.table(
        "",
        ["Traffic", "Queries", "Drawn"],
        [[band, f"{n:,}", f"{taken:,}"] for band, (n, taken) in drawn.bands.items()],
    )
    if drawn.dropped:
        said = ", ".join(f"{n:,} {why}" for why, n in drawn.dropped.items())
        output.line(f"dropped: {said}; names and the like no rule finds: read the set once")
    output.document(
        {
            "out": str(out),
            "queries": len(drawn.golden.queries),
            "distinct": drawn.distinct,
            "searches": drawn.searches,
            "dropped": dict(drawn.dropped),
            "bands": {b: {"queries": n, "drawn": t} for b, (n, t) in drawn.bands.items()},
        }
    )


@command.command("disagreements")
@_file
@click.option("--share", type=float, default=0.5, help="High from this share of pairs on; 0.5.")
@click.option("--version", help="Move the disputed core queries to shadow, as this version.")
@_out
@output_options
def disagreements(path: Path, *, share: float, version: str | None, **flags: Any) -> int:  # noqa: ANN401 - click
    """Queries whose raters disagree, and pairs for a third rater; exit code 1 when there are any.

    With --version the queries in high disagreement move from core to shadow.
    """
    from relgate.eval.golden import raters  # noqa: PLC0415 - pydantic
    from relgate.eval.golden.files import read_golden  # noqa: PLC0415

    output = _output(flags)
    golden = read_golden(path, unfrozen=version is not None)
    found = raters.disagreements(golden, share=share)
    pairs = raters.escalations(golden)
    if not found:
        output.line("no pair has more than one rater: agreement is not known")
    _show_disputes(output, found, pairs)
    moved = [d.query for d in found if d.high and d.set == "core"]
    if version is not None and moved:
        _write(output, flags["out"] or path, raters.to_shadow(golden, found, version))
    elif moved:
        output.line(f"{len(moved)} core queries belong in shadow: say --version to move them")
    output.document(
        {
            "queries": [{**asdict(d), "share": d.share} for d in found],
            "third_rater": [asdict(pair) for pair in pairs],
            "moved": moved if version is not None else [],
        }
    )
    return _FOUND if pairs or moved else 0


def _show_disputes(output: Output, found: Sequence[Any], pairs: Sequence[Any]) -> None:
    if found:
        output.table(
            "Queries by disagreement",
            ["Query", "Set", "Pairs", "Differ", "Share", "High"],
            [
                [d.text, d.set, str(d.pairs), str(d.differ), f"{d.share:.2f}", "x" * d.high]
                for d in found[:_SHOWN]
            ],
            text_columns=(0, 1),
        )
    if pairs:
        output.table(
            f"Pairs for a third rater ({len(pairs)})",
            ["Query", "Document", "Grades", "Why"],
            [[p.query, p.doc, ", ".join(map(str, p.grades)), p.why] for p in pairs[:_SHOWN]],
            text_columns=(0, 1, 2, 3),
        )


@command.command("promote")
@_file
@_ids
@click.option(
    "--to", type=click.Choice(["core", "challenge", "shadow"]), default="core", help="core."
)
@_version
@_out
@output_options
def promote(path: Path, *, ids: tuple[str, ...], to: Any, version: str, **flags: Any) -> None:  # noqa: ANN401 - click
    """Move queries to core, or to another of the three sets."""
    from relgate.eval.golden.edit import move  # noqa: PLC0415 - pydantic
    from relgate.eval.golden.files import read_golden  # noqa: PLC0415

    output = _output(flags)
    changed = move(read_golden(path, unfrozen=True), ids, to, version)
    _write(output, flags["out"] or path, changed)
    output.document({"version": version, "moved": list(ids), "to": to})


@command.command("retire")
@_file
@_ids
@click.option("--reason", required=True, help="Why they go; kept in the set.")
@_version
@_out
@output_options
def retire(path: Path, *, ids: tuple[str, ...], reason: str, version: str, **flags: Any) -> None:  # noqa: ANN401 - click
    """Take queries out; their ids stay listed and are never used again."""
    from relgate.eval.golden import edit  # noqa: PLC0415 - pydantic
    from relgate.eval.golden.files import read_golden  # noqa: PLC0415

    output = _output(flags)
    changed = edit.retire(read_golden(path, unfrozen=True), ids, reason, version)
    _write(output, flags["out"] or path, changed)
    output.document({"version": version, "retired": list(ids), "reason": reason})


@command.command("resolve")
@_file
@click.option(
    "--ids", "live", type=FILE, required=True, help="Locator to live id: CSV, JSONL, or a JSON map."
)
@click.option("--out", type=FILE, help="Write the set with its live ids; the version stays.")
@output_options
def resolve(path: Path, live: Path, **flags: Any) -> int:  # noqa: ANN401 - click
    """Look up every durable key; exit code 1 when one cannot be resolved."""
    from relgate.eval.golden.files import read_golden, write_golden  # noqa: PLC0415 - pydantic
    from relgate.eval.golden.log_file import read_live_ids  # noqa: PLC0415
    from relgate.eval.golden.resolve import resolve  # noqa: PLC0415

    output = _output(flags)
    found = resolve(read_golden(path), read_live_ids(live))
    output.line(
        f"{found.resolved:,} locators resolved, {len(found.moved):,} of them to another id than "
        f"before, {len(found.unresolved):,} not resolved"
    )
    if found.unresolved:
        output.table(
            "Not resolved",
            ["Query", "Locator", "Grade", "Why"],
            [[u.query, u.locator, str(u.grade), u.why] for u in found.unresolved],
            text_columns=(0, 1, 3),
        )
    if flags["out"] is not None:
        write_golden(flags["out"], found.golden)
    output.document(
        {
            "resolved": found.resolved,
            "moved": [dict(zip(("query", "locator", "old", "new"), m)) for m in found.moved],  # noqa: B905 - four each
            "unresolved": [asdict(u) for u in found.unresolved],
        }
    )
    return _FOUND if found.unresolved else 0


@command.command("schema")
def schema() -> None:
    """Print the JSON Schema of a golden set."""
    import json  # noqa: PLC0415

    from relgate.eval.golden.files import golden_schema  # noqa: PLC0415 - pydantic

    click.echo(json.dumps(golden_schema(), indent=2))


def _output(flags: dict[str, Any]) -> Output:
    return Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])


def _write(output: Output, out: Path, golden: GoldenSet) -> None:
    from relgate.eval.golden.files import write_golden  # noqa: PLC0415 - pydantic

    write_golden(out, golden)
    output.line(f"{out} is version {golden.version}; freeze it once it is reviewed")
