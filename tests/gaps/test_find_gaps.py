"""What nobody rated, within a depth or in whole runs."""

from __future__ import annotations

import unicodedata

import pytest

from relgate.eval.gaps.find import find_gaps
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Source
from relgate.eval.metrics.align import align
from relgate.eval.runs.types import GivenQuery, GivenScores, Run


def a_list(rows, *, queries=()):
    builder = ListBuilder(SCALES["0-3"])
    for query in queries:
        builder.add_query(query)
    for query, doc, grade in rows:
        keyed = query if isinstance(query, Query) else Query(query, query)
        builder.add(keyed, doc, grade, Provenance(Source.HUMAN))
    return builder.build()


def a_run(name="run", /, **docs):
    queries = tuple(Query(q.replace("_", " ")) for q in docs)
    return Run(name, queries, tuple(None if d is None else tuple(d) for d in docs.values()))


def gaps_of(judgments, *runs, depth=10):
    return find_gaps(judgments, runs, align(judgments, runs), depth=depth)


def as_dict(gaps):
    return {gap.query.id: gap.doc_ids for gap in gaps}


def test_what_is_rated_is_no_gap():
    judgments = a_list([("q", "a", 3), ("q", "b", 0)])
    assert as_dict(gaps_of(judgments, a_run(q=["a", "b", "x"]))) == {"q": ("x",)}


def test_a_query_without_a_gap_is_left_out():
    judgments = a_list([("q", "a", 3), ("p", "b", 1)])
    assert gaps_of(judgments, a_run(q=["a"], p=["b"])) == []


def test_a_grade_counts_for_its_own_query_only():
    judgments = a_list([("q", "a", 3), ("p", "b", 1)])
    assert as_dict(gaps_of(judgments, a_run(q=["a", "b"], p=["a", "b"]))) == {
        "q": ("b",),
        "p": ("a",),
    }


@pytest.mark.parametrize(("depth", "found"), [(1, ()), (2, ("x",)), (3, ("x", "y")), (9, "xyz")])
def test_the_depth_is_a_cut_on_each_side(depth, found):
    judgments = a_list([("q", "a", 3)])
    gaps = gaps_of(judgments, a_run(q=["a", "x", "y", "z"]), depth=depth)
    assert as_dict(gaps).get("q", ()) == tuple(found)


def test_no_depth_looks_at_whole_runs():
    judgments = a_list([("q", "a", 3)])
    docs = ["a", *(f"x{i}" for i in range(30))]
    assert as_dict(gaps_of(judgments, a_run(q=docs), depth=None)) == {"q": tuple(docs[1:])}


def test_a_document_of_both_sides_is_one_gap_at_its_first_place():
    judgments = a_list([("q", "a", 3)])
    before, after = a_run("before", q=["x", "a", "y"]), a_run("after", q=["z", "y", "x"])
    (gap,) = gaps_of(judgments, before, after)
    assert gap.doc_ids == ("x", "y", "z")
    assert gap.returned == 4


def test_a_repeat_keeps_its_place_within_the_depth():
    """The order given is the order scored: a repeated document takes a rank of its own."""
    judgments = a_list([("q", "a", 3)])
    assert as_dict(gaps_of(judgments, a_run(q=["a", "a", "x"]), depth=2)) == {}
    assert as_dict(gaps_of(judgments, a_run(q=["a", "a", "x"]), depth=3)) == {"q": ("x",)}


def test_composed_and_decomposed_letters_are_one_document_and_one_query():
    """Case C12: a word in NFC and in NFD is one word everywhere."""
    composed, decomposed = "caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9")
    assert composed != decomposed
    judgments = a_list([(composed, composed, 3)])
    run = Run("run", (Query(decomposed),), ((decomposed, "x"),))
    assert as_dict(gaps_of(judgments, run)) == {composed: ("x",)}
    both = Run("run", (Query(composed),), ((f"x{composed}", f"x{decomposed}"),))
    assert as_dict(gaps_of(judgments, both)) == {composed: (f"x{composed}",)}


def test_a_query_that_nobody_judged_is_all_gap():
    judgments = a_list([("q", "a", 3)])
    assert as_dict(gaps_of(judgments, a_run(q=["a"], new=["a", "x"]))) == {"new": ("a", "x")}


def test_a_query_of_the_list_alone_has_no_gap():
    judgments = a_list([("q", "a", 3), ("p", "b", 1)])
    assert gaps_of(judgments, a_run(q=["a"])) == []


def test_a_query_of_one_side_alone_is_looked_at():
    judgments = a_list([("q", "a", 3)])
    before, after = a_run("before", q=["a"]), a_run("after", q=["a"], p=["x"])
    assert as_dict(gaps_of(judgments, before, after)) == {"p": ("x",)}


def test_a_failed_query_and_one_without_hits_have_no_gap():
    judgments = a_list([("q", "a", 3)])
    run = Run("run", (Query("q"), Query("p")), (None, ()), failures={"q": "timeout"})
    assert gaps_of(judgments, run) == []


def given(**unrated):
    queries = {q: GivenQuery(0.5, None if d is None else tuple(d)) for q, d in unrated.items()}
    scores = GivenScores(None, None, None, 0.5, queries)
    return Run("bare", tuple(map(Query, queries)), (None,) * len(queries), given=scores)


def test_where_a_file_gives_no_hits_what_it_names_as_unrated_is_a_gap():
    judgments = a_list([("q", "a", 3), ("q", "b", 0)])
    assert as_dict(gaps_of(judgments, given(q=["b", "x", "y"]))) == {"q": ("x", "y")}
    assert gaps_of(judgments, given(q=None)) == []
    assert as_dict(gaps_of(judgments, given(q=["x", "y"]), depth=1)) == {"q": ("x",)}


# --- the text that a judge will see


def test_the_gap_carries_the_lists_own_query_with_the_best_text_known():
    judgments = a_list([(Query("7"), "a", 3)])
    run = Run("run", (Query("7", "red shoes"),), (("x",),))
    (gap,) = gaps_of(judgments, run)
    assert gap.query == Query("7", "red shoes")


def test_the_lists_text_comes_before_the_runs():
    judgments = a_list([(Query("7", "red shoes"), "a", 3)])
    run = Run("run", (Query("7", "Red  Shoes"),), (("x",),))
    assert gaps_of(judgments, run)[0].query.text == "red shoes"


def test_a_query_that_meets_by_its_text_lands_on_the_lists_id():
    judgments = a_list([(Query("7", "red shoes"), "a", 3)])
    (gap,) = gaps_of(judgments, a_run(red_shoes=["a", "x"]))
    assert gap.query == Query("7", "red shoes")
    assert gap.doc_ids == ("x",)


@pytest.mark.parametrize("listed", [True, False])
def test_an_id_alone_is_no_text_whether_or_not_it_is_in_the_list(listed):
    """A TREC list says `7`, and so does the run: what the shopper typed is not known."""
    judgments = a_list([(Query("7" if listed else "8"), "a", 3)])
    (gap,) = gaps_of(judgments, a_run(**{"7": ["x"]}))
    assert gap.query.shown == "7"
    assert gap.query.text is None


def test_a_list_keyed_by_text_knows_its_texts():
    judgments = a_list([("red shoes", "a", 3)])
    assert gaps_of(judgments, a_run(red_shoes=["x"]))[0].query.text == "red shoes"
