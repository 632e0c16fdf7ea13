"""A loser's two lists side by side: what entered, left, rose, fell, and what that cost."""

from __future__ import annotations

import pytest

from relgate.eval.lists.types import Source
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.review.losers import Move, loser_of, top_losers
from relgate.eval.review.types import RankedDoc


def _lists(query, was, now, before=0.9, after=0.3):
    return query("q", before, after, was={"top": tuple(was)}, now={"top": tuple(now)})


A, B, C, D = RankedDoc("a", 3), RankedDoc("b", 1), RankedDoc("c", 0), RankedDoc("d")


def test_each_document_says_where_it_was_and_is(query):
    found = loser_of(_lists(query, (A, B, C), (D, B, A)), Conventions())
    assert [(x.doc_id, x.before, x.after, x.move) for x in found.before] == [
        ("a", 1, 3, Move.DOWN),
        ("b", 2, 2, Move.KEPT),
        ("c", 3, None, Move.LEFT),
    ]
    assert [(x.doc_id, x.move) for x in found.after] == [
        ("d", Move.ENTERED),
        ("b", Move.KEPT),
        ("a", Move.DOWN),
    ]
    assert [x.doc_id for x in found.left] == ["c"]


def test_a_document_that_rose_is_up(query):
    found = loser_of(_lists(query, (A, B), (B, A)), Conventions())
    assert [x.move for x in found.after] == [Move.UP, Move.DOWN]


def test_a_repeated_document_stands_once_at_its_first_rank(query):
    found = loser_of(_lists(query, (A, A, B), (B, A, A)), Conventions())
    assert [(x.doc_id, x.before, x.after) for x in found.before] == [("a", 1, 2), ("b", 3, 1)]


def test_one_id_in_two_spellings_is_one_document(query):
    was, now = RankedDoc("caf\u00e9", 3), RankedDoc("cafe\u0301", 3)
    found = loser_of(_lists(query, (was,), (D, now)), Conventions())
    assert [x.move for x in found.before] == [Move.DOWN]


def test_the_dearest_fall_stands_first_and_depends_on_the_gain(query):
    # exp2: d3 lost 7 (1/log2(3) - 1/log2(4)) = 0.92, d1 lost 1 - 1/log2(6) = 0.61;
    # linear: 3 * 0.1309 = 0.39 against 0.61
    three, one = RankedDoc("d3", 3), RankedDoc("d1", 1)
    moved = _lists(query, (one, three), (C, D, three, RankedDoc("e"), one))
    assert [x.doc_id for x in loser_of(moved, Conventions()).cost] == ["d3", "d1"]
    assert [x.doc_id for x in loser_of(moved, Conventions(gain="linear")).cost] == ["d1", "d3"]


def test_only_graded_documents_that_fell_or_left_cost(query):
    found = loser_of(
        _lists(query, (B, C, D, A), (A, RankedDoc("e"), RankedDoc("f"))), Conventions()
    )
    assert [x.doc_id for x in found.cost] == ["b"]


def test_above_the_fallen_stand_the_unrated_first_and_nothing_as_good(query):
    best = RankedDoc("best", 3)
    found = loser_of(_lists(query, (A,), (best, C, D, B, A, RankedDoc("below"))), Conventions())
    assert [x.doc_id for x in found.weak] == ["d", "c", "b"]


def test_without_grades_what_is_new_is_shown(query):
    found = loser_of(_lists(query, (D,), (RankedDoc("x"), D)), Conventions())
    assert (found.cost, [x.doc_id for x in found.weak]) == ((), ["x"])


def test_lists_that_the_files_do_not_hold_are_said_to_be_absent(query):
    found = loser_of(query("q", 0.9, 0.1), Conventions())
    assert (found.listed, found.before, found.after) == (False, (), ())


def test_a_failed_query_lost_everything_it_had(query):
    dead = query(
        "q", 0.8, 0.0, was={"top": (A, B)}, now={"error": "timeout", "returned": 0, "top": ()}
    )
    found = loser_of(dead, Conventions())
    assert [x.doc_id for x in found.cost] == ["a", "b"]


@pytest.mark.parametrize(("losing", "shown"), [(0, 0), (3, 3), (14, 10)])
def test_the_ten_worst_are_shown_worst_first(evidence, many, losing, shown):
    found = top_losers(evidence(*many(20, *[-0.01 * (i + 1) for i in range(losing)])))
    assert len(found) == shown
    deltas = [x.query.delta for x in found]
    assert deltas == sorted(deltas)


def test_who_graded_is_a_kind_and_never_a_name(query):
    found = loser_of(_lists(query, (RankedDoc("a", 3, Source.HUMAN),), (D,)), Conventions())
    assert found.before[0].source is Source.HUMAN
