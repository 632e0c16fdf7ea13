"""One pure function a rule, and the table of them. Ids are those of the rule book. Pure."""

from relgate.eval.review.rules import (
    r01_scope,
    r02_comparable,
    r03_finite,
    r04_aggregate,
    r05_carnage,
    r06_head,
    r07_masked,
    r08_unrated,
    r09_latency,
    r10_ground_truth,
    r11_filters,
    r12_failures,
    r13_empties,
    r14_strata,
    r15_judge,
    r16_honesty,
    r17_noise,
    r18_secondary,
    r19_errors,
)
from relgate.eval.review.rules.base import Rule

__all__ = ["RULES", "Rule"]

RULES: tuple[Rule, ...] = (
    r01_scope.RULE,
    r02_comparable.RULE,
    r03_finite.RULE,
    r04_aggregate.RULE,
    r05_carnage.RULE,
    r06_head.RULE,
    r07_masked.RULE,
    r08_unrated.RULE,
    r09_latency.RULE,
    r10_ground_truth.RULE,
    r11_filters.RULE,
    r12_failures.RULE,
    r13_empties.RULE,
    r14_strata.RULE,
    r15_judge.RULE,
    r16_honesty.RULE,
    r17_noise.RULE,
    r18_secondary.RULE,
    r19_errors.RULE,
)
"""In the order in which they run and are shown."""
