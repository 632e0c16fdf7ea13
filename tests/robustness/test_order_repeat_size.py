"""Each check finds a planted fault at its planted size, and is quiet on a clean judge."""

from __future__ import annotations

import asyncio
import hashlib

import pytest

from relgate.judge.robustness.checks import check_batch_size, check_positions, check_repeats
from relgate.judge.robustness.rates import Verdict
from relgate.judge.robustness.usual import departures
from relgate.rubrics.errors import UsageError


def other(label: str) -> str:
    """The label two grades away, so that a flip is never the same grade."""
    return {"E": "C", "S": "I", "C": "E", "I": "S"}[label]


def at_rate(text: str, p: float) -> bool:
    """The same share of texts on every machine, and always the same texts."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32 < p


def positions(judge, batches, **more):
    return asyncio.run(check_positions(judge.grade_in_order, batches, **more))


def repeats(judge, batches, **more):
    return asyncio.run(check_repeats(judge.grade_in_order, batches, **more))


def batch_size(judge, batches, **more):
    return asyncio.run(check_batch_size(judge.grade_in_order, batches, **more))


def test_a_judge_that_prefers_the_first_place_is_found_at_its_planted_rate(
    judge_that, drawn, batches
):
    prefers = drawn(0.3)
    judge = judge_that(
        lambda _text, position, _size, true: "E" if position == 1 and prefers() else true
    )
    check = positions(judge, batches, shuffles=6)
    first, *others = check.by_position
    assert check.verdict is Verdict.FLAGGED
    assert check.stands_out == 1
    assert first.rate.n == 120
    assert first.rate.low < 0.3 < first.rate.high
    assert first.rate.point == pytest.approx(0.3, abs=0.1)
    assert max(row.rate.point for row in others) == 0
    assert check.rate.point == pytest.approx(0.03, abs=0.01)  # one place of ten
    assert first.mean_grade > max(row.mean_grade for row in others)
    assert check.p_value == 0.001


def test_a_judge_that_always_grades_the_first_exact_is_flagged_on_one_batch(
    judge_that, make_batches
):
    # Case T04: a batch of 10, five shuffles.
    judge = judge_that(lambda _text, position, _size, true: "E" if position == 1 else true)
    check = positions(judge, make_batches(1), shuffles=5)
    assert check.verdict is Verdict.FLAGGED
    assert check.stands_out == 1
    assert check.by_position[0].mean_grade == 3


def test_a_judge_that_favours_the_early_half_is_flagged(judge_that, batches):
    judge = judge_that(lambda _t, position, _s, true: "S" if position <= 5 else true)
    check = positions(judge, batches)
    assert check.verdict is Verdict.FLAGGED
    early = [row.mean_grade for row in check.by_position[:5]]
    late = [row.mean_grade for row in check.by_position[5:]]
    assert min(early) > max(late)


def test_a_judge_that_flips_by_chance_prefers_no_place(judge_that, drawn, batches):
    flips = drawn(0.05)
    judge = judge_that(lambda _t, _p, _s, true: other(true) if flips() else true)
    check = positions(judge, batches)
    assert check.rate.point == pytest.approx(0.05, abs=0.025)
    assert check.p_value > 0.01
    assert check.verdict is Verdict.WITHIN


def test_a_judge_that_flips_is_found_at_its_planted_rate(judge_that, drawn, batches):
    flips = drawn(0.2)
    judge = judge_that(lambda _t, _p, _s, true: other(true) if flips() else true)
    check = repeats(judge, batches, repeats=5)
    assert check.rate.point == pytest.approx(0.2, abs=0.04)
    assert check.rate.low < 0.2 < check.rate.high
    assert check.rate.n == check.items == 200
    assert check.changed == pytest.approx(200 * (1 - 0.8**5 - 0.2**5), abs=25)
    assert check.verdict is Verdict.FLAGGED


def test_a_judge_that_grades_worse_in_big_batches_is_found_at_its_planted_rate(judge_that, batches):
    judge = judge_that(
        lambda text, _p, size, true: "E" if size > 4 and at_rate(text, 0.25) else true
    )
    check = batch_size(judge, batches)
    assert check.rate.point == pytest.approx(0.25, abs=0.06)
    assert check.rate.low < 0.25 < check.rate.high
    assert check.mean_shift > 0.3
    assert check.verdict is Verdict.FLAGGED
    assert (check.items, check.batch_size) == (200, 10)


def test_a_clean_judge_is_not_flagged_and_enough_was_asked_to_be_sure(honest, batches):
    for check in (
        positions(honest, batches),
        repeats(honest, batches),
        batch_size(honest, batches),
    ):
        assert check.verdict is Verdict.WITHIN
        assert check.rate.point == 0
        assert check.rate.proves(check.limit)
        assert check.errors == {}


def test_few_items_pass_but_prove_nothing(honest, make_batches):
    check = repeats(honest, make_batches(1, size=5))
    assert check.verdict is Verdict.WITHIN
    assert not check.rate.proves(check.limit)


def test_a_failed_grade_is_an_error_and_no_change(judge_that, drawn, batches):
    breaks = drawn(0.2)
    judge = judge_that(lambda _t, _p, _s, true: true, fails=lambda _request: breaks())
    check = repeats(judge, batches, repeats=4)
    assert 0 < check.errors["unreadable"] < check.asked / 2
    assert list(check.errors) == ["unreadable"]
    assert check.rate.point == 0
    assert check.verdict is Verdict.WITHIN
    placed = positions(judge, batches)
    assert placed.rate.point == 0
    assert sum(row.rate.n for row in placed.by_position) <= placed.asked - sum(
        placed.errors.values()
    )


def test_a_judge_that_always_fails_passes_nothing(judge_that, batches):
    judge = judge_that(lambda _t, _p, _s, true: true, fails=lambda _request: True)
    for check in (positions(judge, batches), repeats(judge, batches), batch_size(judge, batches)):
        assert check.verdict is Verdict.UNMEASURED
        assert check.rate.point is None
        assert sum(check.errors.values()) == check.asked


def test_a_judge_that_fails_most_of_the_time_passes_nothing(judge_that, drawn, batches):
    breaks = drawn(0.7)
    judge = judge_that(lambda _t, _p, _s, true: true, fails=lambda _request: breaks())
    assert repeats(judge, batches, repeats=6).verdict is Verdict.UNMEASURED


def test_the_same_seed_asks_in_the_same_orders(judge_that, make_batches):
    def orders(seed: int) -> list[str]:
        seen = []
        judge = judge_that(lambda text, _p, _s, true: seen.append(text) or true)
        positions(judge, make_batches(2), seed=seed)
        return seen

    assert orders(1) == orders(1) != orders(2)


def test_what_can_show_no_change_is_refused(honest, make_batches):
    with pytest.raises(UsageError, match="shuffles is 1"):
        positions(honest, make_batches(1), shuffles=1)
    with pytest.raises(UsageError, match="repeats is 0"):
        repeats(honest, make_batches(1), repeats=0)
    for check in (positions, batch_size):
        with pytest.raises(UsageError, match="one candidate"):
            check(honest, make_batches(1, size=1))


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ([3, 3, 3], [0, 0, 0]),
        ([3, 0, 3], [0, 1, 0]),
        ([3, 0], [0.5, 0.5]),  # either may be the usual one
        ([3, 3, 0, 0, 1], [0.5, 0.5, 0.5, 0.5, 1]),
        ([], []),
    ],
)
def test_a_departure_is_from_the_most_frequent_grade(grades, expected):
    assert departures(grades) == expected
