"""Drawing a sample: a budget shared fairly, an order that tells nothing."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relgate.eval.lists.types import Query
from relgate.eval.sampling.draw import draw_sample
from relgate.eval.sampling.pool import PoolPair, Stratum
from relgate.rubrics.errors import UsageError


def pairs(**queries):
    """`stratum_query=n`: n documents of a query in a stratum."""
    return [
        PoolPair(Query(name), f"{name}-{i:03}", Stratum(name.split("_")[0]))
        for name, n in queries.items()
        for i in range(n)
    ]


def test_without_a_budget_every_pair_is_drawn_once():
    pool = pairs(a_1=3, b_1=5)
    drawn = draw_sample(pool).pairs
    assert Counter(drawn) == Counter(pool)


def test_a_large_stratum_cannot_crowd_out_a_small_one():
    pool = pairs(head_1=200, head_2=200, tail_1=10)
    strata = {s.stratum.name: s for s in draw_sample(pool, budget=20).strata}
    assert (strata["head"].sampled, strata["tail"].sampled) == (10, 10)
    assert (strata["head"].pool, strata["head"].queries) == (400, 2)


def test_what_a_small_stratum_does_not_need_goes_to_the_others():
    strata = draw_sample(pairs(a_1=2, b_1=50, c_1=50), budget=12).strata
    assert [s.sampled for s in strata] == [2, 5, 5]


def test_within_a_stratum_queries_take_turns():
    drawn = draw_sample(pairs(a_1=50, a_2=50, a_3=50, a_4=1), budget=10).pairs
    assert Counter(p.query.id for p in drawn) == {"a_1": 3, "a_2": 3, "a_3": 3, "a_4": 1}


@given(
    st.dictionaries(
        st.sampled_from(["a_1", "a_2", "b_1", "b_2", "c_1"]), st.integers(1, 9), min_size=1
    ),
    st.integers(1, 60),
    st.integers(),
)
def test_a_sample_is_of_the_pool_and_as_large_as_the_budget_allows(queries, budget, seed):
    pool = pairs(**queries)
    sample = draw_sample(pool, budget=budget, seed=seed)
    assert len(sample.pairs) == len(set(sample.pairs)) == min(budget, len(pool))
    assert set(sample.pairs) <= set(pool)
    assert sum(s.sampled for s in sample.strata) == len(sample.pairs)
    assert sum(s.pool for s in sample.strata) == len(pool)
    shares = sorted(s.sampled for s in sample.strata if s.sampled < s.pool)
    assert not shares or shares[-1] - shares[0] <= 1


@given(st.permutations(pairs(a_1=6, a_2=6, b_1=6)), st.integers(1, 18))
def test_the_order_in_which_the_pool_came_has_no_part_in_it(shuffled, budget):
    assert draw_sample(shuffled, budget=budget) == draw_sample(
        pairs(a_1=6, a_2=6, b_1=6), budget=budget
    )


def test_each_query_stands_together():
    order = [p.query.id for p in draw_sample(pairs(a_1=9, b_1=9, c_1=9)).pairs]
    assert len([i for i in range(1, 27) if order[i] != order[i - 1]]) == 2


def test_another_seed_is_another_order():
    pool = pairs(a_1=20)
    assert draw_sample(pool, seed=1).pairs != draw_sample(pool, seed=2).pairs


def test_each_place_is_as_likely_for_each_rank():
    # 400 seeds: the document of rank 1 stands in the first half about as often as not;
    # 4 standard deviations of a fair coin are 40
    first = sum(
        draw_sample(pairs(a_1=20), seed=seed).pairs.index(pairs(a_1=20)[0]) < 10
        for seed in range(400)
    )
    assert abs(first - 200) < 40


@pytest.mark.parametrize("budget", [0, -1])
def test_a_budget_of_nothing_is_refused(budget):
    with pytest.raises(UsageError, match="budget"):
        draw_sample(pairs(a_1=1), budget=budget)


def test_an_empty_pool_gives_an_empty_sample():
    sample = draw_sample([], budget=5)
    assert (sample.pairs, sample.strata) == ((), ())
