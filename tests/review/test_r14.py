"""R14: a stratum's drop, beyond its budget and beyond chance; Holm over all strata tested."""

from __future__ import annotations

from math import inf, isnan, nan

import pytest

from relgate.eval.review.chance import strata_of
from relgate.eval.review.types import RuleState, Stratum, Verdict

PASSED, FAILED, NOT_CHECKED = RuleState.PASSED, RuleState.FAILED, RuleState.NOT_CHECKED


def stratum(delta: float, n: int = 30, p: float = 0.001, name: str = "billing") -> Stratum:
    return Stratum(name, 0.8, 0.8 + delta, n, p)


# --- strata of queries ---


def test_a_stratum_is_its_queries_scored_on_both_sides(query):
    queries = [
        query("a", 0.5, 0.3, strata=("billing", "locale de")),
        query("b", 0.7, 0.7, strata=("billing",)),
        query("c", 0.9, nan, strata=("billing",)),
        query("d", 0.1, 0.9),
    ]
    billing, german = strata_of(queries, seed=0)
    assert (billing.name, billing.n) == ("billing", 2)
    assert (billing.before, billing.after) == pytest.approx((0.6, 0.5))
    assert (german.name, german.n, german.p) == ("locale de", 1, 1.0)  # one sign: both are as far


def test_p_is_the_sign_flip_p(query):
    # deltas .1 -.05 .2 0 .15 .05 .1 -.1: 56 of 256 sign patterns are as far from 0
    deltas = [0.1, -0.05, 0.2, 0, 0.15, 0.05, 0.1, -0.1]
    queries = [query(f"q{i}", 0.5, 0.5 + d, strata=("s",)) for i, d in enumerate(deltas)]
    (found,) = strata_of(queries, seed=0)
    assert found.p == pytest.approx(56 / 256)


def test_a_delta_that_is_not_finite_is_r3s_and_spoils_no_stratum(query):
    queries = [query("a", inf, 0.5, strata=("s",)), query("b", 0.5, 0.4, strata=("s",))]
    (found,) = strata_of(queries, seed=0)
    assert (found.n, found.delta) == (1, pytest.approx(-0.1))


def test_a_stratum_without_a_score_is_there_and_empty(query):
    (found,) = strata_of([query("a", nan, nan, strata=("s",))], seed=0)
    assert found.n == 0
    assert isnan(found.p)


# --- the rule ---


@pytest.mark.parametrize(
    ("delta", "state"), [(0.1, PASSED), (-0.01, PASSED), (-0.0101, FAILED), (-0.3, FAILED)]
)
def test_a_drop_over_its_budget_and_beyond_chance_needs_work(check, evidence, many, delta, state):
    outcome = check("R14", evidence(*many(3), strata=(stratum(delta),)))
    assert outcome.state is state
    assert [f.severity for f in outcome.findings] == [Verdict.NEEDS_WORK] * (state is FAILED)


def test_a_finding_names_its_stratum_and_figures(check, evidence, many):
    (finding,) = check("R14", evidence(*many(3), strata=(stratum(-0.06, 40),))).findings
    assert "stratum billing dropped 0.8000 to 0.7400 (-0.0600, n 40)" in finding.message
    assert finding.figures["p_holm"] == 0.001


@pytest.mark.parametrize(("others", "state"), [(0, FAILED), (1, PASSED)])
def test_p_is_adjusted_for_every_stratum_tested(check, evidence, many, others, state):
    quiet = [stratum(0.0, p=0.9, name=f"s{i}") for i in range(others)]
    outcome = check("R14", evidence(*many(3), strata=(stratum(-0.06, p=0.03), *quiet)))
    assert outcome.state is state  # 0.03 alone, 0.06 of two


def test_a_drop_that_chance_explains_is_watched(check, evidence, many):
    outcome = check("R14", evidence(*many(3), strata=(stratum(-0.06, p=0.3),)))
    (note,) = outcome.findings
    assert (outcome.state, note.severity) == (PASSED, Verdict.APPROVE)
    assert note.message.startswith("watch: stratum billing")


def test_a_small_stratum_is_watched_only_and_does_not_count_in_holm(check, evidence, many):
    small = [stratum(-0.5, 29, p=0.0001, name=f"small{i}") for i in range(9)]
    outcome = check("R14", evidence(*many(3), strata=(stratum(-0.06, p=0.04), *small)))
    assert [f.severity for f in outcome.findings] == [Verdict.NEEDS_WORK, *[Verdict.APPROVE] * 9]
    assert "9 with fewer than 30 queries only watched" in outcome.summary


def test_only_small_strata_are_not_checked_and_still_told(check, evidence, many):
    outcome = check("R14", evidence(*many(3), strata=(stratum(-0.5, 29),)))
    assert (outcome.state, outcome.cap) == (NOT_CHECKED, None)
    assert "watch: stratum billing dropped" in outcome.summary


def test_without_strata_or_the_whole_set_it_is_not_checked(check, evidence, many):
    assert check("R14", evidence(*many(3))).state is NOT_CHECKED
    partial = evidence(*many(3), strata=(stratum(-0.5),), covers_all=False)
    assert check("R14", partial).state is NOT_CHECKED


def test_its_numbers_are_settings(check, evidence, many):
    found = evidence(*many(3), strata=(stratum(-0.06, 20, p=0.04),))
    assert check("R14", found, min_stratum_queries=20).state is FAILED
    assert check("R14", found, min_stratum_queries=20, stratum_drop=0.06).state is PASSED
    assert check("R14", found, min_stratum_queries=20, max_stratum_p=0.04).state is PASSED


# --- a whole review ---


def test_a_good_mean_does_not_hide_a_stratum(make_list, make_run, reviewed, outcome):
    """The guide's story: billing falls while the rest of the shop rises."""
    grades = {f"q{i}": {"a": 3, "b": 0} for i in range(300)}
    best, worst = ("a", "b"), ("b", "a")
    before = {q: best if i < 30 else worst for i, q in enumerate(grades)}
    after = {q: worst if i < 30 else best for i, q in enumerate(grades)}
    strata = {q: ("billing" if i < 30 else "rest",) for i, q in enumerate(grades)}
    done = reviewed(make_list(grades), make_run(before), make_run(after), strata=strata)
    (finding,) = outcome(done, "R14").findings
    assert done.evidence.main.delta > 0
    assert finding.figures["stratum"] == "billing"
    assert finding.figures["n"] == 30
    same = reviewed(make_list(grades), make_run(before), make_run(before), strata=strata)
    assert outcome(same, "R14").findings == ()


def test_a_p_equal_to_its_limit_is_watched(check, evidence, many):
    outcome = check("R14", evidence(*many(3), strata=(stratum(-0.06, p=0.05),)))
    assert [f.severity for f in outcome.findings] == [Verdict.APPROVE]


# --- budgets of a stratum's own ---


@pytest.mark.parametrize(
    ("budget", "state"), [(0.06, PASSED), (0.0599, FAILED), (0.005, FAILED), (0.5, PASSED)]
)
def test_a_stratum_may_have_a_budget_of_its_own(check, evidence, many, budget, state):
    found = evidence(*many(3), strata=(stratum(-0.06), stratum(-0.001, name="rest")))
    outcome = check("R14", found, stratum_budgets={"billing": budget})
    assert outcome.state is state
    assert all(f.figures["budget"] == budget for f in outcome.findings)


def test_a_budget_of_a_stratum_that_is_not_there_is_said(check, evidence, many):
    budgets = {"stratum_budgets": {"biling": 0.02}}
    with_strata = evidence(*many(3), strata=(stratum(0.0),))
    for found in (with_strata, evidence(*many(3))):
        said = check("R14", found, **budgets).summary
        assert said.endswith("; budgets name strata that are not there: biling")


@pytest.mark.parametrize(("delta", "p"), [(-0.06, nan), (nan, nan), (nan, 0.001)])
def test_a_figure_that_is_no_number_fails_closed(check, evidence, many, delta, p):
    outcome = check("R14", evidence(*many(3), strata=(stratum(delta, p=p),)))
    assert [f.severity for f in outcome.findings] == [Verdict.NEEDS_WORK]


def test_a_stratum_without_a_scored_query_says_nothing(check, evidence, many):
    outcome = check("R14", evidence(*many(3), strata=(stratum(nan, 0, nan), stratum(0.0))))
    assert (outcome.state, outcome.findings) == (PASSED, ())
