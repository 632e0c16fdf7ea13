from __future__ import annotations

import pytest

from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.rubrics.errors import UsageError


def test_each_metric_prints_its_own_convention() -> None:
    conventions = Conventions()
    assert [conventions.name(metric) for metric in Metric] == [
        "nDCG(gain=exp2)@10",
        "RR(floor=2)@10",
        "P(floor=2)@10",
        "R(floor=2)@10",
        "Hit(floor=2)@10",
        "Judged@10",
    ]
    assert Conventions(k=5, gain="linear").name(Metric.NDCG) == "nDCG(gain=linear)@5"


def test_the_trec_eval_preset_is_linear_from_grade_1_with_no_ideal_as_zero() -> None:
    assert Conventions.trec_eval(100).asdict() == {
        "k": 100,
        "floor": 1,
        "gain": "linear",
        "no_ideal": "zero",
    }


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("k", 0),
        ("k", -1),
        ("k", 2.5),
        ("k", True),
        ("floor", 0),
        ("floor", "2"),
        ("gain", "exp"),
        ("no_ideal", "drop"),
    ],
)
def test_a_convention_out_of_range_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(UsageError, match=field):
        Conventions(**{field: value})


def test_gains_are_two_to_the_grade_less_one_or_the_grade() -> None:
    assert Conventions().gains(5).tolist() == [0, 1, 3, 7, 15]
    assert Conventions(gain="linear").gains(4).tolist() == [0, 1, 2, 3]
