from __future__ import annotations

import pytest

from relgate.eval.metrics.conventions import Conventions, Further, Metric
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
        "unrated": "zero",
        "persistence": 0.8,
    }


def test_each_further_metric_prints_its_own_convention() -> None:
    assert [Conventions(floor=1).name(metric) for metric in Further] == [
        "AP(floor=1)@10",
        "ERR(gain=exp2)@10",
        "RBP(p=0.8,gain=exp2)@10",
        "RBP-residual(p=0.8)@10",
    ]


def test_what_becomes_of_unrated_documents_is_in_the_name_unless_they_gain_nothing() -> None:
    condensed = Conventions(unrated="condensed")
    assert condensed.name(Metric.NDCG) == "nDCG(gain=exp2,unrated=condensed)@10"
    assert Conventions(unrated="judged-only").name(Metric.PRECISION) == (
        "P(floor=2,unrated=judged-only)@10"
    )
    assert condensed.name(Metric.JUDGED) == "Judged@10"


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
        ("unrated", "drop"),
        ("persistence", 0),
        ("persistence", 1),
        ("persistence", float("nan")),
    ],
)
def test_a_convention_out_of_range_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(UsageError, match=field):
        Conventions(**{field: value})


def test_gains_are_two_to_the_grade_less_one_or_the_grade() -> None:
    assert Conventions().gains(5).tolist() == [0, 1, 3, 7, 15]
    assert Conventions(gain="linear").gains(4).tolist() == [0, 1, 2, 3]
