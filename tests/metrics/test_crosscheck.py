from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from relgate.eval.metrics.align import align
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.metrics.crosscheck import CrossCheck, crosscheck
from relgate.eval.metrics.score import score_run
from relgate.eval.runs.types import GivenQuery, GivenScores


@pytest.fixture(scope="module")
def check(make_list: Any, make_run: Any) -> Any:
    def build(
        grades: Any,
        ranked: Any,
        given: GivenScores | None,
        conventions: Conventions | None = None,
        **rest: object,
    ) -> CrossCheck:
        judgments, run = make_list(grades), make_run(ranked, given=given, **rest)
        axis = align(judgments, [run])
        scores = score_run(judgments, run, axis, 0, conventions or Conventions())
        return crosscheck(judgments, run, axis, 0, scores)

    return build


def given(
    metric: str | None,
    scores: dict[str, float | None],
    *,
    aggregate: float | None = None,
    k: int | None = 10,
    normalized: bool | None = None,
    ratings: dict[str, dict[str, float]] | None = None,
) -> GivenScores:
    queries = {q: GivenQuery(s, None, (ratings or {}).get(q)) for q, s in scores.items()}
    return GivenScores(metric, k, normalized, aggregate, queries)


# ---- real responses of Elasticsearch (data/rank_eval_es) with the ratings of their requests ----


@pytest.fixture(scope="module")
def real(shared: Path) -> Any:
    folder = shared / "data" / "rank_eval_es"

    def load(number: int, form: str) -> tuple[dict[str, dict[str, int]], dict[str, Any]]:
        request = json.loads((folder / "requests" / f"demo_request_{number}.json").read_text())
        name = f"response_{number}_{form}.json"
        response = json.loads((folder / "responses" / name).read_text())
        grades = {
            r["id"]: {x["_id"]: x["rating"] for x in r["ratings"]} for r in request["requests"]
        }
        return grades, response.get("rank_eval", response)

    return load


def parts(response: dict[str, Any]) -> tuple[dict[str, list[str]], dict[str, float], float]:
    ranked = {q: [h["hit"]["_id"] for h in d["hits"]] for q, d in response["details"].items()}
    key = "metric_score" if "metric_score" in response else "quality_level"
    return ranked, {q: d[key] for q, d in response["details"].items()}, response[key]


@pytest.mark.parametrize(
    ("number", "form", "metric"),
    [
        (1, "old6x", "precision"),
        (2, "es7", "precision"),
        (3, "old6x", "precision"),
        (4, "old6x", "dcg"),
    ],
)
def test_elasticsearchs_own_scores_are_met_or_explained(real, check, number, form, metric) -> None:
    grades, response = real(number, form)
    ranked, scores, aggregate = parts(response)
    own = given(metric, scores, aggregate=aggregate, k=5, normalized=True)
    found = check(grades, ranked, own, Conventions(k=5, no_ideal="zero"))
    assert found.compared == len(scores) + 1
    assert found.not_checked is None
    assert found.mismatches == ()
    deeper = check(grades, ranked, own, Conventions(k=10))
    assert all(m.explained for m in deeper.mismatches)
    assert all("its k is 5, not 10" in m.explanation for m in deeper.mismatches if m.query)


def test_a_changed_score_in_a_real_response_is_unexplained(real, check) -> None:
    grades, response = real(4, "old6x")
    ranked, scores, aggregate = parts(response)
    scores["JFK_query"] -= 0.013
    own = given("dcg", scores, aggregate=aggregate, k=5, normalized=True)
    found = check(grades, ranked, own, Conventions(k=5, no_ideal="zero"))
    assert [m.query and m.query.id for m in found.mismatches] == ["JFK_query"]
    assert not found.mismatches[0].explained


# ---- made-up files: one way of the engine at a time ----


def test_the_ideal_cut_to_the_hits_is_explained(check) -> None:
    # two hits: ideal 7 + 7/log2(3) over two, not over all four ratings
    grades = {"q": {"a": 3, "b": 3, "c": 3, "d": 3}}
    found = check(grades, {"q": ["a", "b"]}, given("dcg", {"q": 1.0}, normalized=True))
    (mismatch,) = found.mismatches
    assert mismatch.explanation == "the engine's way: it cuts the ideal to the 2 hits returned"
    assert mismatch.ours == pytest.approx((1 + 1 / math.log2(3)) / 2.5616, abs=1e-4)


def test_an_ideal_made_of_the_retrieved_documents_alone_is_explained(check) -> None:
    # the best document was not retrieved: 1 + 3/log2(3) over 3 + 1/log2(3), not over 7 + ...
    grades = {"q": {"best": 3, "a": 1, "b": 2}, "r": {"a": 3, "b": 0}}
    score = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    own = given("dcg", {"q": score, "r": 1.0}, aggregate=(score + 1) / 2, normalized=True)
    query, total = check(grades, {"q": ["a", "b", "x"], "r": ["a"]}, own).mismatches
    assert query.explanation == (
        "the engine's way: it makes the ideal of the 3 hits returned alone"
    )
    assert total.explanation == "the engine's way: 1 query has another score, see there"


def test_a_rating_of_unrated_hits_is_explained(check) -> None:
    # unknown_doc_rating = 1: the unrated hit in front gains 1, the ideal is that of the ratings
    score = (1 + 7 / math.log2(3)) / 7
    own = given("dcg", {"q": score, "r": 1.0}, normalized=True)
    grades = {"q": {"a": 3}, "r": {"a": 3}}
    (mismatch,) = check(grades, {"q": ["x", "a"], "r": ["a"]}, own).mismatches
    assert mismatch.explanation == (
        "the engine's way: it rates an unrated hit 1 (unknown_doc_rating)"
    )


def test_one_way_holds_for_a_whole_file(check) -> None:
    # "q" fits unrated hits rated 1, "r" and "s" fit unrated hits rated 2: one setting is tried
    ranked = {"q": ["x", "a"], "r": ["x", "b"], "s": ["x", "b"]}
    grades = {"q": {"a": 3}, "r": {"b": 2}, "s": {"b": 2}}
    by_one, by_two = (1 + 7 / math.log2(3)) / 7, (3 + 3 / math.log2(3)) / 3
    own = given("dcg", {"q": by_one, "r": by_two, "s": by_two}, normalized=True)
    said = {m.query.id: m.explanation for m in check(grades, ranked, own).mismatches}
    assert said["q"] == "unexplained"
    assert "unrated hit 2" in said["r"]
    assert "unrated hit 2" in said["s"]


def test_an_ideal_cut_at_k_though_fewer_came_back_is_met(check) -> None:
    grades, ranked = {"q": {"a": 3, "b": 3}}, {"q": ["a"]}
    own = given("dcg", {"q": 7 / (7 + 7 / math.log2(3))}, k=5, normalized=True)
    assert check(grades, ranked, own).mismatches == ()
    (mismatch,) = check(grades, ranked, own, Conventions(k=1)).mismatches
    assert mismatch.explanation == "the engine's way: its k is 5, not 1"


def test_a_query_without_an_ideal_as_zero_is_explained(check) -> None:
    own = given("dcg", {"q": 0.0}, normalized=True)
    (mismatch,) = check({"q": {"a": 0}}, {"q": ["a"]}, own).mismatches
    assert "without an ideal as 0" in mismatch.explanation
    assert math.isnan(mismatch.ours)


def test_dcg_that_is_not_divided_is_explained(check) -> None:
    own = given("dcg", {"q": 7.0})
    (mismatch,) = check({"q": {"a": 3}}, {"q": ["a"]}, own).mismatches
    assert "not divided by the ideal" in mismatch.explanation


def test_linear_gain_on_our_side_is_explained(check) -> None:
    grades, ranked = {"q": {"a": 1, "b": 3}}, {"q": ["a", "b"]}
    score = (1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3))
    own = given("dcg", {"q": score}, normalized=True)
    (mismatch,) = check(grades, ranked, own, Conventions(gain="linear")).mismatches
    assert "2^rating - 1" in mismatch.explanation
    assert check(grades, ranked, own).mismatches == ()


@pytest.mark.parametrize(
    ("metric", "score", "named"),
    [
        ("precision", 1 / 3, "3 hits returned, not by 10"),
        ("precision", 2 / 3, "grade 1 for relevant, not 2"),
        ("precision", 1 / 2, "2 rated hits"),
        ("mean_reciprocal_rank", 1.0, "grade 1 for relevant, not 2"),
        ("recall", 2 / 3, "grade 1 for relevant, not 2"),
    ],
)
def test_the_engines_thresholds_and_divisors_are_explained(check, metric, score, named) -> None:
    grades, ranked = {"q": {"a": 1, "b": 3, "z": 2}}, {"q": ["a", "b", "x"]}
    (mismatch,) = check(grades, ranked, given(metric, {"q": score})).mismatches
    assert mismatch.explained
    assert named in mismatch.explanation


def test_other_ratings_in_the_file_are_named(check) -> None:
    own = given("mean_reciprocal_rank", {"q": 1.0}, ratings={"q": {"a": 3, "b": 0}})
    (mismatch,) = check({"q": {"a": 0, "b": 3}}, {"q": ["a", "b"]}, own).mismatches
    assert "rates 2 of 2 hits otherwise" in mismatch.explanation


def test_a_score_of_a_query_that_also_failed_is_unexplained(check) -> None:
    own = given("dcg", {"q": 1.0}, normalized=True, ratings={"q": {"a": 3}})
    (mismatch,) = check({"q": {"a": 3}}, {"q": ["a"]}, own, failures={"q": "timeout"}).mismatches
    assert (mismatch.ours, mismatch.explained) == (0, False)


def test_a_query_that_the_list_lacks_is_named(check) -> None:
    own = given("dcg", {"q": 1.0, "new": 0.0}, normalized=True)
    (mismatch,) = check({"q": {"a": 3}}, {"q": ["a"], "new": ["a"]}, own).mismatches
    assert "no grade for this query" in mismatch.explanation


@pytest.mark.parametrize("score", [0.123, math.nan, math.inf])
def test_a_score_that_nothing_gives_is_unexplained(check, score: float) -> None:
    found = check({"q": {"a": 3}}, {"q": ["a"]}, given("dcg", {"q": score}))
    assert [m.explanation for m in found.mismatches] == ["unexplained"]


def test_failed_queries_left_out_of_the_mean_are_explained(check) -> None:
    own = given("dcg", {"q": 1.0}, aggregate=1.0, normalized=True)
    grades = {"q": {"a": 3}, "r": {"a": 3}}
    found = check(grades, {"q": ["a"], "r": None}, own, failures={"r": "timeout"})
    (total,) = found.mismatches
    assert (total.query, total.given, total.ours) == (None, 1.0, 0.5)
    assert total.explanation == "the engine's way: 1 failed query is left out of its mean"


def test_an_aggregate_that_is_not_the_mean_of_its_queries_is_unexplained(check) -> None:
    own = given("dcg", {"q": 1.0}, aggregate=0.834, normalized=True)
    (total,) = check({"q": {"a": 3}}, {"q": ["a"]}, own).mismatches
    assert not total.explained
    assert "not the mean of the file's own 1 scores" in total.explanation


def test_agreeing_scores_give_no_mismatch(check) -> None:
    own = given("dcg", {"q": 1.0, "r": 0.0}, aggregate=0.5, normalized=True)
    found = check({"q": {"a": 3}, "r": {"a": 3}}, {"q": ["a"], "r": ["x"]}, own)
    assert found == CrossCheck(3, ())


@pytest.mark.parametrize(
    ("own", "ranked", "why"),
    [
        (None, ["a"], "holds no scores"),
        (given(None, {"q": 1.0}), ["a"], "does not name its metric"),
        (given("expected_reciprocal_rank", {"q": 1.0}), ["a"], "expected_reciprocal_rank"),
        (given("dcg", {"q": 1.0}, aggregate=1.0), None, "1 of 1 scores"),
        (given("dcg", {"q": 1.0}, normalized=True), ["a"], "no aggregate"),
    ],
)
def test_what_was_not_checked_is_said(check, own, ranked, why: str) -> None:
    found = check({"q": {"a": 3}}, {"q": ranked}, own)
    assert found.mismatches == ()
    assert why in found.not_checked
