"""A review on the terminal, and what a fill would ask. I/O."""

from __future__ import annotations

from collections.abc import Iterator

from relgate.eval.cli.common import Output
from relgate.eval.gaps.plan import FillPlan, OpenPlan, plan_document
from relgate.eval.report import phrases
from relgate.eval.report.losers import loser_lines
from relgate.eval.report.supplied import mode_rows
from relgate.eval.review.types import Evidence, Review, RuleState
from relgate.judge.prices import PRICES_AS_OF

__all__ = ["plan_lines", "show_plan", "show_review", "show_review_plan"]


_SHOWN_FINDINGS = 10

_STATES = {
    RuleState.PASSED: "passed",
    RuleState.FAILED: "FAILED",
    RuleState.NOT_CHECKED: "not checked",
}


def show_review(output: Output, review: Review) -> None:
    """Change, coverage, tables, verdict and actions."""
    evidence = review.evidence
    _show_basis(output, review)
    _show_figures(output, review)
    output.table(
        "Rules",
        ["Rule", "State", "What was measured"],
        [[o.rule, _STATES[o.state], o.summary] for o in review.outcomes],
        text_columns=(0, 1, 2),
    )
    for found in review.deciding[:_SHOWN_FINDINGS]:
        output.line(f"Finding   {found.rule}: {found.message}")
    if len(review.deciding) > _SHOWN_FINDINGS:
        output.line(f"Finding   {len(review.deciding) - _SHOWN_FINDINGS:,} more in review.json")
    for found in review.withheld[:_SHOWN_FINDINGS]:
        output.line(f"Seen too  {found.rule}: {found.message}")
    for warning in evidence.warnings:
        output.line(f"Note      {warning}")
    output.line(f"{phrases.MARKS[review.verdict]} {review.verdict.word}: {review.headline}")
    for number, action in enumerate(review.actions, start=1):
        output.line(f"  {number}. {action}")


def _show_basis(output: Output, review: Review) -> None:
    """What the review rests on, a line each."""
    evidence = review.evidence
    output.line(f"Change    {phrases.change_line(evidence)}")
    for line in phrases.diff_lines(evidence):
        output.line(f"Diff      {line}")
    output.line(f"Coverage  {phrases.coverage_line(evidence.coverage)}")
    output.line(f"Test set  {phrases.measured_line(evidence)}")
    own = phrases.settings_line(review)
    if own is not None:
        output.line(f"Budgets   {own}")
    fill = phrases.fill_line(evidence)
    for line in [*([fill] if fill else []), *phrases.judge_lines(evidence)]:
        output.line(f"Filled    {line}")
    for line in phrases.correction_lines(evidence):
        output.line(f"Corrected {line}")


def _show_figures(output: Output, review: Review) -> None:
    """The means, the modes, and the queries that moved."""
    evidence = review.evidence
    output.line()
    _show_means(output, evidence)
    rows, rest = phrases.significant(evidence)
    if rows:
        output.table(
            "Queries that moved" + (f" ({len(rest):,} more in review.json)" if rest else ""),
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
    for line in loser_lines(evidence):
        if line not in review.actions:
            output.line(f"Loser     {line}")


def _show_means(output: Output, evidence: Evidence) -> None:
    """Every mean, by mode where modes are told apart, and under the judge's own doubt."""
    output.table(
        "Aggregate",
        ["Metric", "Before", "After", "Delta", "Queries"],
        [
            [
                a.name,
                f"{a.before:.4f}",
                f"{a.after:.4f}",
                f"{a.delta:+.4f}",
                "?" if a.n is None else str(a.n),
            ]
            for a in evidence.aggregates
        ],
    )
    if evidence.modes:
        columns = ["Mode", "Metric", "Before", "After", "Delta"]
        output.table("By mode", columns, list(mode_rows(evidence)), text_columns=(0, 1))
    if evidence.expected is not None:
        output.line(f"Expected  {phrases.expected_line(evidence.expected)}")


def show_plan(output: Output, plan: FillPlan) -> None:
    """What would be asked and what it would cost."""
    for line in plan_lines(plan):
        output.line(line)
    output.document(plan_document(plan))


def plan_lines(plan: FillPlan, what: str = "to grade") -> Iterator[str]:
    """What would be asked and what it would cost, a line each."""
    yield (
        f"{plan.pairs:,} pairs {what}, {plan.cached:,} of them in the cache: {plan.calls:,} calls"
    )
    if plan.no_text:
        yield f"{plan.no_text:,} pairs have no text in the catalogue and would not be asked"
    if plan.calls:
        yield (
            f"tokens sent {plan.prompt.least:,} to {plan.prompt.most:,}, "
            f"back {plan.reply.least:,} to {plan.reply.most:,} (thinking not included)"
        )
        cost = plan.cost_usd
        yield (
            "cost unknown: no price for this model; give it under [prices] in relgate.toml"
            if cost is None
            else f"cost {cost[0]:.4f} to {cost[1]:.4f} USD by prices of {PRICES_AS_OF}; check them"
        )


def show_review_plan(output: Output, plan: FillPlan | OpenPlan) -> None:
    """What a review's fill would ask for; of a verdict-driven one first, and at most."""
    if isinstance(plan, FillPlan):
        show_plan(output, plan)
        return
    if not plan.most.pairs:
        output.line("no unrated document within k is open to the judge")
    elif plan.first is None:
        output.line(
            f"no pair to grade: whatever the {plan.most.pairs:,} unrated within k are worth, the "
            f"verdict is {plan.verdict}"
        )
    else:
        for line in (
            *plan_lines(plan.first, "in the first wave"),
            "It goes on in waves until no grade left can change the verdict; at most:",
            *plan_lines(plan.most),
        ):
            output.line(line)
    output.document(
        {
            **plan_document(plan.most),
            "first_wave": None if plan.first is None else plan_document(plan.first),
            "settled": plan.verdict,
        }
    )
