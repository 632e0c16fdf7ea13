"""What would change the level: how many labels, on which side, or that no number will."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from relgate.eval.agreement.calibrate import Terms, calibrate_pairs
from relgate.eval.agreement.intervals import figures_with_intervals
from relgate.eval.agreement.pairs import UNGRADED
from relgate.eval.agreement.policy import POLICIES, Level, TrustPolicy
from relgate.eval.lists.types import SCALES

SCALE = SCALES["0-3"]
DEFAULT = POLICIES["default"]
# rows people, columns judge, in pairs: F1 at 2 is 2 * 85 / (2 * 85 + 15 + 15) = 0.85
TABLE = np.array([[80, 10, 10, 0], [5, 5, 5, 0], [5, 5, 40, 5], [0, 5, 5, 35]])


def pairs_of_table(make, times: int = 1):
    human, judge = zip(
        *((h, j) for h in range(4) for j in range(4) for _ in range(times * TABLE[h, j])),
        strict=True,
    )
    return make.pairs(human, judge)


def needs(make, policy: TrustPolicy, times: int = 1):
    result = calibrate_pairs(pairs_of_table(make, times), scale=SCALE, terms=Terms(policy=policy))
    return result, {need.what: need for need in result.needs}


def test_a_trusted_judge_needs_nothing(make):
    perfect = make.pairs([0, 1, 2, 3] * 100, [0, 1, 2, 3] * 100)
    result = calibrate_pairs(perfect, scale=SCALE)
    assert (result.level, result.needs) == (Level.TRUSTED, ())


def test_labels_that_lack_are_counted_in_all_and_by_side(make):
    human, judge = [0] * 40 + [3] * 10, [0] * 40 + [3] * 10
    result = calibrate_pairs(make.pairs(human, judge), scale=SCALE)
    assert result.level is Level.INSUFFICIENT
    by_what = {need.what: need for need in result.needs}
    total = by_what["labels"]
    assert (total.labels, total.relevant, total.queries) == (50, 10, 50)  # a fifth is relevant
    side = by_what["labels at or above the floor"]
    assert (side.labels, side.relevant) == (100, 20)  # 20 lack, and one label in five is one
    assert "20 more labels at or above the floor: about 100 more labels" in side.text
    assert "labels below the floor" not in by_what


def test_a_side_without_any_label_gets_no_number(make):
    result = calibrate_pairs(make.pairs([0] * 120, [0] * 120), scale=SCALE)
    need = next(n for n in result.needs if n.what == "labels at or above the floor")
    assert (need.by_labels, need.labels) == (True, None)
    assert "so far there is none" in need.text


def test_a_point_below_the_bar_is_beyond_any_number_of_labels(make):
    result, found = needs(make, replace(DEFAULT, f1_bar=0.95), times=2)
    assert result.level is Level.UNTRUSTED
    need = found["F1 at the floor"]
    assert (need.by_labels, need.labels) == (False, None)
    assert need.text.startswith("no number of labels")


def test_where_the_interval_still_holds_the_bar_that_is_said(make):
    _, found = needs(make, replace(DEFAULT, f1_bar=0.86))
    assert "still holds the bar" in found["F1 at the floor"].text


def test_a_point_at_the_bar_itself_is_beyond_any_number_too(make):
    _, found = needs(make, replace(DEFAULT, f1_bar=0.85))
    assert "stands at the bar itself" in found["F1 at the floor"].text
    assert not found["F1 at the floor"].by_labels


def test_failed_grades_are_mended_by_no_label(make):
    pairs = make.pairs([0, 3] * 100, [0, 3] * 95 + [UNGRADED] * 10)
    need = next(n for n in calibrate_pairs(pairs, scale=SCALE).needs if n.what == "failed grades")
    assert not need.by_labels
    assert "5.0%" in need.text


def test_labels_by_rule_ask_for_labels_by_people(make):
    pairs = make.pairs([0, 3] * 100, [0, 3] * 100, sources={"rule": 200})
    result = calibrate_pairs(pairs, scale=SCALE)
    assert result.level is Level.PROVISIONAL
    assert [need.what for need in result.needs] == ["labels by people"]


def test_a_lower_bound_that_lacks_gets_a_number_that_falls_as_labels_come(make):
    policy = replace(DEFAULT, f1_bar=0.82)
    result, found = needs(make, policy)
    assert result.level is Level.PROVISIONAL
    few = found["F1 at the floor"]
    more = needs(make, policy, times=2)[1]["F1 at the floor"]
    assert few.by_labels
    assert few.labels - more.labels == pytest.approx(result.n, rel=0.35)
    assert few.relevant == round(few.labels * 100 / 215)  # today's mix
    assert "of the uncertainty comes from the labels at or above the floor" in few.text


def test_that_number_brings_the_bound_over_the_bar_in_four_cases_of_five(make):
    """Drawn anew from the same table with so many labels: 80 % named, of 200 draws."""
    bar = 0.80
    _, found = needs(make, replace(DEFAULT, f1_bar=bar, quadratic_kappa_bar=None))
    n = int(TABLE.sum()) + found["F1 at the floor"].labels
    draw = np.random.default_rng(11)
    shares = (TABLE / TABLE.sum()).ravel()
    over = 0
    for seed in range(200):
        tables = np.zeros((n, 16), np.int64)
        tables[np.arange(n), draw.choice(16, n, p=shares)] = 1
        figures = figures_with_intervals(tables.reshape(n, 4, 4), floor=2, seed=seed, resamples=300)
        over += figures["f1"].low >= bar
    assert 0.70 <= over / 200 <= 0.90


def test_the_seeds_policy_asks_the_point_alone(make):
    result, found = needs(make, POLICIES["seed"])
    assert (result.level, found) == (Level.TRUSTED, {})
