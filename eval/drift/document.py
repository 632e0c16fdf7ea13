"""The alarm's report as plain values, as Markdown, and the entry of RELEVANCE_NOTES.md. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

from relgate.eval.drift.budgets import Budgets
from relgate.eval.drift.means import core, weighted_means_of
from relgate.eval.drift.types import (
    SIGNALS,
    Artifact,
    Finding,
    Level,
    Measured,
    Outcome,
    Report,
    Signal,
)
from relgate.eval.report.escape import markdown_text

__all__ = [
    "WEIGHTED_HEADER",
    "drift_document",
    "drift_markdown",
    "notes_entry",
    "outcome",
    "signal_rows",
    "weighted_rows",
]

WEIGHTED_HEADER = ("Stages", "By traffic (no budget)", "Baseline", "Current", "Move")

_FIGURE = re.compile(r"[+-]?[0-9.]+|-")
_FAILURES: Mapping[int, Outcome] = {3: "fail", 4: "mismatch"}


def outcome(report: Report) -> Outcome:
    """`pass`, `warn`, `fail` or `mismatch`."""
    return _FAILURES.get(report.exit_code, "warn" if report.findings else "pass")


def signal_rows(report: Report, budgets: Budgets) -> list[tuple[str, ...]]:
    """A row a combination and signal: stages, signal, baseline, current, move, soft, hard."""
    current = {run.words: run for run in report.current.runs}
    return [
        _row(run, current[run.words], signal, budgets)
        for run in report.baseline.runs
        if run.words in current
        for signal in SIGNALS
        if signal in run.means and signal in current[run.words].means
    ]


def weighted_rows(report: Report) -> list[tuple[str, ...]]:
    """A row a combination and signal by traffic: stages, signal, baseline, current, move."""
    before = {run.words: _weighted(run) for run in report.baseline.runs}
    return [
        (run.words, s.value, f"{was[s]:.4f}", f"{now:.4f}", f"{now - was[s]:+.4f}")
        for run in report.current.runs
        if (was := before.get(run.words))
        for s, now in _weighted(run).items()
        if s in was
    ]


def _weighted(run: Measured) -> dict[Signal, float]:
    return weighted_means_of(core(run.queries))


def _row(was: Measured, now: Measured, signal: Signal, budgets: Budgets) -> tuple[str, ...]:
    budget = budgets.of(signal)
    move = now.means[signal] - was.means[signal]
    return (
        was.words,
        signal.value,
        f"{was.means[signal]:.4f}",
        f"{now.means[signal]:.4f}",
        f"{move:+.4f}",
        f"{budget.soft:g}",
        f"{budget.hard:g}",
    )


def drift_document(report: Report, budgets: Budgets) -> dict[str, Any]:
    """Everything that is printed, as JSON values; NaN is written as null."""
    return {
        "outcome": outcome(report),
        "exit_code": report.exit_code,
        "current": _side(report.current),
        "baseline": _side(report.baseline),
        "budgets": {
            "overall": {s.value: asdict(budgets.of(s)) for s in SIGNALS},
            "strata": {
                name: {s.value: asdict(b) for s, b in part.items()}
                for name, part in budgets.strata.items()
            },
        },
        "findings": [_finding(finding) for finding in report.findings],
        "losers": [{**asdict(loser), "drop": loser.drop} for loser in report.losers],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    values = asdict(finding) | {
        "level": finding.level.value,
        "queries": list(finding.queries),
    }
    return _finite(values)


def _side(artifact: Artifact) -> dict[str, Any]:
    return {
        "path": artifact.path,
        "golden_version": artifact.golden_version,
        "golden_sha256": artifact.golden_sha256,
        "conventions": dict(artifact.conventions),
        "settings": dict(artifact.settings),
        "about": dict(artifact.about),
        "unresolved": {query: list(keys) for query, keys in artifact.unresolved.items()},
        "runs": [
            {
                "stages": dict(run.stages),
                "means": _finite({s.value: v for s, v in run.means.items()}),
                "weighted_means": _finite({s.value: v for s, v in _weighted(run).items()}),
                "latency_ms": run.latency_ms and dict(run.latency_ms),
            }
            for run in artifact.runs
        ],
    }


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in values.items()
    }


def drift_markdown(report: Report, budgets: Budgets) -> str:
    """The report for a pull request: outcome, findings, the table of signals, top losers."""
    lines = [
        f"## Relevance drift: {outcome(report).upper()}",
        "",
        _versions(report),
        "",
        *_finding_lines(report),
        *_table(
            ("Stages", "Signal", "Baseline", "Current", "Move", "Soft", "Hard"),
            signal_rows(report, budgets),
        ),
        *(_table(WEIGHTED_HEADER, rows) if (rows := weighted_rows(report)) else ()),
        *_loser_lines(report),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _versions(report: Report) -> str:
    new, old = (markdown_text(a.golden_version) for a in (report.current, report.baseline))
    return f"Golden set {new}, baseline {old}."


def _finding_lines(report: Report) -> Iterator[str]:
    for level, title in (
        (Level.MISMATCH, "Cannot be compared"),
        (Level.HARD, "Over budget"),
        (Level.SOFT, "Warnings"),
    ):
        found = [finding for finding in report.findings if finding.level is level]
        if found:
            yield f"### {title}"
            yield ""
            yield from (f"- {markdown_text(finding.message)}" for finding in found)
            yield ""
    if not report.findings:
        yield "Every signal is within its budget."
        yield ""


def _loser_lines(report: Report) -> Iterator[str]:
    yield "### Top losers"
    yield ""
    if not report.losers:
        yield "No core query lost."
        return
    rows = [
        (loser.text, loser.id, loser.stages, f"{loser.baseline:.4f}", f"{loser.current:.4f}",
         f"{-loser.drop:+.4f}")
        for loser in report.losers
    ]  # fmt: skip
    yield from _table(("Query", "Id", "Stages", "Baseline", "Current", "Move"), rows)


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    yield from (f"| {' | '.join(map(_cell, row))} |" for row in rows)
    yield ""


def _cell(text: str) -> str:
    """A figure as it is; text made inert."""
    return text if _FIGURE.fullmatch(text) else markdown_text(text)


def notes_entry(
    new: Artifact, old: Artifact | None, *, rationale: str, at: str, sha: str | None
) -> str:
    """An entry of RELEVANCE_NOTES.md: when, why, and the figures before and after."""
    place = f", commit {markdown_text(sha)}" if sha else ""
    lines = [
        f"## {markdown_text(at)}: golden set {markdown_text(new.golden_version)}{place}",
        "",
        markdown_text(rationale),
        "",
        *_table(("Stages", "Signal", "Before", "After"), list(_before_after(new, old))),
        *(f"- {markdown_text(name)}: {markdown_text(v)}" for name, v in sorted(new.about.items())),
        *_unresolved_lines(new),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _unresolved_lines(new: Artifact) -> Iterator[str]:
    """Every judgment without a live id: a reviewer must see them as plainly as a drop."""
    texts = {query.id: query.text for run in new.runs for query in run.queries}
    for query, keys in new.unresolved.items():
        for key in keys:
            text = markdown_text(texts.get(query, query))
            yield f"- **not resolved**, counts for nothing: {markdown_text(key)} of {text}"


def _before_after(new: Artifact, old: Artifact | None) -> Iterator[tuple[str, ...]]:
    before = {} if old is None else {run.words: run.means for run in old.runs}
    for run in new.runs:
        for signal, value in run.means.items():
            was = before.get(run.words, {}).get(signal)
            yield run.words, signal.value, "-" if was is None else f"{was:.4f}", f"{value:.4f}"
