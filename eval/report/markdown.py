"""The review as Markdown for a pull request. Pure.

Text from data is escaped: a query or a title can neither forge a row nor mention anybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

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
from relgate.eval.wording import counted

__all__ = ["MAX_CHARS", "review_markdown"]

MAX_CHARS = 65_000
"""GitHub takes comments of up to 65,536 characters; a bot's own mark may stand beside it."""

_BOLD_DELTA = 0.005
_MAX_CELL_CHARS = 120
_IN_CODE = re.compile(r"[\w()=,.@ '-]+")  # what cannot end a code span, nor a cell
_WEIGHTED = ("ndcg", "mrr", "precision")  # the gates' metrics; the rest is in review.json

_T = TypeVar("_T")

_STATES = {
    RuleState.PASSED: "✓ passed",
    RuleState.FAILED: "✗ failed",
    RuleState.NOT_CHECKED: "not checked",
}


@dataclass(frozen=True, slots=True)
class _Room:
    """How much of the data goes in: entries a list, characters a text, losers side by side."""

    entries: int
    chars: int
    losers: int

    def esc(self, text: str) -> str:
        """`text` as inert Markdown, cut where it is too long."""
        return esc(text if len(text) <= self.chars else text[: self.chars - 1] + "…")

    def first_of(self, entries: Sequence[_T]) -> tuple[Sequence[_T], int]:
        """The first of them, and how many are left out."""
        return entries[: self.entries], max(len(entries) - self.entries, 0)


_ROOMS = (
    _Room(500, 4000, 10),
    _Room(100, 1000, 10),
    _Room(100, 1000, 3),
    _Room(30, 400, 3),
    _Room(10, 160, 1),
    _Room(3, 80, 0),
)


def review_markdown(review: Review) -> str:
    """The whole report: change, coverage, tables, unrated check, verdict, actions, rules.

    At most `MAX_CHARS` long, so that it fits in one comment: where it would be longer, lists and
    texts are cut, and what is left out is counted.
    """
    return next(text for room in _ROOMS if len(text := _markdown(review, room)) <= MAX_CHARS)


def _markdown(review: Review, room: _Room) -> str:
    evidence = review.evidence
    sections = [
        [_title(evidence, room)],
        [
            f"**Change:** {room.esc(phrases.change_line(evidence))}",
            *(f"**In the diff:** {room.esc(line)}" for line in phrases.diff_lines(evidence)),
            f"**Judgment coverage:** {phrases.coverage_line(evidence.coverage)}",
            f"**Test set:** {room.esc(phrases.measured_line(evidence))}",
            *(f"**Budgets of the project's own:** {esc(line)}" for line in _own_budgets(review)),
        ],
        ["### Aggregate", "", *_aggregate_table(evidence)],
        *_mode_section(evidence, room),
        ["### Per-query (significant changes only)", "", *_query_table(evidence, room)],
        *_further_section(evidence, room),
        ["### Unrated check", "", *(f"- {room.esc(x)}" for x in phrases.unrated_lines(review))],
        *_latency_section(evidence),
        *_judge_section(evidence, room),
        *_correction_section(evidence, room),
        [
            "### Verdict",
            "",
            f"{_mark(review)} — {room.esc(review.headline)}",
        ],
        *_action_section(review, room),
        *loser_sections(evidence, room.losers),
        *_finding_section(review, room),
        _folded("Rules", [*_rule_table(review, room)]),
        *_note_section(evidence, room),
    ]
    return "\n\n".join("\n".join(_hard_breaks(lines)) for lines in sections) + "\n"


def _mark(review: Review) -> str:
    return f"{phrases.MARKS[review.verdict]} **{review.verdict.word}**"


def _title(evidence: Evidence, room: _Room) -> str:
    sha = evidence.change.sha if evidence.change is not None else None
    if not sha:
        return "## Search relevance review"
    # Only text that cannot end a code span stands in one.
    whole = sha.isalnum() and len(sha) <= room.chars
    return f"## Search relevance review — {f'`{sha}`' if whole else room.esc(sha)}"


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>"]


def _more(left_out: int, what: str = "") -> list[str]:
    return [f"{left_out:,} more{what} in review.json."] if left_out else []


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
    if evidence.expected is not None:
        yield ""
        yield f"Expected {esc(phrases.expected_line(evidence.expected))}."


def _row(name: str, before: float, after: float, queries: str) -> str:
    delta = after - before
    shown = f"**{delta:+.4f}**" if delta < -_BOLD_DELTA else f"{delta:+.4f}"
    cell = f"`{name}`" if _IN_CODE.fullmatch(name) else esc(name)
    return f"| {cell} | {before:.4f} | {after:.4f} | {shown} | {queries} |"


def _own_budgets(review: Review) -> Iterator[str]:
    line = phrases.settings_line(review)
    if line is not None:
        yield line


def _query_table(evidence: Evidence, room: _Room) -> Iterator[str]:
    shown, _rest = phrases.significant(evidence)
    if not shown:
        yield f"No query moved by more than {phrases.SIGNIFICANT_DELTA}."
        return
    yield from _queries(evidence, shown, room)


def _further_section(evidence: Evidence, room: _Room) -> Iterator[list[str]]:
    """The other queries that moved, folded; those that broke first."""
    _shown, rest = phrases.significant(evidence)
    if rest:
        moved = counted(len(rest), "more query", "more queries")
        title = f"{moved} moved by more than {phrases.SIGNIFICANT_DELTA}"
        yield _folded(title, [*_queries(evidence, rest, room)])


def _queries(evidence: Evidence, queries: Sequence[QueryEvidence], room: _Room) -> Iterator[str]:
    filled = evidence.fill is not None
    kept, left_out = room.first_of(queries)
    yield f"| Query | Before | After | Delta | {'By a judge' if filled else 'Unrated'} |"
    yield "|---|---:|---:|---:|---:|"
    yield from (_query_row(q, filled=filled) for q in kept)
    if left_out:
        yield from ["", *_more(left_out, " queries" if left_out > 1 else " query")]


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


def _mode_section(evidence: Evidence, room: _Room) -> Iterator[list[str]]:
    kept, left_out = room.first_of(list(mode_rows(evidence)))
    if kept:
        yield [
            "### By mode",
            "",
            "| Mode | Metric | Before | After | Delta |",
            "|---|---|---:|---:|---:|",
            *(f"| {room.esc(name)} | {room.esc(metric)} | {' | '.join(rest)} |"
              for name, metric, *rest in kept),
            *(f"\n{line}" for line in _more(left_out)),
        ]  # fmt: skip


def _latency_section(evidence: Evidence) -> Iterator[list[str]]:
    rows = [f"| {name} | {was} | {now} |" for name, was, now in latency_rows(evidence)]
    if rows:
        yield ["### Latency", "", "| Percentile | Before | After |", "|---|---:|---:|", *rows]


def _judge_section(evidence: Evidence, room: _Room) -> Iterator[list[str]]:
    fill = phrases.fill_line(evidence)
    lines = [*([fill] if fill else []), *phrases.judge_lines(evidence)]
    if lines:
        yield ["### Filled grades", "", *_list(lines, room)]


def _list(lines: Sequence[str], room: _Room) -> list[str]:
    kept, left_out = room.first_of(lines)
    return [*(f"- {room.esc(line)}" for line in kept), *(f"- {x}" for x in _more(left_out))]


def _correction_section(evidence: Evidence, room: _Room) -> Iterator[list[str]]:
    lines = phrases.correction_lines(evidence)
    if lines:
        yield ["### Corrected by people's labels", "", *_list(lines, room)]


def _action_section(review: Review, room: _Room) -> Iterator[list[str]]:
    if review.actions:
        kept, left_out = room.first_of(review.actions)
        steps = [f"{i}. {room.esc(action)}" for i, action in enumerate(kept, start=1)]
        yield ["### Recommended actions", "", *steps, *(f"\n{x}" for x in _more(left_out))]


def _finding_section(review: Review, room: _Room) -> Iterator[list[str]]:
    """Every finding. A refusal has no severities beside its own: they would be verdicts."""
    refused = review.verdict is Verdict.REFUSE
    lines = [
        f"{f.rule}: {f.message}"
        if refused or f.severity is Verdict.APPROVE
        else f"{f.rule} ({f.severity.word}): {f.message}"
        for f in (*review.deciding, *review.withheld)
    ]
    if lines:
        yield _folded(f"Findings ({len(lines):,})", _list(lines, room))


def _rule_table(review: Review, room: _Room) -> Iterator[str]:
    yield "| Rule | State | What was measured |"
    yield "|---|---|---|"
    for o in review.outcomes:
        yield f"| {o.rule} | {_STATES[o.state]} | {room.esc(o.summary)} |"


def _note_section(evidence: Evidence, room: _Room) -> Iterator[list[str]]:
    notes = list(dict.fromkeys([*evidence.cross_checks, *evidence.warnings]))
    notes += [f"{what}: {where}" for what, where in evidence.inputs.items()]
    if notes:
        yield _folded("Notes", _list(notes, room))
