"""Lists and runs out of dictionaries are those that rows make, and score alike."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.given import list_of_grades
from relgate.eval.lists.ids import Ids
from relgate.eval.lists.types import SCALES, Provenance, Query, Scale, Source
from relgate.eval.metrics.align import align
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.score import score_run
from relgate.eval.runs.given import run_of_ranked, run_of_scores
from relgate.eval.runs.types import Ranking, Run
from relgate.rubrics.errors import InputError

SCALE = SCALES["0-3"]
IDS = st.sampled_from(["a", "b", "c", "d", "caf\u00e9", "cafe\u0301", "x" * 30, "\u212a", "K"])
QUERIES = st.sampled_from(["q1", "q2", "q3", "\u00e9"])
GRADES = st.dictionaries(QUERIES, st.dictionaries(IDS, st.integers(0, 3), max_size=6), max_size=4)
RANKED = st.dictionaries(QUERIES, st.lists(IDS, max_size=8), max_size=4)
CONVENTIONS = st.builds(
    Conventions,
    k=st.integers(1, 9),
    floor=st.integers(1, 3),
    unrated=st.sampled_from(["zero", "condensed", "judged-only"]),
)


def _by_rows(grades):
    builder = ListBuilder(SCALE)
    for query, own in grades.items():
        builder.add_query(Query(query))
        for doc, grade in own.items():
            builder.add(Query(query), doc, grade, Provenance(Source.IMPORT))
    return builder.build()


def _by_dictionary(grades):
    return list_of_grades(grades, scale=SCALE)


def _or_fault(make, grades):
    try:
        return make(grades)
    except InputError as error:
        return str(error)


def _as_bytes(run: Run) -> Run:
    """The same run as a file gives it: ids as bytes, no text at hand."""
    ids = run.ranking.ids
    held = Ids.within(*ids.held(), plain=ids.keys() is ids)
    return Run(run.name, run.queries, Ranking(held, run.ranking.starts, run.ranking.counts))


@given(grades=GRADES, ranked=RANKED, conventions=CONVENTIONS)
def test_both_ways_to_look_up_give_the_same_scores(grades, ranked, conventions):
    by_rows, by_dictionary = _or_fault(_by_rows, grades), _or_fault(_by_dictionary, grades)
    if isinstance(by_rows, str):
        assert by_dictionary == by_rows
        return
    run = run_of_ranked(ranked, name="r")
    assert list(by_dictionary.rows()) == list(by_rows.rows())
    assert by_dictionary.queries == by_rows.queries
    plain = Run("r", tuple(map(Query, ranked)), tuple(map(tuple, ranked.values())))
    assert run.docs == plain.docs
    one, two, three = (
        score_run(judgments, one_run, align(judgments, [one_run]), 0, conventions)
        for judgments, one_run in (
            (by_dictionary, run),
            (by_rows, plain),
            (by_dictionary, _as_bytes(run)),
        )
    )
    for other in (two, three):
        assert np.array_equal(one.top, other.top)
        assert np.array_equal(one.repeats, other.repeats)
        assert np.array_equal(one.few, other.few)
        for metric in Metric:
            assert np.array_equal(one.values[metric], other.values[metric], equal_nan=True)


def test_a_list_keeps_the_grades_that_it_was_made_of():
    grades = {"q": {"a": 3}}
    judgments = list_of_grades(grades, scale=SCALE)
    grades["q"]["a"] = 0
    run = run_of_ranked({"q": ["a"]}, name="r")
    scores = score_run(judgments, run, align(judgments, [run]), 0, Conventions())
    assert scores.values[Metric.NDCG].tolist() == [1.0]


@pytest.mark.parametrize(
    ("grades", "what"),
    [
        ({"q": {"a": 1.5}}, "float"),
        ({"q": {"a": True}}, "bool"),
        ({"q": {"a": None}}, "NoneType"),
        ({"q": {"a": 4}}, "not on the scale"),
        ({"q": {"a": -1}}, "not on the scale"),
        ({"q": {"": 1}}, "empty"),
        ({"": {"a": 1}}, "empty"),
        ({"q": {"caf\u00e9": 1, "cafe\u0301": 2}}, "two different grades"),
    ],
)
def test_a_fault_in_a_dictionary_of_grades_is_refused(grades, what):
    with pytest.raises(InputError, match=what):
        list_of_grades(grades, scale=SCALE)


def test_scores_give_the_order_and_equal_ones_keep_the_given_order_and_are_noted():
    run = run_of_scores({"q": {"a": 1, "b": 3.0, "c": 1}, "p": {}, "r": {"x": 2, "y": 1}}, name="r")
    assert run.docs == (("b", "a", "c"), (), ("x", "y"))
    (note,) = run.notes
    assert "equal scores" in note
    assert "'q'" in note


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_score_that_is_not_finite_is_refused(score):
    with pytest.raises(InputError, match="'b' is not finite"):
        run_of_scores({"q": {"a": 1.0, "b": score}}, name="r")


def test_an_empty_id_in_a_run_is_refused():
    for broken in ({"q": ["a", ""]}, {"": ["a"]}):
        with pytest.raises(InputError, match="empty"):
            run_of_ranked(broken, name="r")


def test_dictionaries_are_copied() -> None:
    """What a caller does to them afterwards changes no figure and no id."""
    grades, scores = {"q": {"a": 3, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}}
    ranked = {"q": ["a", "b"]}
    judgments = list_of_grades(grades, scale=SCALE)
    runs = [run_of_scores(scores, name="r"), run_of_ranked(ranked, name="r")]
    grades["q"]["c"] = 1
    scores["q"].clear()
    ranked["q"].reverse()
    assert list(judgments.doc_id) == ["a", "b"]
    for run in runs:
        assert run.docs[0] == ("a", "b")
        assert score_run(judgments, run, align(judgments, [run]), 0, Conventions()).returned == [2]


def test_a_grade_beyond_any_integer_is_off_the_scale() -> None:
    with pytest.raises(InputError, match="is not on the scale"):
        list_of_grades({"q": {"a": 1 << 80}}, scale=SCALE)


def test_two_texts_of_one_id_are_one_document_however_the_run_came() -> None:
    composed, parted = "caf\u00e9", "cafe\u0301"
    judgments = list_of_grades({"q": {composed: 3}}, scale=SCALE)
    for run in (
        run_of_scores({"q": {composed: 2.0, parted: 1.0}}, name="r"),
        run_of_ranked({"q": [composed, parted]}, name="r"),
    ):
        scores = score_run(judgments, run, align(judgments, [run]), 0, Conventions())
        assert (scores.returned.tolist(), scores.repeats.tolist()) == ([1], [1])


def test_a_document_twice_counts_once_in_its_query_alone() -> None:
    judgments = list_of_grades({"q": {"a": 3}, "p": {"a": 1}}, scale=SCALE)
    run = run_of_ranked({"q": ["a", "b", "a"], "p": ["a", "b"]}, name="r")
    scores = score_run(judgments, run, align(judgments, [run]), 0, Conventions())
    assert scores.repeats.tolist() == [1, 0]
    assert scores.returned.tolist() == [2, 2]


@pytest.mark.parametrize("best", [127, 128, 255, 256, 1000])
def test_a_grade_of_any_scale_is_looked_up_as_it_is(best: int) -> None:
    judgments = list_of_grades({"q": {"a": best, "b": 1}}, scale=Scale("wide", best))
    run = run_of_ranked({"q": ["x", "a", "b"]}, name="r")
    scores = score_run(judgments, run, align(judgments, [run]), 0, Conventions(gain="linear"))
    assert scores.top.tolist() == [[-1, best, 1]]
