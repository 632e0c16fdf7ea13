"""A review on the terminal and in files. I/O."""

from __future__ import annotations

import json
from pathlib import Path

from relgate.eval.cli.common import Output
from relgate.eval.lists.write import write_list
from relgate.eval.report import phrases
from relgate.eval.report.document import review_document
from relgate.eval.report.markdown import review_markdown
from relgate.eval.review.types import Review, RuleState
from relgate.eval.workflow import Reviewed

__all__ = ["REVIEW_FILES", "show_review", "write_review"]

REVIEW_FILES = ("review.json", "review.md", "judgments.jsonl")
"""What a review writes into its folder; the last one only after a fill."""

_STATES = {RuleState.PASSED: "passed", RuleState.FAILED: "FAILED", RuleState.NOT_CHECKED: "-"}


def show_review(output: Output, review: Review) -> None:
    """Change, coverage, tables, verdict and actions."""
    evidence = review.evidence
    output.line(f"Change    {phrases.change_line(evidence)}")
    output.line(f"Coverage  {phrases.coverage_line(evidence.coverage)}")
    output.line(f"Test set  {phrases.measured_line(evidence)}")
    fill = phrases.fill_line(evidence)
    for line in [*([fill] if fill else []), *phrases.judge_lines(evidence)]:
        output.line(f"Filled    {line}")
    output.line()
    output.table(
        "Aggregate",
        ["Metric", "Before", "After", "Delta"],
        [
            [a.name, f"{a.before:.4f}", f"{a.after:.4f}", f"{a.delta:+.4f}"]
            for a in evidence.aggregates
        ],
    )
    rows, left_out = phrases.significant(evidence)
    if rows:
        output.table(
            "Queries that moved" + (f" ({left_out} more in the report)" if left_out else ""),
            ["Query", "Before", "After", "Delta", "Unrated"],
            [
                [
                    q.query.shown + (" (head)" if q.head else ""),
                    f"{q.before:.2f}",
                    f"{q.after:.2f}",
                    f"{q.delta:+.2f}",
                    f"{q.now.unrated}/{q.now.returned}" if q.now.unrated_known else "?",
                ]
                for q in rows
            ],
        )
    output.table(
        "Rules",
        ["Rule", "State", "What was measured"],
        [[o.rule, _STATES[o.state], o.summary] for o in review.outcomes],
        text_columns=(0, 1, 2),
    )
    for warning in evidence.warnings:
        output.line(f"Note      {warning}")
    output.line(f"{phrases.MARKS[review.verdict]} {review.verdict.word}: {review.headline}")
    for number, action in enumerate(review.actions, start=1):
        output.line(f"  {number}. {action}")


def write_review(output: Output, folder: Path, done: Reviewed, *, filled: bool) -> None:
    """Writes review.json and review.md, and after a fill the list it was made on."""
    document = review_document(done.review)
    output.file(
        folder / "review.json",
        json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n",
    )
    output.file(folder / "review.md", review_markdown(done.review))
    if filled:
        write_list(folder / "judgments.jsonl", done.judgments, format="jsonl")
    names = REVIEW_FILES if filled else REVIEW_FILES[:-1]
    output.remark(f"wrote {', '.join(names)} to {folder}")
