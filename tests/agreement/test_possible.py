"""Which grades stay possible is read off the calibration's confusion table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relgate.eval.agreement.possible import possible_grades
from relgate.rubrics.errors import UsageError

DL19 = (  # GPT-4o on TREC DL 2019: rows people, columns judge; published counts
    (3654, 1135, 262, 107),
    (384, 772, 295, 150),
    (152, 496, 481, 675),
    (140, 122, 117, 318),
)

COUNTS = st.integers(0, 60)
TABLES = st.integers(2, 5).flatmap(
    lambda n: st.lists(st.lists(COUNTS, min_size=n, max_size=n), min_size=n, max_size=n)
)


def test_of_a_real_judge_only_its_zeros_rule_anything_out() -> None:
    """Column 0: 3654 + 384 + 152 of 4330 are 0.968. Column 1: without grade 3 0.952."""
    assert possible_grades(DL19, level=0.95) == ((0, 1, 2), (0, 1, 2), (0, 1, 2, 3), (0, 1, 2, 3))
    assert possible_grades(DL19, level=0.8)[0] == (0,)


def test_a_perfect_judge_leaves_its_own_grade_from_nineteen_pairs_on() -> None:
    assert possible_grades(np.diag([19] * 4).tolist(), level=0.95) == ((0,), (1,), (2,), (3,))
    assert possible_grades(np.diag([18] * 4).tolist(), level=0.95) == ((0, 1, 2, 3),) * 4


def test_a_grade_that_the_judge_never_gave_rules_out_nothing() -> None:
    assert possible_grades([[40, 0], [0, 0]], level=0.95) == ((0,), (0, 1))


def test_of_equally_frequent_grades_all_stay() -> None:
    table = np.zeros((4, 4), int)
    table[:, 2] = [3, 3, 91, 3]
    assert possible_grades(table.tolist(), level=0.95)[2] == (0, 1, 2, 3)
    assert possible_grades(table.tolist(), level=0.90)[2] == (2,)


def test_the_judges_own_grade_stays_even_where_people_never_agreed() -> None:
    assert possible_grades([[0, 0], [100, 0]], level=0.95)[0] == (0, 1)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, float("nan")])
def test_a_level_outside_0_to_1_is_refused(level: float) -> None:
    with pytest.raises(UsageError, match="above 0 and below 1"):
        possible_grades([[1, 0], [0, 1]], level=level)


@given(TABLES, st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]))
def test_the_set_is_as_small_as_can_be(table: list[list[int]], level: float) -> None:
    for own, kept in enumerate(possible_grades(table, level=level)):
        column = [row[own] for row in table]
        needed = level * (sum(column) + 1) - 1e-9
        assert own in kept
        if sum(column) < needed:
            assert kept == tuple(range(len(column)))
            continue
        held = [column[g] for g in kept]
        assert sum(held) >= needed
        for g in kept:  # without this one and its equals too little is held
            rest = sum(n for n in held if n > column[g])
            assert g == own or rest < needed
