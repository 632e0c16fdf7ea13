"""The review as Markdown for a pull request. Pure.

Text from data is escaped: a query or a title can neither forge a row nor mention anybody.
"""

from __future__ import annotations

from collections.abc import Iterator

from relgate.eval.lists.types import Source
from relgate.eval.report import phrases
from relgate.eval.report.escape import markdown_text as esc
from relgate.eval.report.losers import loser_sections
from relgate.eval.report.supplied import latency_rows, mode_rows
from relgate.eval.review.types import (
    Evidence,
    QueryEvidence,
    Review,
    RuleState,
    Verdict,
)

__all__ = ["review_markdown"]

_BOLD_DELTA = 0.005
_MAX_CELL_CHARS = 120
_WEIGHTED = ("ndcg", "mrr", "precision")  # the gates' metrics; the rest is in review.json

_STATES = {
    RuleState.PASSED: "✓ passed",
    RuleState.FAILED: "✗ failed",
    RuleState.NOT_CHECKED: "not checked",
}


def review_markdown(review: Review) -> str:
    """The whole report: change, coverage, tables, unrated check, verdict, actions, rules."""
    evidence = review.evidence
    sections = [
        [_title(evidence)],
        [
            f"**Change:** {esc(phrases.change_line(evidence))}",
            f"**Judgment coverage:** {phrases.coverage_line(evidence.coverage)}",
            f"**Test set:** {esc(phrases.measured_line(evidence))}",
            *(f"**Budgets of the project's own:** {line}" for line in _own_budgets(review)),
        ],
        ["### Aggregate", "", *_aggregate_table(evidence)],
        *_mode_section(evidence),
        ["### Per-query (significant changes only)", "", *_query_table(evidence)],
        ["### Unrated check", "", *(f"- {esc(line)}" for line in phrases.unrated_lines(review))],
        *_latency_section(evidence),
        *_judge_section(evidence),
        [
            "### Verdict",
            "",
            f"{phrases.MARKS[review.verdict]} **{review.verdict.word}** — {esc(review.headline)}",
        ],
        *_action_section(review),
        *loser_sections(evidence),
        *_finding_section(review),
        ["<details><summary>Rules</summary>", "", *_rule_table(review), "", "</details>"],
        *_note_section(evidence),
    ]
    return "\n\n".join("\n".join(_hard_breaks(lines)) for lines in sections) + "\n"


def _title(evidence: Evidence) -> str:
    sha = evidence.change.sha if evidence.change is not None else None
    if not sha:
        return "## Search relevance review"
    # Only text that cannot end a code span stands in one.
    return f"## Search relevance review — {f'`{sha}`' if sha.isalnum() else esc(sha)}"


def _hard_breaks(lines: list[str]) -> list[str]:
    """Keeps consecutive bold lines apart; two blanks at the end are Markdown's line break."""
    return [
        f"{line}  "
        if line.startswith("**") and i + 1 < len(lines) and lines[i + 1].startswith("**")
        else line
        for i, line in enumerate(lines)
    ]


def _aggregate_table(evidence: Evidence) -> Iterator[str]:
    yield "| Metric | Before | After | Delta | Queries |"
    yield "|---|---:|---:|---:|---:|"
    for a in evidence.aggregates:
        queries = "?" if a.n is None else str(a.n)
        yield _row(a.name, a.before, a.after, queries)
        if a.weighted_before is None or a.weighted_after is None:
            continue
        if a.key in _WEIGHTED:
            yield _row(f"{a.name}, traffic-weighted", a.weighted_before, a.weighted_after, queries)
    unfilled = evidence.unfilled
    if unfilled is not None:
        queries = "?" if unfilled.n is None else str(unfilled.n)
        name = f"{unfilled.name}, without the judge's grades"
        yield _row(name, unfilled.before, unfilled.after, queries)


def _row(name: str, before: float, after: float, queries: str) -> str:
    delta = after - before
    shown = f"**{delta:+.4f}**" if delta < -_BOLD_DELTA else f"{delta:+.4f}"
    return f"| `{name}` | {before:.4f} | {after:.4f} | {shown} | {queries} |"


def _own_budgets(review: Review) -> Iterator[str]:
    line = phrases.settings_line(review)
    if line is not None:
        yield esc(line)


def _query_table(evidence: Evidence) -> Iterator[str]:
    rows, left_out = phrases.significant(evidence)
    if not rows:
        yield f"No query moved by more than {phrases.SIGNIFICANT_DELTA}."
        return
    filled = evidence.fill is not None
    yield f"| Query | Before | After | Delta | {'By a judge' if filled else 'Unrated'} |"
    yield "|---|---:|---:|---:|---:|"
    for query in rows:
        yield _query_row(query, filled=filled)
    if left_out:
        yield ""
        yield f"{left_out} more queries moved by more than {phrases.SIGNIFICANT_DELTA}."


def _query_row(query: QueryEvidence, *, filled: bool) -> str:
    mark = " (head)" if query.head else " (critical)" if query.critical else ""
    good = query.delta > 0
    delta = f"{query.delta:+.2f} ✓" if good else f"**{query.delta:+.2f}** ✗"
    now = query.now
    unrated = f"{now.unrated}/{now.returned}" if now.unrated_known else "?"
    judged = sum(doc.source is Source.JUDGE for doc in now.top)
    last = f"{judged}/{now.returned}" if filled else unrated
    name = f'"{esc(_short(query.query.shown))}"{mark}'
    return f"| {name} | {query.before:.2f} | {query.after:.2f} | {delta} | {last} |"


def _short(text: str) -> str:
    return text if len(text) <= _MAX_CELL_CHARS else text[: _MAX_CELL_CHARS - 1] + "…"


def _mode_section(evidence: Evidence) -> Iterator[list[str]]:
    rows = [
        f"| {esc(mode)} | {esc(metric)} | {was} | {now} | {delta} |"
        for mode, metric, was, now, delta in mode_rows(evidence)
    ]
    if rows:
        head = ["| Mode | Metric | Before | After | Delta |", "|---|---|---:|---:|---:|"]
        yield ["### By mode", "", *head, *rows]


def _latency_section(evidence: Evidence) -> Iterator[list[str]]:
    rows = [f"| {name} | {was} | {now} |" for name, was, now in latency_rows(evidence)]
    if rows:
        yield ["### Latency", "", "| Percentile | Before | After |", "|---|---:|---:|", *rows]


def _judge_section(evidence: Evidence) -> Iterator[list[str]]:
    fill = phrases.fill_line(evidence)
    lines = [*([fill] if fill else []), *phrases.judge_lines(evidence)]
    if lines:
        yield ["### Filled grades", "", *(f"- {esc(line)}" for line in lines)]


def _action_section(review: Review) -> Iterator[list[str]]:
    if review.actions:
        steps = [f"{i}. {esc(action)}" for i, action in enumerate(review.actions, start=1)]
        yield ["### Recommended actions", "", *steps]


def _finding_section(review: Review) -> Iterator[list[str]]:
    """Every finding. A refusal has no severities beside its own: they would be verdicts."""
    refused = review.verdict is Verdict.REFUSE
    lines = [
        f"- {esc(f.rule)}: {esc(f.message)}"
        if refused or f.severity is Verdict.APPROVE
        else f"- {esc(f.rule)} ({f.severity.word}): {esc(f.message)}"
        for f in review.findings
    ]
    if lines:
        title = f"<details><summary>Findings ({len(lines)})</summary>"
        yield [title, "", *lines, "", "</details>"]


def _rule_table(review: Review) -> Iterator[str]:
    yield "| Rule | State | What was measured |"
    yield "|---|---|---|"
    for o in review.outcomes:
        yield f"| {o.rule} | {_STATES[o.state]} | {esc(o.summary)} |"


def _note_section(evidence: Evidence) -> Iterator[list[str]]:
    notes = list(dict.fromkeys([*evidence.cross_checks, *evidence.warnings]))
    notes += [f"{what}: {where}" for what, where in evidence.inputs.items()]
    if notes:
        lines = [f"- {esc(note)}" for note in notes]
        yield ["<details><summary>Notes</summary>", "", *lines, "", "</details>"]
