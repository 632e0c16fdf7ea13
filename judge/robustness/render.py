"""A judge's robustness as rows, as Markdown and as JSON. Pure; holds no text from data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from relgate.judge.robustness.rates import Rate, Verdict
from relgate.judge.robustness.types import AttackCheck, PositionCheck, Robustness

__all__ = [
    "POSITION_COLUMNS",
    "SUMMARY_COLUMNS",
    "position_rows",
    "remarks",
    "robustness_json",
    "robustness_markdown",
    "summary_rows",
]

SUMMARY_COLUMNS = ("Check", "Rate", "95 % interval", "Limit", "n", "Failed", "Verdict")
POSITION_COLUMNS = ("Position", "Departs from usual", "95 % interval", "Mean grade")

_MEANINGS: Mapping[str, str] = {
    "positions": "grade departs with the order",
    "repeats": "grade departs when asked again",
    "batch_size": "grade differs alone and in a batch",
}
_HOW_TO_READ = (
    "A rate above its limit is flagged. Not proven: the interval reaches above the limit, so more "
    "items are needed to be sure. Attack: share of texts, irrelevant when clean, that the judge "
    "calls relevant once attacked. Failed gradings are in no rate."
)
_STEPS = {"positions": "Order", "repeats": "Repeat", "batch_size": "Batch size"}


def summary_rows(found: Robustness) -> list[list[str]]:
    """One row a check and one a kind of attack; the cells are text."""
    rows: list[list[str]] = []
    for name, check in found.checks.items():
        if isinstance(check, AttackCheck):
            failed = {row.kind: row.failed for row in check.rows}
            rows.append(["Innocent text, clean", *_cells(check.clean), "", str(check.clean.n), "",
                         ""])  # fmt: skip
            rows += [
                [f"Attack: {row.kind}", *_cells(row.rate), _percent(check.limit),
                 str(row.rate.n), str(failed[row.kind]), _said(row.verdict, row.rate, check.limit)]
                for row in check.rows
            ]  # fmt: skip
        else:
            rows.append([
                f"{_STEPS[name]}: {_MEANINGS[name]}", *_cells(check.rate), _percent(check.limit),
                str(check.rate.n), str(sum(check.errors.values())),
                _said(check.verdict, check.rate, check.limit),
            ])  # fmt: skip
    return rows


def position_rows(check: PositionCheck) -> list[list[str]]:
    """One row a place in the prompt."""
    return [
        [str(row.position), *_cells(row.rate),
         "-" if row.mean_grade is None else f"{row.mean_grade:.2f}"]
        for row in check.by_position
    ]  # fmt: skip


def remarks(found: Robustness) -> list[str]:
    """What the rows do not say: places that stand out, checks not made, failures by error."""
    return [*_about_places(found.positions), *_about_size(found), *_about_errors(found),
            *(f"{name.replace('_', ' ')}: not checked: {why}"
              for name, why in found.not_applied.items())]  # fmt: skip


def robustness_json(found: Robustness) -> dict[str, Any]:
    """All figures, for machines."""
    return {"verdict": found.verdict, **asdict(found)}


def robustness_markdown(found: Robustness) -> str:
    """The result as a page of Markdown."""
    parts = [
        f"# Judge check: {found.verdict}",
        f"Judge version `{found.version}`, fingerprint `{found.fingerprint}`.",
        _table(SUMMARY_COLUMNS, summary_rows(found)),
        _HOW_TO_READ,
        f"Seed {found.seed}, attacks `{found.attack_set}`, suspicion rules `{found.suspicion}`.",
    ]
    if said := remarks(found):
        parts.append("\n".join(f"- {line}" for line in said))
    if found.positions is not None:
        parts += ["## By position", _table(POSITION_COLUMNS, position_rows(found.positions))]
    return "\n\n".join(parts) + "\n"


def _about_places(check: PositionCheck | None) -> list[str]:
    if check is None or check.stands_out is None or check.excess is None or not check.excess:
        return []
    points = f"{100 * check.excess:.1f} points"
    chance = "" if check.p_value is None else f" (p = {check.p_value:.3f} if places did not matter)"
    return [f"grades depart most at position {check.stands_out}: {points} above elsewhere{chance}"]


def _about_size(found: Robustness) -> list[str]:
    size = found.batch_size
    if size is None or not size.mean_shift:
        return []
    return [
        (
            f"in a batch of {size.batch_size} grades are {abs(size.mean_shift):.2f} "
            f"{'higher' if size.mean_shift > 0 else 'lower'} than alone, on average; a judge that "
            "flips shows about twice its repeat rate there"
        )
    ]


def _about_errors(found: Robustness) -> list[str]:
    lines: list[str] = []
    for name, check in found.checks.items():
        if check.errors:
            kinds = ", ".join(f"{kind} {n}" for kind, n in check.errors.items())
            total = sum(check.errors.values())
            lines.append(
                f"{name.replace('_', ' ')}: {total} of {check.asked} gradings failed ({kinds})"
            )
    return lines


def _cells(rate: Rate) -> list[str]:
    if rate.point is None or rate.low is None or rate.high is None:
        return ["-", "-"]
    return [_percent(rate.point), f"{100 * rate.low:.1f} to {100 * rate.high:.1f}"]


def _said(verdict: Verdict, rate: Rate, limit: float) -> str:
    if verdict is Verdict.FLAGGED:
        return "FLAGGED"
    if verdict is Verdict.UNMEASURED:
        return "not measured"
    return "within" if rate.proves(limit) else "within, not proven"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = list(columns)
    lines = [names, ["---"] * len(names), *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
