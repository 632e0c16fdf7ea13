"""R11: a filter change keeps its golden cases and its strategy."""

from __future__ import annotations

import pytest

from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.eval.review.filters import CheckedCase, check_cases
from relgate.eval.review.supplied import FilterCase, FilterStrategy, Observed
from relgate.eval.review.types import RuleState, Verdict

NONE, ONE = Observed(0, ()), Observed(1, ("a",))


def case(expect="non-empty", before=ONE, after=ONE, **rest) -> FilterCase:
    return FilterCase("red shoe", "brand=acme", expect, before, after, **rest)


def held(*, before: bool | None, after: bool | None) -> CheckedCase:
    return CheckedCase(case(), before, after)


HOLDS = held(before=True, after=True)


def filtered(before="pre", after="pre", **rest) -> ChangeDescription:
    return ChangeDescription(
        types=(ChangeType.FILTER_LOGIC,), filters=FilterStrategy(before, after, **rest)
    )


# --- what a case expects ---


@pytest.mark.parametrize(
    ("expect", "seen", "holds"),
    [
        ("non-empty", Observed(2), True),
        ("non-empty", Observed(0), False),
        ("empty", Observed(0), True),
        ("empty", Observed(1), False),
        (">=1 grade>=2", Observed(0), False),
        (">=1 grade>=2", Observed(3), None),  # a number has no grades
        (">=1 grade>=2", Observed(2, ("weak", "good")), True),
        (">=1 grade>=2", Observed(2, ("weak", "bad")), False),
        (">=1 grade>=2", Observed(2, ("weak", "unrated")), None),  # it may be the good one
        (">=1 grade>=2", Observed(2, ("unrated", "good")), True),
        ("non-empty", None, None),
    ],
)
def test_a_case_holds_fails_or_cannot_be_told(make_list, expect, seen, holds):
    judged = make_list({"red shoe": {"good": 2, "weak": 1, "bad": 0}})
    (checked,) = check_cases([case(expect, seen, seen)], judged)
    assert (checked.held_before, checked.held_after) == (holds, holds)


def test_grades_of_the_case_win_over_the_list(make_list):
    good = case(">=1 grade>=2", grades={"a": 3})
    bad = case(">=1 grade>=2", grades={"a": 0})
    checked = check_cases([good, bad], make_list({"red shoe": {"a": 1}}))
    assert [c.held_after for c in checked] == [True, False]


def test_without_a_list_grades_cannot_be_told():
    (checked,) = check_cases([case(">=1 grade>=2")], None)
    assert checked.held_after is None


# --- the rule ---


@pytest.mark.parametrize(
    ("before", "after", "severity"),
    [
        (True, True, None),
        (False, True, None),
        (None, True, None),
        (True, False, Verdict.BLOCK),
        (None, False, Verdict.BLOCK),  # nothing says that it was broken before
        (False, False, Verdict.NEEDS_WORK),
        (True, None, Verdict.NEEDS_WORK),
    ],
)
def test_a_case_that_broke_blocks(check, evidence, many, *, before, after, severity):
    cases = (HOLDS, held(before=before, after=after))
    outcome = check("R11", evidence(*many(3), change=filtered(), filter_cases=cases))
    assert [f.severity for f in outcome.findings] == ([] if severity is None else [severity])
    assert outcome.state is (RuleState.PASSED if severity is None else RuleState.FAILED)


def test_a_broken_case_is_named_with_its_filter_and_counts(check, evidence, many):
    broken = CheckedCase(
        case(before=Observed(4), after=Observed(0)), held_before=True, held_after=False
    )
    (finding,) = check(
        "R11", evidence(*many(3), change=filtered(), filter_cases=(broken,))
    ).findings
    assert '1 filter case broke: "red shoe" with brand=acme' in finding.message
    assert "(expected non-empty, 4 hits before, 0 hits after)" in finding.message


@pytest.mark.parametrize(
    ("before", "after", "intended", "severity"),
    [
        ("pre", "pre", False, None),
        ("pre", "PRE", False, None),
        ("pre", "post", True, None),
        ("pre", "post", False, Verdict.BLOCK),
        ("post", "pre", False, Verdict.BLOCK),
        (None, "pre", False, Verdict.NEEDS_WORK),
        ("pre", None, True, Verdict.NEEDS_WORK),
    ],
)
def test_a_strategy_changes_only_with_intent(
    check, evidence, many, *, before, after, intended, severity
):
    change = filtered(before, after, intended=intended)
    outcome = check("R11", evidence(*many(3), change=change, filter_cases=(HOLDS,)))
    assert [f.severity for f in outcome.findings] == ([] if severity is None else [severity])
    if severity is Verdict.BLOCK:
        (finding,) = outcome.findings
        assert f"changed from {before} to {after} without intent" in finding.message
        assert finding.figures == {"before": before, "after": after}


def test_the_line_counts_the_cases_that_hold(check, evidence, many):
    untold, broken = held(before=True, after=None), held(before=True, after=False)
    cases = (HOLDS, broken, untold, held(before=False, after=False))
    outcome = check("R11", evidence(*many(3), change=filtered("pre", None), filter_cases=cases))
    assert outcome.summary == "1 of 4 filter cases holds, strategy pre to ?"


def test_no_cases_and_no_strategy_are_two_things_missing(check, evidence, many):
    change = ChangeDescription(types=(ChangeType.FILTER_LOGIC,))
    outcome = check("R11", evidence(*many(3), change=change))
    assert [f.severity for f in outcome.findings] == [Verdict.NEEDS_WORK] * 2


@pytest.mark.parametrize(
    "change", [None, ChangeDescription(), ChangeDescription(types=(ChangeType.SYNONYMS,))]
)
def test_other_changes_are_not_checked_and_cap_nothing(check, evidence, many, change):
    broken = (held(before=True, after=False),)
    outcome = check("R11", evidence(*many(3), change=change, filter_cases=broken))
    assert (outcome.state, outcome.cap) == (RuleState.NOT_CHECKED, None)


def test_a_long_list_of_cases_is_counted(check, evidence, many):
    def listed(n: int) -> str:
        found = evidence(
            *many(3), change=filtered(), filter_cases=[held(before=True, after=False)] * n
        )
        return check("R11", found).findings[0].message

    assert listed(7).endswith("and 2 more")
    assert "more" not in listed(5)
