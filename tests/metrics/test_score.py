"""Scores of small inputs: the cases of `cases.jsonl`, and hand-worked values."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared_cases import shared_cases

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Source
from relgate.eval.metrics.align import align
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.score import score_run, score_runs
from relgate.eval.runs.types import GivenQuery, GivenScores
from relgate.rubrics.errors import InputError, UsageError

LINEAR = Conventions(gain="linear")


def one(scores: Any, metric: Metric = Metric.NDCG) -> float:
    (value,) = scores.values[metric].tolist()
    return value


@pytest.fixture(scope="module")
def cases(shared: Path) -> dict[str, dict[str, Any]]:
    return shared_cases(shared)


def test_i08_a_repeated_judgment_enters_the_ideal_once(cases, make_run) -> None:
    case = cases["I08"]
    builder = ListBuilder(SCALES["0-3"])
    for query, doc, grade in case["input"]["judgments"]:
        builder.add(Query(query), doc, grade, Provenance(Source.HUMAN))
    judgments, run = builder.build(), make_run({"q": case["input"]["ranked"]})
    scores = score_run(judgments, run, align(judgments, [run]), 0, LINEAR)
    assert one(scores) == case["right"]["expect"]["ndcg"]


def test_m04_a_query_without_an_ideal_is_apart_or_zero_by_choice(cases, score) -> None:
    case = cases["M04"]
    queries = case["input"]["queries"]
    grades = {q: row["judged"] for q, row in queries.items()}
    ranked = {q: row["ranked"] for q, row in queries.items()}
    apart = score(grades, ranked)
    assert apart.mean(Metric.NDCG).value == case["right"]["expect"]["default_mean"]
    assert apart.mean(Metric.NDCG).n == 1
    assert (apart.judged & ~apart.has_ideal).tolist() == [False, True]
    assert math.isnan(apart.values[Metric.NDCG][1])
    trec = score(grades, ranked, Conventions.trec_eval())
    assert trec.mean(Metric.NDCG).value == case["right"]["expect"]["trec_mean"]
    assert trec.mean(Metric.NDCG).n == 2


def test_m05_a_list_of_one_document_scores(cases, score) -> None:
    case = cases["M05"]
    scores = score({"q": case["input"]["judged"]}, {"q": case["input"]["ranked"]})
    assert one(scores) == case["right"]["expect"]["ndcg"]


def test_m06_a_repeated_document_counts_once_and_is_reported(cases, score) -> None:
    case = cases["M06"]
    conventions = Conventions(floor=1)
    scores = score({"q": case["input"]["judged"]}, {"q": case["input"]["ranked"]}, conventions)
    assert one(scores) == case["right"]["expect"]["ndcg"]
    assert one(scores, Metric.HIT) == 1
    assert one(scores, Metric.PRECISION) == 0.1
    assert scores.repeats.tolist() == [1]
    assert scores.returned.tolist() == [1]


def test_a_repeat_keeps_its_rank(score) -> None:
    scores = score({"q": {"a": 0, "b": 3}}, {"q": ["a", "a", "b"]})
    assert one(scores) == pytest.approx(0.5)
    assert one(scores, Metric.MRR) == pytest.approx(1 / 3)


def test_a_repeat_is_neither_rated_nor_unrated(score) -> None:
    scores = score({"q": {"a": 3}}, {"q": ["a", "x", "x", "x", "a"]})
    assert one(scores, Metric.JUDGED) == 0.5
    assert scores.unrated.tolist() == [1]


def test_a_repeat_in_other_unicode_form_is_one(score) -> None:
    scores = score({"q": {"caf\u00e9": 3}}, {"q": ["cafe\u0301", "caf\u00e9"]})
    assert scores.repeats.tolist() == [1]


def test_m07_the_order_given_is_the_order_scored(cases, score) -> None:
    case = cases["M07"]
    for name in ("run1", "run2"):
        scores = score({"q": case["input"]["judged"]}, {"q": case["input"][name]})
        assert one(scores) == case["right"]["expect"][name]


def test_m08_rank_two_is_discounted_by_log2_of_three(cases, score) -> None:
    case = cases["M08"]
    given, expect = case["input"], case["right"]["expect"]
    scores = score({"q": given["judged"]}, {"q": given["ranked"]}, Conventions(k=given["k"]))
    assert one(scores) == pytest.approx(expect["ndcg"], abs=expect["tol"])


def test_the_score_falls_strictly_with_the_rank(score) -> None:
    at_rank = [one(score({"q": {"a": 1}}, {"q": [*"uvwxyz"[:r], "a"]})) for r in range(6)]
    assert at_rank[2] == 0.5
    assert all(higher > lower for higher, lower in pairwise(at_rank))


def test_m09_a_negative_grade_does_not_reach_a_metric(cases, make_list) -> None:
    case = cases["M09"]
    assert case["right"]["expect"]["error"]
    with pytest.raises(InputError, match="-2"):
        make_list({"q": case["input"]["judged"]})


def test_m11_precision_divides_by_k_and_short_lists_are_counted(cases, score) -> None:
    case = cases["M11"]
    given = case["input"]
    grades = {"q": dict.fromkeys(given["relevant"], 3)}
    scores = score(grades, {"q": given["ranked"]}, Conventions(k=given["k"]))
    assert one(scores, Metric.PRECISION) == pytest.approx(case["right"]["expect"]["p_at_10"])
    assert (scores.lt3_rate, scores.empty_rate) == (0, 0)


def test_g05_three_unrated_of_three_hits_is_all_unrated(cases, score) -> None:
    case = cases["G05"]
    given = case["input"]
    scores = score({"q": {"known": 3}}, {"q": given["hits"]}, Conventions(k=given["k"]))
    assert scores.unrated_share.tolist() == [case["right"]["expect"]["unrated_share"]]
    assert scores.mostly_unrated().tolist() == [True]


@pytest.mark.parametrize(
    ("unjudged_more", "dcg", "ndcg"), [({}, 6.861, 0.961), ({"g": 3, "h": 2}, 6.861, 0.785)]
)
def test_wikipedia_example(score, unjudged_more, dcg: float, ndcg: float) -> None:
    # en.wikipedia.org/wiki/Discounted_cumulative_gain: 3 2 3 0 1 2, ideal 7.141, then 8.740
    grades = dict(zip("abcdef", [3, 2, 3, 0, 1, 2], strict=True)) | unjudged_more
    scores = score({"q": grades}, {"q": [*"abcdef"]}, Conventions(k=6, gain="linear"))
    assert one(scores) == pytest.approx(ndcg, abs=5e-4)
    assert one(scores) * scores.ideal[0] == pytest.approx(dcg, abs=5e-4)
    assert scores.ideal[0] == pytest.approx(8.740 if unjudged_more else 7.141, abs=5e-4)


def test_one_ranking_under_two_gains(score) -> None:
    # reference/statistics.md 2.11: 1 3 0 2 is .7142 exponential, .7884 linear
    grades, ranked = {"q": {"a": 1, "b": 3, "c": 0, "d": 2}}, {"q": [*"abcd"]}
    assert one(score(grades, ranked)) == pytest.approx(0.7142, abs=5e-5)
    assert one(score(grades, ranked, LINEAR)) == pytest.approx(0.7884, abs=5e-5)


def test_the_floor_is_printed_and_obeyed(score) -> None:
    grades, ranked = {"q": {"a": 1, "b": 2, "c": 2}}, {"q": [*"ab"]}
    strict, lenient = score(grades, ranked), score(grades, ranked, Conventions(floor=1))
    assert (one(strict, Metric.MRR), one(lenient, Metric.MRR)) == (0.5, 1.0)
    assert one(strict, Metric.RECALL) == 0.5
    assert one(lenient, Metric.RECALL) == pytest.approx(2 / 3)
    assert str(strict.mean(Metric.MRR)) == "RR(floor=2)@10 0.5000 (n=1)"


def test_nothing_below_k_counts(score) -> None:
    scores = score({"q": {"b": 3}}, {"q": ["a", "b"]}, Conventions(k=1))
    assert [one(scores, m) for m in Metric] == [0, 0, 0, 0, 0, 0]


def test_a_missing_and_a_failed_query_score_zero_and_are_told_apart(score) -> None:
    scores = score(
        {"ok": {"a": 3}, "gone": {"a": 3}, "broken": {"a": 3}},
        {"ok": ["a"], "broken": None},
        failures={"broken": "parsing_exception"},
    )
    assert [q.id for q in scores.queries] == ["ok", "broken", "gone"]
    assert scores.failed.tolist() == [False, True, False]
    assert scores.missing.tolist() == [False, False, True]
    assert scores.values[Metric.NDCG].tolist() == [1, 0, 0]
    assert scores.mean(Metric.NDCG).value == pytest.approx(1 / 3)
    assert scores.mean(Metric.NDCG).n == 3


def test_a_failed_query_is_not_an_empty_one(score) -> None:
    scores = score(
        {"q": {"a": 3}},
        {"q": ["a", "b", "c"], "none": [], "two": ["a", "b"], "broken": None},
        failures={"broken": "timeout"},
    )
    assert scores.empty_rate == pytest.approx(1 / 3)
    assert scores.lt3_rate == pytest.approx(2 / 3)


def test_documents_beside_a_failure_are_not_scored(score) -> None:
    scores = score({"q": {"a": 3}}, {"q": ["a"]}, failures={"q": "shard failed"})
    assert (one(scores), scores.answered.tolist()) == (0, [False])


def test_a_run_query_that_the_list_lacks_is_fully_unrated_and_in_no_mean(score) -> None:
    scores = score({"q": {"a": 3}}, {"q": ["a"], "new": ["a", "b"]})
    assert scores.unrated_share.tolist() == [0, 1]
    assert scores.mostly_unrated().tolist() == [False, True]
    assert np.isnan(scores.values[Metric.NDCG]).tolist() == [False, True]
    assert scores.mean(Metric.NDCG).n == 1
    assert scores.mean(Metric.JUDGED) == scores.means()[Metric.JUDGED]
    assert (scores.mean(Metric.JUDGED).value, scores.mean(Metric.JUDGED).n) == (0.5, 2)


def test_zero_hits_is_its_own_state(score) -> None:
    scores = score({"q": {"a": 3}}, {"q": []})
    assert math.isnan(scores.unrated_share[0])
    assert scores.mostly_unrated().tolist() == [False]
    assert [one(scores, m) for m in Metric][:5] == [0, 0, 0, 0, 0]
    assert math.isnan(scores.mean(Metric.JUDGED).value)


def test_exactly_half_unrated_is_not_mostly(score) -> None:
    scores = score({"q": {"a": 3}}, {"q": ["a", "b"]})
    assert scores.mostly_unrated().tolist() == [False]
    assert scores.mostly_unrated(0.49).tolist() == [True]


def test_three_in_ten_is_not_more_than_the_threshold_of_three_in_ten(score) -> None:
    docs = [f"d{i}" for i in range(10)]
    scores = score({"q": dict.fromkeys(docs[:7], 1)}, {"q": docs})
    assert scores.mostly_unrated(0.3).tolist() == [False]


def test_recall_is_over_the_queries_that_define_it(score) -> None:
    scores = score({"q": {"a": 3}, "r": {"a": 1}}, {"q": ["a"], "r": ["a"]})
    assert (scores.mean(Metric.RECALL).value, scores.mean(Metric.RECALL).n) == (1.0, 1)
    assert scores.mean(Metric.PRECISION).n == 2


def test_a_query_without_listed_hits_makes_the_mean_unknown(score) -> None:
    scores = score({"q": {"a": 3}, "r": {"a": 3}}, {"q": ["a"], "r": None})
    assert scores.unlisted.tolist() == [False, True]
    assert math.isnan(scores.mean(Metric.NDCG).value)


def test_bare_unrated_documents_count_out_of_the_files_k(score) -> None:
    bare = GivenQuery(0.4, ("u1", "u2", "u3", "u4", "u5", "u6"))
    given = GivenScores("dcg", 8, normalized=True, metric_score=0.4, queries={"q": bare})
    scores = score({"q": {"a": 3}}, {"q": None}, given=given)
    assert scores.unrated_share.tolist() == [0.75]
    assert scores.mostly_unrated().tolist() == [True]


def test_traffic_weights_move_the_mean_and_not_n(score) -> None:
    scores = score({"q": {"a": 3}, "r": {"a": 3}}, {"q": ["a"], "r": []})
    weighted = scores.mean(Metric.NDCG, weights=np.array([3.0, 1.0]))
    assert (weighted.value, weighted.n) == (0.75, 2)
    assert math.isnan(scores.mean(Metric.NDCG, weights=np.zeros(2)).value)
    for bad in ([1.0], [1.0, -1.0], [1.0, math.nan]):
        with pytest.raises(UsageError, match="weights"):
            scores.mean(Metric.NDCG, weights=np.array(bad))


def test_a_floor_that_no_grade_reaches_is_refused(score) -> None:
    with pytest.raises(UsageError, match=r"scale 0-1 .* floor 2"):
        score({"q": {"a": 1}}, {"q": ["a"]}, scale="0-1")


def test_a_listed_query_without_judgments_is_not_judged(score) -> None:
    scores = score({"q": {"a": 3}, "bare": {}}, {"q": ["a"], "bare": ["a"]})
    assert scores.judged.tolist() == [True, False]
    assert scores.mean(Metric.NDCG).n == 1
    assert scores.unrated_share.tolist() == [0, 1]


def test_an_empty_run_scores_every_judged_query_zero(score) -> None:
    scores = score({"q": {"a": 3}}, {})
    assert [scores.mean(m).value for m in (Metric.NDCG, Metric.MRR, Metric.HIT)] == [0, 0, 0]
    assert math.isnan(scores.empty_rate)


def test_scoring_runs_together_equals_scoring_each(make_list, make_run) -> None:
    judgments = make_list({"q": {"a": 3, "b": 1}, "r": {"a": 2}})
    runs = [make_run({"q": ["b", "a"]}), make_run({"r": ["x", "a"], "s": ["a"]})]
    axis = align(judgments, runs)
    together = score_runs(judgments, runs, axis, Conventions())
    for number, run in enumerate(runs):
        alone = score_run(judgments, run, axis, number, Conventions())
        for metric in Metric:
            np.testing.assert_array_equal(alone.values[metric], together[number].values[metric])


def test_an_axis_of_another_list_or_run_is_refused(make_list, make_run) -> None:
    judgments, run = make_list({"q": {"a": 3}, "r": {"a": 1}}), make_run({"q": ["a"], "r": ["b"]})
    axis = align(judgments, [run])
    with pytest.raises(UsageError, match="judgment list has other queries"):
        score_run(make_list({"r": {"a": 1}, "q": {"a": 3}}), run, axis, 0, Conventions())
    with pytest.raises(UsageError, match="run 'run' has other queries"):
        score_run(judgments, make_run({"r": ["b"], "q": ["a"]}), axis, 0, Conventions())
    with pytest.raises(UsageError, match="no run 1"):
        score_run(judgments, run, axis, 1, Conventions())
