"""Which queries are compared, in which order, and what stands on the left."""

from __future__ import annotations

import pytest

from relgate.eval.sidebyside.match import Side, left_of, order_for
from relgate.rubrics.errors import InputError, UsageError


def test_a_query_with_one_list_on_both_sides_asks_nobody(matched):
    found = matched({"a": ["1", "2"], "b": ["1"]}, {"a": ["1", "2"], "b": ["2"]})
    assert [m.query.id for m in found.matches] == ["b"]
    assert [q.id for q in found.same] == ["a"]


def test_what_differs_beyond_k_is_the_same(matched):
    found = matched(
        {"a": ["1", "2", "3", "x"], "b": ["1"]}, {"a": ["1", "2", "3", "y"], "b": ["2"]}, k=3
    )
    assert [q.id for q in found.same] == ["a"]


def test_an_empty_result_is_a_list_that_people_see(matched):
    (match,) = matched({"a": ["1"]}, {"a": []}).matches
    assert (match.before, match.after) == (("1",), ())


def test_a_query_of_one_side_is_told_apart(matched):
    found = matched({"a": ["1"], "b": ["1"]}, {"a": ["2"]})
    assert [q.id for q in found.unknown] == ["b"]


def test_runs_that_show_the_same_everywhere_are_refused(matched):
    with pytest.raises(InputError, match="the same 3 documents"):
        matched({"a": ["1"]}, {"a": ["1"]})


def test_runs_without_a_common_query_are_refused(matched):
    with pytest.raises(InputError, match="share no query"):
        matched({"a": ["1"]}, {"b": ["1"]})


def test_a_sample_is_drawn_by_lot_and_the_rest_counted(many):
    whole, part = many(50), many(50, sample=10)
    assert (len(part.matches), part.undrawn) == (10, 40)
    assert part.matches == whole.matches[:10]
    with pytest.raises(UsageError, match="1 or more"):
        many(5, sample=0)


def test_each_side_is_left_about_half_the_time_and_for_each_rater_otherwise(many):
    found = many(1_000)
    ids = [m.query.id for m in found.matches]
    ann = [left_of(found, "ann", q) for q in ids]
    bob = [left_of(found, "bob", q) for q in ids]
    assert ann == [left_of(found, "ann", q) for q in ids]
    for sides in (ann, bob):
        assert 434 <= sides.count(Side.BEFORE) <= 566  # p < 1e-4 outside, of a fair coin
    alike = sum(a is b for a, b in zip(ann, bob, strict=True))
    assert 434 <= alike <= 566


def test_raters_have_orders_of_their_own_over_the_same_queries(many):
    found = many(50)
    ann, bob = order_for(found, "ann"), order_for(found, "bob")
    assert ann != bob
    assert set(ann) == set(bob) == set(found.matches)


def test_other_lists_depth_or_seed_are_another_key(matched, many):
    keys = {many(5).key, many(5, seed=1).key, many(5, k=2).key, many(6).key}
    keys |= {
        matched({"a": ["1", "2"]}, {"a": ["3"]}).key,
        matched({"a": ["1"]}, {"a": ["2", "3"]}).key,
    }
    assert len(keys) == 6
    assert many(5).key == many(5).key
