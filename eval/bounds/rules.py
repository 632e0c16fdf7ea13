"""Each rule over every fill: does it pass for all of them, fail for all of them, or is it open?

Pure. A rule that reads no grade stands as it is. R3 to R7, R14, R17 and R18 are bounded here. R8
asks what would be unrated after a fill. A rule not known here may read anything: it counts as open
while a grade is open. So the range is never too narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np
from numpy.typing import NDArray

from relgate.eval.bounds.chance import noise_range, strata_range
from relgate.eval.bounds.marks import Marks
from relgate.eval.bounds.means import mean_bounds, share_bounds
from relgate.eval.bounds.ratio import Interval
from relgate.eval.bounds.table import BoundsTable
from relgate.eval.review.rules.r04_aggregate import movement
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import (
    TOLERANCE,
    RuleOutcome,
    RuleState,
    Verdict,
)

__all__ = ["Standing", "standings", "verdict_range"]

_READS_NO_GRADE = frozenset({"R2", "R8", "R9", "R10", "R12", "R13", "R15", "R16", "R19"})

_Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Standing:
    """A rule over every fill.

    Attributes:
        rule: its id.
        least: the mildest verdict that some fill leaves it at.
        most: the worst.
    """

    rule: str
    least: Verdict
    most: Verdict

    @property
    def open(self) -> bool:
        """Whether fills differ in what they make of it."""
        return self.least is not self.most

    @property
    def word(self) -> str:
        """`passes for every fill`, `fails for every fill`, or `open`."""
        if self.most is Verdict.APPROVE:
            return "passes for every fill"
        return "open" if self.least is Verdict.APPROVE else "fails for every fill"


def verdict_range(ranges: Sequence[Standing]) -> tuple[Verdict, Verdict]:
    """The mildest and the worst verdict that a fill can lead to."""
    least = max((s.least for s in ranges), default=Verdict.APPROVE)
    return least, max((s.most for s in ranges), default=Verdict.APPROVE)


def standings(
    table: BoundsTable,
    marks: Marks,
    settings: ReviewSettings,
    outcomes: Sequence[RuleOutcome],
) -> tuple[Standing, ...]:
    """Every rule's range over all grades that stay possible, of open and of doubted documents.

    Args:
        table: the queries' bounds.
        marks: what the rules know of them.
        settings: the thresholds.
        outcomes: the rules as they stand now, R8 as after a fill.
    """
    if not table.moving.any():
        return tuple(_fixed(o) for o in outcomes)
    return tuple(_standing(o, table, marks, settings) for o in outcomes)


def _fixed(outcome: RuleOutcome) -> Standing:
    found = [f.severity for f in outcome.findings]
    own = max(found, default=Verdict.APPROVE)
    verdict = own if outcome.cap is None else max(own, outcome.cap)
    return Standing(outcome.rule, verdict, verdict)


def _standing(
    outcome: RuleOutcome, table: BoundsTable, marks: Marks, settings: ReviewSettings
) -> Standing:
    bound = _BOUNDED.get(outcome.rule)
    if bound is not None:
        return Standing(outcome.rule, *bound(table, marks, settings))
    if outcome.rule in _READS_NO_GRADE or _reads_none_here(outcome, table, marks):
        return _fixed(outcome)
    return Standing(outcome.rule, Verdict.APPROVE, Verdict.REFUSE)


def _reads_none_here(outcome: RuleOutcome, table: BoundsTable, marks: Marks) -> bool:
    """R1 looks at grades only where no query is scored; R11 in some cases."""
    if outcome.rule == "R1":
        return bool(table.sure.any()) or outcome.state is RuleState.NOT_CHECKED
    if outcome.rule == "R11":
        return not marks.graded_cases
    return outcome.state is RuleState.NOT_CHECKED and not table.maybe.any()


def _mean(table: BoundsTable, values: NDArray[np.float64]) -> Interval:
    return mean_bounds(values[:, 0], values[:, 1], table.sure, table.maybe)


def _finite(table: BoundsTable, marks: Marks, _settings: ReviewSettings) -> _Range:
    """R3 refuses a file that contradicts itself, and when no query has an ideal.

    Every other value is finite by construction.
    """
    least = not (table.ideal | table.maybe_ideal).any()
    return (
        _refuse(marks.contradicted or least),
        _refuse(marks.contradicted or not table.ideal.any()),
    )


def _refuse(when: bool) -> Verdict:  # noqa: FBT001 - a condition
    return Verdict.REFUSE if when else Verdict.APPROVE


def _aggregate(table: BoundsTable, marks: Marks, settings: ReviewSettings) -> _Range:
    def severity(deltas: Sequence[float]) -> Verdict:
        moved = movement(deltas, settings)
        if moved == "dropped":
            return Verdict.BLOCK
        return Verdict.APPROVE if moved == "improved" or marks.neutral else Verdict.NEEDS_WORK

    # With binary labels MRR and P@k both gate: a drop of either blocks, a gain of either is one.
    gates = [table.mrr, table.precision] if table.binary else [table.ndcg]
    means = [_mean(table, gate) for gate in gates]
    return _widened(
        severity([mean.high for mean in means]), severity([mean.low for mean in means]), table
    )


def _widened(least: Verdict, most: Verdict, table: BoundsTable) -> _Range:
    """Where every query may drop out, the mean may not be a number, and a rule fails closed."""
    return least, most if table.sure.any() else max(most, Verdict.BLOCK)


def _carnage(table: BoundsTable, _marks: Marks, settings: ReviewSettings) -> _Range:
    limit = -settings.query_drop - TOLERANCE
    must, can = table.primary[:, 1] < limit, table.primary[:, 0] < limit
    share = share_bounds(must, can, table.sure, table.maybe)
    bar = settings.max_dropped_share - TOLERANCE
    fails = bool((must & table.sure).any()) and share.low >= bar
    may = bool((can & (table.sure | table.maybe)).any()) and share.high >= bar
    return _fails(fails), _fails(may or not table.sure.any())


def _masked(table: BoundsTable, _marks: Marks, settings: ReviewSettings) -> _Range:
    must, can = table.primary[:, 1] < -TOLERANCE, table.primary[:, 0] < -TOLERANCE
    share = share_bounds(must, can, table.sure, table.maybe)
    mean = _mean(table, table.primary)
    bar = settings.max_masked_share + TOLERANCE
    fails = mean.low > TOLERANCE and share.low > bar
    may = mean.high > TOLERANCE and share.high > bar
    return _fails(fails), _fails(may or not table.sure.any())


def _fails(when: bool) -> Verdict:  # noqa: FBT001 - a condition
    return Verdict.NEEDS_WORK if when else Verdict.APPROVE


def _head(table: BoundsTable, marks: Marks, settings: ReviewSettings) -> _Range:
    must, can = head_failures(table, marks, settings)
    return _fails(marks.missing or bool(must.any())), _fails(marks.missing or bool(can.any()))


def head_failures(
    table: BoundsTable, marks: Marks, settings: ReviewSettings
) -> tuple[_Bools, _Bools]:
    """Head and critical queries that R6 names in every fill, and in some fill; shape (n,)."""
    marked, limit = marks.head | marks.critical, -settings.head_drop - TOLERANCE
    drops = marks.head & table.sure & (table.primary[:, 1] < limit)
    may_drop = marks.head & (table.primary[:, 0] < limit)
    must = drops | (marked & (table.falls[:, 0] | ~(table.sure | table.maybe)))
    return must, must | may_drop | (marked & (table.falls[:, 1] | ~table.sure))


def _secondary(table: BoundsTable, marks: Marks, settings: ReviewSettings) -> _Range:
    least, most = _metrics_drop(table, settings)
    return least, max(most, Verdict.NEEDS_WORK) if marks.modes else most


def _metrics_drop(table: BoundsTable, settings: ReviewSettings) -> _Range:
    if table.binary:  # MRR and P@k are R4's
        return _widened(Verdict.APPROVE, Verdict.APPROVE, table)
    budgets = [
        (table.precision, settings.precision_soft_drop, settings.precision_hard_drop),
        (table.mrr, settings.mrr_soft_drop, settings.mrr_hard_drop),
    ]
    least = most = Verdict.APPROVE
    for values, soft, hard in budgets:
        mean = _mean(table, values)
        least = max(least, _drop(mean.high, soft, hard))
        most = max(most, _drop(mean.low, soft, hard))
    return _widened(least, most, table)


def _drop(delta: float, soft: float, hard: float) -> Verdict:
    if isnan(delta) or delta >= -soft - TOLERANCE:
        return Verdict.APPROVE
    return Verdict.NEEDS_WORK if delta >= -hard - TOLERANCE else Verdict.BLOCK


_Range = tuple[Verdict, Verdict]
_Bound = Callable[[BoundsTable, Marks, ReviewSettings], _Range]

_BOUNDED: Mapping[str, _Bound] = {
    "R3": _finite,
    "R4": _aggregate,
    "R5": _carnage,
    "R6": _head,
    "R7": _masked,
    "R14": strata_range,
    "R17": noise_range,
    "R18": _secondary,
}
