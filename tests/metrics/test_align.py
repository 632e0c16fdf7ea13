from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_cases import shared_case

from relgate.eval.lists.types import Query, match_key
from relgate.eval.metrics.align import align
from relgate.eval.metrics.overlap import overlap, require_overlap
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError


def test_runs_order_first_then_list_only_queries(make_list, make_run) -> None:
    judgments = make_list({"only-list": {"a": 1}, "q2": {"a": 1}})
    axis = align(judgments, [make_run({"q1": ["a"], "q2": ["a"]}), make_run({"q3": [], "q2": []})])
    assert [q.id for q in axis.queries] == ["q1", "q2", "q3", "only-list"]
    assert axis.list_index.tolist() == [-1, 1, -1, 0]
    assert [index.tolist() for index in axis.run_index] == [[0, 1, -1, -1], [-1, 1, 0, -1]]


def test_a_run_query_meets_a_list_query_that_is_its_text(make_list, make_run) -> None:
    run = make_run({Query("205277", "projector screen"): ["d"]})
    axis = align(make_list({"projector screen": {"d": 3}}), [run])
    assert axis.queries == (Query("205277", "projector screen"),)
    assert axis.list_index.tolist() == [0]


def test_texts_stand_in_for_a_run_without_texts(make_list, make_run) -> None:
    judgments, run = make_list({"projector screen": {"d": 3}}), make_run({"205277": ["d"]})
    assert len(align(judgments, [run])) == 2
    axis = align(judgments, [run], {"205277": "projector screen"})
    assert axis.queries == (Query("205277", "projector screen"),)


def test_two_runs_meet_by_text_where_their_ids_differ(make_list, make_run) -> None:
    runs = [make_run({Query("1", "oak desk"): ["d"]}), make_run({"oak desk": ["d"]})]
    axis = align(make_list({Query("x", "oak desk"): {"d": 3}}), runs)
    assert axis.queries == (Query("1", "oak desk"),)
    assert [i.tolist() for i in (axis.list_index, *axis.run_index)] == [[0], [0], [0]]


def test_an_id_known_from_any_run_meets_the_list(make_list, make_run) -> None:
    runs = [make_run({"oak desk": ["d"]}), make_run({Query("7", "oak desk"): ["d"]})]
    assert align(make_list({"7": {"d": 3}}), runs).list_index.tolist() == [0]


def test_the_id_goes_before_the_text(make_list, make_run) -> None:
    judgments = make_list({Query("1", "shoes"): {"d": 3}, Query("2", "shoes"): {"d": 0}})
    axis = align(judgments, [make_run({Query("2", "shoes"): ["d"], Query("1", "shoes"): ["d"]})])
    assert axis.list_index.tolist() == [1, 0]


def test_a_query_met_by_id_is_not_met_again_by_text(make_list, make_run) -> None:
    runs = [
        make_run({Query("1", "shoes"): ["d"]}),
        make_run({Query("1", "shoes"): ["d"], Query("2", "shoes"): ["d"]}),
    ]
    axis = align(make_list({"1": {"d": 3}}), runs)
    assert [query.id for query in axis.queries] == ["1", "2"]
    assert axis.run_index[0].tolist() == [0, -1]


def test_composed_and_decomposed_letters_meet(make_list, make_run) -> None:
    axis = align(make_list({"caf\u00e9": {"d": 3}}), [make_run({"cafe\u0301": ["d"]})])
    assert axis.list_index.tolist() == [0]


def test_two_run_queries_of_one_list_query_are_refused_by_name(make_list, make_run) -> None:
    run = make_run({Query("1", "shoes"): ["d"], Query("2", "shoes"): ["d"]})
    with pytest.raises(InputError, match="'1' and '2'"):
        align(make_list({"shoes": {"d": 3}}), [run])


def test_two_list_queries_of_one_run_query_are_refused_by_name(make_list, make_run) -> None:
    judgments = make_list({Query("a", "shoes"): {"d": 3}, Query("b", "shoes"): {"d": 3}})
    with pytest.raises(InputError, match="'a' and 'b'"):
        align(judgments, [make_run({Query("1", "shoes"): ["d"]})])


def test_one_id_twice_in_a_run_is_refused(make_list) -> None:
    run = Run("r", (Query("1"), Query("1")), (("a",), ("b",)))
    with pytest.raises(InputError, match="more than once in run 'r'"):
        align(make_list({"1": {"a": 1}}), [run])


def test_renumbered_ids_are_refused(make_list, make_run) -> None:
    runs = [
        make_run({Query("1", "shoes"): ["d"], Query("2", "desk"): ["d"]}),
        make_run({Query("2", "shoes"): ["d"], Query("1", "desk"): ["d"]}, name="after"),
    ]
    with pytest.raises(InputError, match=r"renumbered"):
        align(make_list({"shoes": {"d": 3}}), runs)


def test_another_text_under_one_id_is_said(make_list, make_run) -> None:
    judgments = make_list({Query("1", "red shoes"): {"d": 3}})
    axis = align(judgments, [make_run({Query("1", "red sandals"): ["d"]})])
    assert axis.list_index.tolist() == [0]
    assert "red shoes" in axis.warnings[0]
    assert "red sandals" in axis.warnings[0]


def test_case_and_blanks_in_a_text_are_not_worth_a_warning(make_list, make_run) -> None:
    judgments = make_list({Query("1", "Red  shoes"): {"d": 3}})
    assert align(judgments, [make_run({Query("1", "red shoes"): ["d"]})]).warnings == ()


def test_a_list_without_a_shared_id_is_refused_with_three_examples_a_side(
    shared: Path, make_list, make_run
) -> None:
    case = shared_case(shared, "I10")["input"]
    judgments = make_list({"q": dict.fromkeys(case["judged_docids"], 1)})
    runs = [make_run({"q": case["result_docids"]})]
    found = overlap(judgments, runs, align(judgments, runs))
    assert found.share == 0
    with pytest.raises(InputError, match="no judged id occurs in any result") as caught:
        require_overlap(found)
    assert all(i in str(caught.value) for i in case["judged_docids"] + case["result_docids"])


def test_a_list_of_other_queries_is_refused_as_such(make_list, make_run) -> None:
    """The queries are what does not meet, so those are shown: ids, and texts that say more."""
    judgments = make_list({Query("x", "red shoes"): {"doc-a": 1}, "lamp": {"doc-a": 1}})
    runs = [make_run({"q": ["doc-a"], Query("r", "oak desk"): ["doc-a"]})]
    with pytest.raises(InputError) as caught:
        require_overlap(overlap(judgments, runs, align(judgments, runs)))
    assert caught.value.what == (
        "no query of the runs is in the judgment list: the list has 'x' ('red shoes'), 'lamp', "
        "the runs 'q', 'r' ('oak desk')"
    )
    assert "--queries" in (caught.value.mend or "")


@pytest.mark.parametrize(("judged", "warns"), [(19, True), (20, False)])
def test_below_a_fifth_judged_warns(make_list, make_run, judged: int, *, warns: bool) -> None:
    docs = [f"d{i}" for i in range(100)]
    judgments, runs = make_list({"q": dict.fromkeys(docs[:judged], 1)}), [make_run({"q": docs})]
    found = overlap(judgments, runs, align(judgments, runs), k=100)
    assert (found.judged, found.retrieved) == (judged, 100)
    assert (require_overlap(found) is not None) is warns


def test_a_document_judged_only_below_k_warns_and_is_not_refused(make_list, make_run) -> None:
    judgments, runs = make_list({"q": {"deep": 3}}), [make_run({"q": ["a", "b", "deep"]})]
    found = overlap(judgments, runs, align(judgments, runs), k=2)
    assert found.share == 0
    assert "0%" in (require_overlap(found) or "")


def test_a_pair_that_both_runs_return_counts_once(make_list, make_run) -> None:
    judgments = make_list({"q": {"a": 1}, "r": {"z": 1}})
    runs = [make_run({"q": ["a", "b"]}), make_run({"q": ["a", "c"], "new": ["a"]})]
    found = overlap(judgments, runs, align(judgments, runs))
    assert (found.run_queries, found.judged_queries) == (2, 1)
    assert (found.retrieved, found.judged) == (4, 1)


def test_runs_without_hits_are_not_taken_for_no_overlap(make_list, make_run) -> None:
    judgments, runs = make_list({"q": {"a": 1}}), [make_run({"q": None})]
    found = overlap(judgments, runs, align(judgments, runs))
    assert math.isnan(found.share)
    assert "unknown" in (require_overlap(found) or "")


NAMES = st.sampled_from(["a", "b", "é", "e\u0301", "c"])
RANKED = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]), st.lists(NAMES, max_size=5), min_size=1, max_size=3
)


def plain_overlap(
    grades: dict[str, dict[str, int]], ranked: list[dict[str, list[str]]], k: int
) -> tuple[int, int, int, int, bool]:
    """The definition, a set a query."""
    asked = {query for run in ranked for query in run}
    retrieved, judged, any_judged = 0, 0, False
    for query in asked:
        known = {match_key(doc) for doc in grades.get(query, {})}
        lists = [list(map(match_key, run.get(query, ()))) for run in ranked]
        top = {doc for docs in lists for doc in docs[:k]}
        retrieved += len(top)
        judged += len(top & known)
        any_judged |= any(doc in known for docs in lists for doc in docs)
    return len(asked), sum(bool(grades.get(q)) for q in asked), retrieved, judged, any_judged


@settings(max_examples=200, deadline=None)
@given(
    grades=st.dictionaries(
        st.sampled_from(["q1", "q2", "q4"]),
        st.dictionaries(NAMES.map(match_key), st.just(1), max_size=3),
    ),
    ranked=st.lists(RANKED, min_size=1, max_size=3),
    k=st.integers(1, 4),
)
def test_overlap_is_that_of_its_definition(make_list, make_run, grades, ranked, k) -> None:
    runs = [make_run(own, name=f"run{n}") for n, own in enumerate(ranked)]
    judgments = make_list(grades)
    met = overlap(judgments, runs, align(judgments, runs), k=k)
    found = (met.run_queries, met.judged_queries, met.retrieved, met.judged, met.any_judged)
    assert found == plain_overlap(grades, ranked, k)


def test_a_list_keyed_by_ids_in_its_query_column_has_no_texts_to_differ(
    make_list, make_run
) -> None:
    judgments = make_list({Query("q1", "q1"): {"a": 3}, Query("q2", "q2"): {"b": 3}})
    run = make_run({Query("q1", "red shoe"): ["a"], Query("q2", "oak desk"): ["b"]})
    axis = align(judgments, [run])
    assert axis.warnings == ()
    assert [query.text for query in axis.queries] == ["red shoe", "oak desk"]
    later = align(judgments, [make_run({"q1": ["a"], "q2": ["b"]}), run])
    assert [query.text for query in later.queries] == ["red shoe", "oak desk"]


def test_texts_that_differ_are_one_line_however_many(make_list, make_run) -> None:
    judgments = make_list({Query(f"q{i}", f"blue {i}"): {"a": 3} for i in range(40)})
    run = make_run({Query(f"q{i}", f"red {i}"): ["a"] for i in range(40)})
    (line,) = align(judgments, [run]).warnings
    assert "'q0' is 'red 0' elsewhere and 'blue 0' in the judgment list" in line
    assert "39 more" in line
