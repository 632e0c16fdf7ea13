"""Rules over every fill: what passes for all, fails for all, is open, and what to ask next."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relgate.eval.bounds.marks import Marks
from relgate.eval.bounds.order import next_documents, open_rules, stakes
from relgate.eval.bounds.pool import Pool, make_pool
from relgate.eval.bounds.rules import Standing, standings, verdict_range
from relgate.eval.bounds.table import BoundsTable, bound_query, tabulate
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Finding, RuleOutcome, RuleState, Verdict

CONVENTIONS = Conventions()
SETTINGS = ReviewSettings()
GRADES = {"a": 3, "b": 0}


def table_of(*pools: Pool) -> BoundsTable:
    rows = [bound_query(pool, CONVENTIONS, top_rank=3) for pool in pools]
    return tabulate(pools, rows, CONVENTIONS)


def pool(before: str, after: str, grades: dict[str, int] | None = None) -> Pool:
    return make_pool(GRADES if grades is None else grades, before, after, CONVENTIONS, max_grade=3)


def standing(rule: str, table: BoundsTable, *heads: int, **marks: Any) -> Standing:
    n = len(table.open)
    head = np.isin(np.arange(n), heads)
    outcome = RuleOutcome(rule, RuleState.PASSED, "")
    known = Marks(head=head, critical=np.zeros(n, np.bool_), **marks)
    return standings(table, known, SETTINGS, [outcome])[0]


def test_a_loss_that_nothing_can_mend_fails_for_every_fill() -> None:
    """a is gone. The best that x at rank 2 can do is 0.39 of 1."""
    table = table_of(*[pool("ab", "bx")] * 20)
    for rule in ("R4", "R5"):
        assert standing(rule, table).word == "fails for every fill"
    assert standing("R4", table).least is Verdict.BLOCK
    assert standing("R7", table).word == "passes for every fill"  # the mean cannot rise


def test_what_may_go_either_way_is_open() -> None:
    """x before a: worthless it costs 0.37, as good as a it brings 0.39."""
    table = table_of(*[pool("ab", "xa")] * 20)
    found = standing("R4", table)
    assert (found.word, found.least, found.most) == ("open", Verdict.APPROVE, Verdict.BLOCK)
    assert standing("R5", table).word == "open"


def test_a_mean_that_can_only_rise_passes_where_no_change_was_wanted() -> None:
    """x takes the place of the worthless b."""
    table = table_of(pool("ab", "ab"), pool("ab", "ax"))
    assert standing("R4", table, neutral=True).word == "passes for every fill"
    assert standing("R4", table).most is Verdict.NEEDS_WORK  # it may stay flat


def test_a_head_query_that_must_drop_fails_and_one_that_may_is_open() -> None:
    table = table_of(pool("ab", "bx"), pool("ab", "xa"), pool("ab", "ax"))
    assert standing("R6", table, 0).word == "fails for every fill"
    assert standing("R6", table, 1).word == "open"
    assert standing("R6", table).word == "passes for every fill"
    assert standing("R6", table, missing=True).word == "fails for every fill"


def test_a_query_that_only_a_fill_can_score_leaves_r3_open() -> None:
    table = table_of(pool("xy", "yx", {}))
    assert standing("R3", table).word == "open"
    assert standing("R3", table_of(pool("xy", "yx", {}), pool("ab", "xa"))).word == (
        "passes for every fill"
    )


@pytest.mark.parametrize("rule", ["R2", "R9", "R12", "R15"])
def test_a_rule_that_reads_no_grade_stands_as_it_is(rule: str) -> None:
    found = [Finding(rule, severity, "") for severity in (Verdict.NEEDS_WORK, Verdict.BLOCK)]
    outcomes = [
        RuleOutcome(rule, RuleState.FAILED, "", tuple(found)),
        RuleOutcome(rule, RuleState.NOT_CHECKED, "", cap=Verdict.NEEDS_WORK),
        RuleOutcome(rule, RuleState.PASSED, "", (Finding(rule, Verdict.APPROVE, "a note"),)),
    ]
    table = table_of(pool("ab", "xa"))
    marks = Marks(head=np.zeros(1, np.bool_), critical=np.zeros(1, np.bool_))
    assert standings(table, marks, SETTINGS, outcomes) == tuple(
        Standing(rule, verdict, verdict)
        for verdict in (Verdict.BLOCK, Verdict.NEEDS_WORK, Verdict.APPROVE)
    )


def test_where_no_ideal_is_0_a_query_with_any_judgment_counts_whatever_the_fill() -> None:
    zero = Conventions(no_ideal="zero")
    pools = [make_pool(g, "ab", "ba", zero, max_grade=3) for g in ({"a": 0}, {"a": 3}, {})]
    table = tabulate(pools, [bound_query(p, zero, top_rank=3) for p in pools], zero)
    assert table.sure.tolist() == [True, True, False]
    # by hand: b above 0 moves up from rank 2, 1 - 1 / log2(3); b at 0 leaves no ideal, so 0 to 0
    assert table.ndcg[0] == pytest.approx([0, 0.36907], abs=1e-5)
    assert table_of(pool("ab", "ba", {"a": 0})).ndcg[0] == pytest.approx([0.36907] * 2, abs=1e-5)


def test_a_rule_that_is_not_known_is_open_while_a_grade_is() -> None:
    assert standing("R99", table_of(pool("ab", "xa"))).most is Verdict.REFUSE
    assert standing("R99", table_of(pool("ab", "ab"))).word == "passes for every fill"


def test_significance_is_bounded_where_it_can_gate() -> None:
    """Each of 30 queries gains: x at rank 1 in the place of the worthless b, or of a itself."""
    gains, either = [pool("ba", "ab")] * 29, pool("ab", "xa")
    assert standing("R17", table_of(*gains, either)).word == "passes for every fill"
    assert standing("R17", table_of(*gains, either), improve=True).word == "passes for every fill"
    lost = table_of(*[pool("ba", "xa")] * 30)  # a stays second; x is worthless or as good
    assert standing("R17", lost, improve=True).most is Verdict.NEEDS_WORK
    few = table_of(*[pool("ba", "xa")] * 29)
    assert standing("R17", few, improve=True).word == "passes for every fill"  # not checked


def test_significance_is_open_while_the_number_of_queries_is() -> None:
    table = table_of(*[pool("ba", "ab")] * 30, pool("xy", "yx", {}))
    assert standing("R17", table, improve=True).word == "open"


def test_a_stratum_that_must_drop_fails_and_one_that_cannot_passes() -> None:
    table = table_of(*[pool("ab", "bx")] * 30, *[pool("ba", "ab")] * 30)
    first = np.arange(60) < 30
    assert standing("R14", table, strata={"u": first}).word == "fails for every fill"
    assert standing("R14", table, strata={"v": ~first}).word == "passes for every fill"
    assert standing("R14", table, strata={"u": first, "v": ~first}).word == "fails for every fill"
    assert standing("R14", table, strata={"few": np.arange(60) < 29}).word == (
        "passes for every fill"
    )
    assert standing("R14", table_of(*[pool("ab", "xa")] * 30), strata={"u": first[:30]}).word == (
        "open"
    )
    assert standing("R14", table).word == "passes for every fill"  # no strata


def test_filter_cases_are_open_only_where_they_ask_for_a_grade() -> None:
    table = table_of(pool("ab", "xa"))
    assert standing("R11", table).word == "passes for every fill"
    assert standing("R11", table, graded_cases=True).word == "open"


def test_no_fill_mends_a_file_that_contradicts_itself() -> None:
    table = table_of(pool("ab", "xa"))
    assert standing("R3", table, contradicted=True).word == "fails for every fill"


def test_a_rule_below_the_verdict_cannot_change_it() -> None:
    ranges = (
        Standing("R4", Verdict.BLOCK, Verdict.BLOCK),
        Standing("R5", Verdict.APPROVE, Verdict.NEEDS_WORK),
    )
    assert verdict_range(ranges) == (Verdict.BLOCK, Verdict.BLOCK)
    assert open_rules(ranges) == ()
    assert open_rules(ranges[1:]) == ("R5",)


def test_only_queries_that_an_open_rule_waits_for_have_a_stake() -> None:
    """R5 alone is open: the first query must drop, the last cannot; the one between may."""
    pools = [pool("ab", "bx"), pool("ab", "xa"), pool("ab", "ax")]
    table = table_of(*pools)
    marks = Marks(head=np.zeros(3, np.bool_), critical=np.zeros(3, np.bool_))
    weight = stakes(table, marks, SETTINGS, ["R5"])
    assert (weight > 0).tolist() == [False, True, False]
    assert next_documents(pools, weight, size=10, k=10) == {1: ("x",)}


def test_of_a_query_the_documents_that_move_it_most_come_first() -> None:
    """w at rank 1 before and gone after, z gained at rank 3; u and v stay where they are."""
    one = pool("wuva", "auvz"[::-1])
    (docs,) = next_documents([one], np.ones(1), size=10, k=10).values()
    assert len(docs) == 2
    assert docs[0] in {"w", "z"}


@pytest.mark.parametrize(("budget", "least"), [(0.9, Verdict.APPROVE), (0.01, Verdict.NEEDS_WORK)])
def test_a_stratum_is_bounded_by_its_own_budget(budget: float, least: Verdict) -> None:
    """Every query loses at least 0.6, whatever x is."""
    table = table_of(*[pool("ab", "bx")] * 40)
    every = np.ones(40, np.bool_)
    known = Marks(head=~every, critical=~every, strata={"billing": every})
    settings = ReviewSettings(stratum_budgets={"billing": budget})
    found = standings(table, known, settings, [RuleOutcome("R14", RuleState.PASSED, "")])[0]
    assert found.least is least
