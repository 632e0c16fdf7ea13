"""Figures of a confusion table, against published and hand-computed values."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from dl19 import DL19, DL20

from relgate.eval.agreement import confusion as cf
from relgate.eval.agreement.sk import reported_figures, sk_kappa
from relgate.rubrics.errors import InputError

# statistics 1.2, measured there with scikit-learn 1.9.1 and irrCAC 0.4.4
GOLDEN = {
    "kappa": (0.3377, 0.3685),
    "kappa_linear": (0.4801, 0.4809),
    "kappa_quadratic": (0.5955, 0.5819),
    "ac1": (0.4434, 0.5742),
    "ac2_quadratic": (0.7403, 0.8278),
    "floor_accuracy": (0.8138, 0.8506),
    "floor_kappa": (0.5220, 0.4618),
    "floor_ac1": (0.6951, 0.7934),
    "pabak": (0.6276, 0.7012),
    "precision": (0.6615, 0.4917),
    "recall": (0.6361, 0.6236),
    "specificity": (0.8796, 0.8895),
    "f1": (0.6486, 0.5499),
    "share_relevant_human": (0.2701, 0.1463),
    "share_relevant_judge": (0.2597, 0.1856),
    "mean_human": (0.7883, 0.5198),
    "mean_judge": (0.9271, 0.7007),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_every_figure_of_the_public_dl19_and_dl20_tables(name: str):
    figures = cf.all_figures(np.array([DL19, DL20]), floor=2)
    # 5e-5 for the fourth decimal that the source prints, and a hair for its own rounding
    assert figures[name] == pytest.approx(GOLDEN[name], abs=5.1e-5)


def test_leniency_of_the_public_tables_and_their_sizes():
    assert cf.mean_shift([DL19, DL20]) == pytest.approx([0.139, 0.181], abs=5e-4)
    assert np.sum([DL19, DL20], axis=(1, 2)).tolist() == [9260, 11386]


def test_not_relevant_is_the_reliable_label_of_the_public_tables():
    # statistics 1.2: precision of "not relevant" 0.87 and 0.93
    swapped = [cf.floor_table(t, floor=2)[::-1, ::-1] for t in (DL19, DL20)]
    assert [round(float(cf.precision(t)), 2) for t in swapped] == [0.87, 0.93]


@pytest.mark.parametrize(
    ("table", "expected"),  # statistics 2.1
    [([[20, 5], [10, 15]], 0.4), ([[45, 15], [25, 15]], 0.1304), ([[25, 35], [5, 35]], 0.2593)],
)
def test_kappa_of_textbook_tables(table: list[list[int]], expected: float):
    assert cf.kappa(table) == pytest.approx(expected, abs=5e-5)


def test_kappa_of_three_classes_in_all_weightings():
    # statistics 2.1: y1 = 46x0, 44x1, 10x2; y2 = 50x0, 40x1, 10x2
    y1, y2 = [0] * 46 + [1] * 44 + [2] * 10, [0] * 50 + [1] * 40 + [2] * 10
    table = cf.confusion_table(y1, y2, n_grades=3)
    found = [float(cf.kappa(table, weights=w)) for w in ("none", "linear", "quadratic")]
    assert found == pytest.approx([0.9315, 0.9412, 0.9541], abs=5e-5)


def test_kappa_of_ten_graded_pairs_in_all_weightings():
    human, judge = [3, 3, 2, 2, 1, 1, 0, 0, 3, 0], [3, 2, 2, 2, 1, 0, 0, 0, 3, 1]  # statistics 2.1
    table = cf.confusion_table(human, judge, n_grades=4)
    found = [float(cf.kappa(table, weights=w)) for w in ("none", "linear", "quadratic")]
    assert found == pytest.approx([0.6, 0.7692, 0.8889], abs=5e-5)


def test_weighted_kappa_of_cohen_1968_shares_with_his_own_weights():
    shares = [[0.44, 0.07, 0.09], [0.05, 0.20, 0.05], [0.01, 0.03, 0.06]]
    assert cf.kappa(shares) == pytest.approx(0.4915, abs=5e-5)
    costs = [[0, 1, 3], [1, 0, 6], [3, 6, 0]]
    assert cf.weighted_kappa(shares, costs) == pytest.approx(0.3478, abs=5e-5)


@pytest.mark.parametrize(
    ("table", "accuracy", "kappa", "ac1", "pabak"),  # statistics 2.2 and case M14
    [
        ([[40, 9], [6, 45]], 0.85, 0.6995, 0.7007, 0.70),
        ([[80, 10], [5, 5]], 0.85, 0.3182, 0.8080, 0.70),
        ([[118, 5], [2, 0]], 0.944, -0.0234, 0.9408, 0.888),
    ],
)
def test_kappa_paradox(
    table: list[list[int]], accuracy: float, kappa: float, ac1: float, pabak: float
):
    assert cf.accuracy(table) == pytest.approx(accuracy, abs=5e-4)
    assert cf.kappa(table) == pytest.approx(kappa, abs=5e-5)
    assert cf.ac1(table) == pytest.approx(ac1, abs=5e-5)
    assert cf.pabak(table) == pytest.approx(pabak, abs=5e-4)


def test_prevalence_and_bias_index_by_hand():
    assert cf.prevalence_index([[80, 10], [5, 5]]) == pytest.approx(0.75)  # |80 - 5| / 100
    assert cf.bias_index([[80, 10], [5, 5]]) == pytest.approx(0.05)  # |10 - 5| / 100


def test_an_absent_grade_changes_no_weight():
    human, judge = [0, 1, 2, 2, 0, 1], [0, 2, 2, 1, 0, 1]
    three = cf.confusion_table(human, judge, n_grades=3)
    four = cf.confusion_table(human, judge, n_grades=4)
    assert cf.kappa(three, weights="quadratic") == cf.kappa(four, weights="quadratic")


def test_the_floor_splits_rows_and_columns():
    table = cf.floor_table(DL19, floor=2)
    assert table.tolist() == [[3654 + 1135 + 384 + 772, 814], [152 + 496 + 140 + 122, 1591]]


def test_closed_forms_equal_scikit_learn_to_1e_12():
    rng = np.random.default_rng(5)
    tables = rng.integers(0, 30, (60, 4, 4)) * rng.integers(0, 2, (60, 4, 4))
    tables = tables[(tables.sum(axis=2) > 0).sum(axis=1) > 1]
    assert len(tables) > 40
    for floor in (1, 2, 3):
        closed = cf.all_figures(tables, floor=floor)
        for i, table in enumerate(tables):
            for name, value in reported_figures(table, floor=floor).items():
                assert float(closed[name][i]) == pytest.approx(value, abs=1e-12, nan_ok=True), name
            binary = cf.floor_table(table, floor=floor)
            expected = sk_kappa(binary)
            got = float(closed["floor_kappa"][i])
            assert got == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_people_with_one_grade_only_leave_kappa_undefined_and_not_0():
    table = np.zeros((4, 4))
    table[3] = [10, 20, 30, 40]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for weights in ("none", "linear", "quadratic"):
            assert math.isnan(float(cf.kappa(table, weights=weights)))
            assert math.isnan(sk_kappa(table, weights=weights))
    assert cf.accuracy(table) == 0.4


def test_a_judge_with_one_grade_only_has_kappa_exactly_0():
    table = cf.constant_table(DL19, grade=3)
    assert [float(cf.kappa(table, weights=w)) for w in ("none", "linear", "quadratic")] == [0] * 3


def test_no_pairs_leave_every_figure_undefined_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figures = cf.all_figures(np.zeros((4, 4)), floor=2)
        assert all(math.isnan(v) for v in reported_figures(np.zeros((4, 4)), floor=2).values())
    assert all(math.isnan(float(v)) for v in figures.values())


def test_precision_without_a_positive_answer_is_undefined_but_f1_is_0():
    never = [[50, 0], [50, 0]]
    assert math.isnan(float(cf.precision(never)))
    assert cf.recall(never) == 0
    assert cf.f1(never) == 0
    assert math.isnan(reported_figures(never, floor=1)["precision"])
    assert reported_figures(never, floor=1)["f1"] == 0


def test_the_always_relevant_judge_reaches_f1_0_889_on_a_natural_mix():
    # DESIGN 8: 0.889 at 80 % relevant; 2p / (1 + p)
    assert cf.always_relevant_f1([[0, 20], [0, 80]]) == pytest.approx(1.6 / 1.8)
    assert cf.all_figures([[0, 20], [0, 80]], floor=1)["f1_gain"] == 0


@pytest.mark.parametrize(("human", "judge"), [([0, 4], [0, 0]), ([0, 1], [-1, 0]), ([0], [0, 1])])
def test_a_grade_off_the_scale_or_a_short_column_is_refused(human: list[int], judge: list[int]):
    with pytest.raises(InputError):
        cf.confusion_table(human, judge, n_grades=4)


def test_query_tables_add_up_to_the_whole():
    rng = np.random.default_rng(1)
    q, h, j = rng.integers(0, 7, 500), rng.integers(0, 4, 500), rng.integers(0, 4, 500)
    tables = cf.query_tables(q, h, j, n_queries=7, n_grades=4)
    assert (tables.sum(axis=0) == cf.confusion_table(h, j, n_grades=4)).all()
    assert tables[3].sum() == (q == 3).sum()
