"""What earns which level."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from shared_cases import shared_case

from relgate.eval.agreement.calibrate import Terms, calibrate_pairs, is_judge_trusted
from relgate.eval.agreement.confusion import all_figures, f1, floor_table
from relgate.eval.agreement.intervals import Figure
from relgate.eval.agreement.policy import POLICIES, Evidence, Level, level_of, policy_named
from relgate.eval.lists.types import SCALES
from relgate.rubrics.errors import UsageError

DEFAULT, SEED = POLICIES["default"], POLICIES["seed"]

# human 0-3 by GPT-4o 0-3 on DL20 (statistics 1.2)
DL20 = [[5913, 1391, 306, 170], [472, 870, 354, 244], [99, 326, 295, 300], [95, 107, 100, 344]]


def good(**changes: Figure) -> Evidence:
    """A judge that passes everything, but for what a test changes."""
    figures = {
        "f1": Figure(0.9, 0.85, 0.95),
        "kappa_quadratic": Figure(0.8, 0.7, 0.9),
        "f1_gain": Figure(0.3, 0.2, 0.4),
        "floor_kappa": Figure(0.7, 0.6, 0.8),
    }
    return Evidence(
        figures=figures | changes,
        n=400,
        n_relevant=200,
        error_rate=0.0,
        label_sources={"human": 400},
    )


def test_a_good_judge_is_trusted_and_the_reasons_say_by_what():
    level, reasons = level_of(good(), DEFAULT)
    assert level is Level.TRUSTED
    assert reasons[0] == "F1 at the floor 0.900 (95 %: 0.850 to 0.950) is >= 0.80"
    assert len(reasons) == 4


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n": 99, "n_relevant": 50}, "99 labels compared, 100 needed"),
        ({"n_relevant": 29}, "29 labels at or above the floor, 30 needed"),
        ({"n_relevant": 371}, "29 labels below the floor, 30 needed"),
        ({"error_rate": 0.021}, "2.1% of the pairs got no grade"),
        ({"error_rate": math.nan}, "got no grade"),
    ],
)
def test_too_little_evidence_is_insufficient(change: dict[str, float], says: str):
    level, reasons = level_of(replace(good(), **change), DEFAULT)
    assert level is Level.INSUFFICIENT
    assert len(reasons) == 1
    assert says in reasons[0]


@pytest.mark.parametrize("name", ["f1", "kappa_quadratic", "f1_gain", "floor_kappa"])
def test_an_undefined_figure_is_insufficient_not_passed(name: str):
    level, reasons = level_of(good(**{name: Figure(None)}), DEFAULT)
    assert level is Level.INSUFFICIENT
    assert "undefined" in reasons[0]


@pytest.mark.parametrize("name", ["f1", "kappa_quadratic", "f1_gain", "floor_kappa"])
def test_nan_never_passes(name: str):
    level, _ = level_of(good(**{name: Figure(math.nan, math.nan, math.nan)}), DEFAULT)
    assert level is Level.UNTRUSTED
    level, _ = level_of(good(**{name: Figure(0.95, math.nan, 1.0)}), DEFAULT)
    assert level is Level.PROVISIONAL


@pytest.mark.parametrize(
    ("name", "at_bar", "below"),
    [
        ("f1", 0.80, 0.7999),
        ("kappa_quadratic", 0.60, 0.5999),
        ("f1_gain", 1e-9, 0.0),
        ("floor_kappa", 1e-9, 0.0),
    ],
)
def test_each_bar_holds_for_point_and_for_lower_bound(name: str, at_bar: float, below: float):
    assert level_of(good(**{name: Figure(at_bar, at_bar, 1)}), DEFAULT)[0] is Level.TRUSTED
    assert level_of(good(**{name: Figure(below, below, 1)}), DEFAULT)[0] is Level.UNTRUSTED
    level, reasons = level_of(good(**{name: Figure(at_bar, below, 1)}), DEFAULT)
    assert level is Level.PROVISIONAL
    assert "lower 95 % bound" in reasons[0]


def test_no_interval_is_provisional_at_most():
    level, reasons = level_of(good(f1=Figure(0.9)), DEFAULT)
    assert level is Level.PROVISIONAL
    assert "no interval" in reasons[0]


@pytest.mark.parametrize("sources", [{"rule": 400}, {"import": 400}, {"human": 390, "rule": 10}])
@pytest.mark.parametrize("policy", ["default", "seed"])
def test_labels_not_made_by_people_are_provisional_at_most(sources: dict[str, int], policy: str):
    level, reasons = level_of(replace(good(), label_sources=sources), POLICIES[policy])
    assert level is Level.PROVISIONAL
    assert "not made by people" in reasons[0]


def test_the_seed_policy_asks_the_point_f1_of_five_labels_only():
    few = replace(good(f1=Figure(0.80, 0.2, 1.0)), n=5, n_relevant=4, error_rate=0.5)
    assert level_of(few, SEED)[0] is Level.TRUSTED
    assert level_of(replace(few, n=4), SEED)[0] is Level.INSUFFICIENT
    assert level_of(good(f1=Figure(0.79)), SEED)[0] is Level.UNTRUSTED
    assert level_of(few, DEFAULT)[0] is Level.INSUFFICIENT


def test_an_unknown_policy_is_a_usage_error_that_names_the_known():
    assert policy_named("seed") is SEED
    with pytest.raises(UsageError, match="one of: default, people, seed"):
        policy_named("lax")


def test_an_always_exact_judge_of_f1_0_889_is_not_trusted(make):
    """DESIGN 8: F1 alone trusts it. 80 % relevant, so F1 = 2 * .8 / 1.8."""
    human = [3] * 240 + [2] * 80 + [0] * 80
    pairs = make.pairs(human, [3] * 400, query=[i % 50 for i in range(400)])
    result = calibrate_pairs(pairs, scale=SCALES["esci"])
    assert result.figures["f1"].point == pytest.approx(0.8889, abs=5e-5)
    assert result.figures["floor_kappa"].point == 0
    assert result.level is Level.UNTRUSTED
    assert not is_judge_trusted(result)
    assert any("calls all relevant" in reason for reason in result.reasons)
    assert is_judge_trusted(calibrate_pairs(pairs, scale=SCALES["esci"], terms=Terms(policy=SEED)))


def test_beating_the_constant_is_asked_even_without_a_kappa_bar(make):
    no_kappa = replace(DEFAULT, quadratic_kappa_bar=None)
    human = [3] * 320 + [0] * 80
    result = calibrate_pairs(
        make.pairs(human, [3] * 400), scale=SCALES["esci"], terms=Terms(policy=no_kappa)
    )
    assert result.level is Level.UNTRUSTED


def test_a_perfect_judge_on_enough_human_labels_is_trusted(make):
    human = [0, 1, 2, 3] * 50
    result = calibrate_pairs(make.pairs(human, human), scale=SCALES["0-3"])
    assert result.level is Level.TRUSTED
    assert is_judge_trusted(result)


def test_case_t07_five_labels_are_insufficient(shared: Path, make):
    case = shared_case(shared, "T07")
    assert case["input"]["labels"] == 5
    perfect = make.pairs([3, 0, 2, 1, 3], [3, 0, 2, 1, 3])
    result = calibrate_pairs(perfect, scale=SCALES["0-3"])
    assert result.level == case["right"]["expect"]["status"]
    assert is_judge_trusted(result) is case["right"]["expect"]["trusted"]


def test_on_five_labels_a_judge_of_true_f1_0_55_would_pass_the_point_bar_in_a_fifth_of_draws():
    """Statistics 2.4: 0.22 of multinomial draws from the public DL20 table."""
    rng = np.random.default_rng(0)
    share = np.ravel(DL20) / np.sum(DL20)
    assert float(f1(floor_table(DL20, floor=2))) == pytest.approx(0.55, abs=5e-3)
    draws = rng.multinomial(5, share, size=20_000).reshape(-1, 4, 4)
    figures = all_figures(draws, floor=2)["f1"]
    # of all draws: one without any relevant label or answer has no F1, and does not pass
    assert np.mean(figures >= 0.8) == pytest.approx(0.22, abs=0.02)
    # the default policy lets none of them through: five labels are never enough
    evidence = Evidence(
        figures={k: Figure(1.0, 1.0, 1.0) for k in good().figures},
        n=5,
        n_relevant=3,
        error_rate=0,
        label_sources={"human": 5},
    )
    assert level_of(evidence, DEFAULT)[0] is Level.INSUFFICIENT
