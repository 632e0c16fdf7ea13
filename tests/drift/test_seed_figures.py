"""The golden-query guide's own code gives these figures, and so do we.

Origin: the TypeScript of the guide (dcgAtK, ndcgAtK, mrr, precisionAtK, assertNoDrift, topLosers),
taken out of the document as it stands, compiled with TypeScript 5 and run on Node 20.
"""

from __future__ import annotations

import json

import pytest

from relgate.eval.drift.artifact import read_artifact
from relgate.eval.drift.budgets import budgets_of
from relgate.eval.drift.check import check_drift
from relgate.eval.drift.measure import measure
from relgate.eval.golden.types import GoldenJudgment, GoldenQuery, GoldenSet
from relgate.eval.lists.types import Query
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.runs.types import Run

FORMULAS = [
    # ranked, grades, k -> ndcgAtK, mrr, precisionAtK (relevant: grade >= 2)
    (["a", "b", "c", "d"], {"a": 1, "b": 3, "d": 2}, 10, 0.7142221296584441, 0.5, 0.2),
    (["a", "b", "c", "d"], {"a": 3, "b": 2, "c": 1}, 10, 1, 1, 0.2),
    (["c", "b", "a"], {"a": 3, "b": 2, "c": 1}, 10, 0.6806060567602009, 0.5, 0.2),
    (["x", "y", "a"], {"a": 3, "b": 2, "c": 1}, 10, 0.3726262671130988, 0.3333333333333333, 0.1),
    (["x", "y", "z"], {"a": 3}, 10, 0, 0, 0),
    ([], {"a": 3}, 10, 0, 0, 0),
    (["a", "b"], {"a": 0, "b": 0}, 10, 0, 0, 0),
    (list("abcde"), {"a": 3, "b": 2, "c": 3, "d": 0, "e": 1, "f": 2}, 3, 0.9594535145926796, 1, 1),
    (["d", "a", "b"], {"a": 3, "b": 2, "c": 3, "d": 1}, 2, 0.4744452633438928, 0.5, 0.5),
]


@pytest.mark.parametrize("case", FORMULAS)
def test_the_formulas_are_those_of_the_guide(case):
    ranked, grades, k, ndcg, mrr, precision = case
    judgments = tuple(GoldenJudgment(grade, doc) for doc, grade in grades.items())
    golden = GoldenSet("v1", (GoldenQuery("q", "text", judgments),), k)
    run = Run("run", (Query("q", "text"),), (tuple(ranked),))
    conventions = Conventions(k=k, no_ideal="zero")
    (query,) = measure(golden, run, conventions, stages={}).queries
    assert query.ndcg == pytest.approx(ndcg, abs=1e-12)
    assert query.mrr == pytest.approx(mrr, abs=1e-12)
    assert query.precision == pytest.approx(precision, abs=1e-12)
    assert query.empty == (not ranked)


BASE = {"ndcg": 0.8, "mrr": 0.7, "precision_at_k": 0.5, "empty_rate": 0.01}
BUDGETS = {
    "ndcg_max_drop": 0.025,
    "mrr_max_drop": 0.03,
    "precision_max_drop": 0.04,
    "empty_rate_max_rise": 0.015,
}
ALARMS = [
    # what differs from the baseline -> the lines of assertNoDrift's error
    ({}, []),
    ({"ndcg": 0.774}, ["NDCG drop 0.0260 > 0.025"]),
    ({"ndcg": 0.776}, []),
    ({"mrr": 0.66}, ["MRR drop 0.0400 > 0.03"]),
    (
        {"precision_at_k": 0.45, "empty_rate": 0.03},
        ["P@k drop 0.0500 > 0.04", "empty_rate rise 0.0200 > 0.015"],
    ),
    ({"ndcg": 0.9, "mrr": 0.9, "precision_at_k": 0.9, "empty_rate": 0}, []),
    (
        {"ndcg": 0.7, "mrr": 0.6, "precision_at_k": 0.4, "empty_rate": 0.1},
        [
            "NDCG drop 0.1000 > 0.025",
            "MRR drop 0.1000 > 0.03",
            "P@k drop 0.1000 > 0.04",
            "empty_rate rise 0.0900 > 0.015",
        ],
    ),
]
_NAMES = {"NDCG": "ndcg", "MRR": "mrr", "P@k": "precision_at_k", "empty_rate": "empty_rate"}


def _artifact(tmp_path, name, version="v1", **figures):
    path = tmp_path / name
    path.write_text(json.dumps({"golden_version": version, **BASE, **figures}))
    return read_artifact(path)


@pytest.mark.parametrize(("changed", "lines"), ALARMS)
def test_the_alarm_fires_where_the_guides_does_with_its_figures(tmp_path, changed, lines):
    current = _artifact(tmp_path, "current.json", **changed)
    baseline = _artifact(tmp_path, "baseline.json")
    report = check_drift(current, baseline, budgets_of(BUDGETS, "budgets.json"))
    hard = [f.message for f in report.findings if f.level == "hard"]
    wanted = [f"{_NAMES[line.split()[0]]} {line.split(' ', 1)[1]}" for line in lines]
    assert [message.split(" (")[0] for message in hard] == wanted
    assert report.exit_code == (3 if lines else 0)


def test_another_golden_version_fails_as_in_the_guide(tmp_path):
    current = _artifact(tmp_path, "current.json", version="v2")
    report = check_drift(current, _artifact(tmp_path, "baseline.json"))
    assert report.findings[0].message == "golden version drift: current=v2 baseline=v1"
    assert report.exit_code == 4


def test_top_losers_are_those_of_the_guide(tmp_path):
    def rows(**ndcg):
        return [
            {"id": i, "ndcg": v, "mrr": 1.0, "p_at_k": 0.5, "empty": False} for i, v in ndcg.items()
        ]

    def artifact(name, rows):
        mean = sum(row["ndcg"] for row in rows) / len(rows)
        figures = {"ndcg": mean, "mrr": 1.0, "empty_rate": 0.0, "per_query": rows}
        return _artifact(tmp_path, name, **figures)

    report = check_drift(
        artifact("current.json", rows(a=0.5, b=0.9, c=0.2, d=0.7)),
        artifact("baseline.json", rows(a=0.6, b=0.8, c=0.7, d=0.7)),
    )
    assert [(loser.id, loser.drop) for loser in report.losers] == [
        ("c", pytest.approx(0.49999999999999994)),
        ("a", pytest.approx(0.09999999999999998)),
    ]
