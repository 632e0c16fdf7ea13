"""Exact neighbours: against scikit-learn's brute force, in any block size, ties included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from relgate.eval.neighbours.exact import DISTANCES, exact_neighbours
from relgate.rubrics.errors import InputError, UsageError

AWAY = np.array([[0.0, 0.0, 9.0]])  # no vector of length 0


def draw(n: int, d: int, seed: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_they_are_scikit_learns(distance, dtype):
    queries, documents = draw(20, 16, 1).astype(dtype), draw(500, 16, 2).astype(dtype)
    metric = {"cosine": "cosine", "l2": "euclidean"}[distance]
    reference = NearestNeighbors(n_neighbors=10, algorithm="brute", metric=metric)
    reference.fit(documents.astype(np.float64))
    far, rows = reference.kneighbors(queries.astype(np.float64))
    for near, want, apart in zip(
        exact_neighbours(queries, documents, k=10, distance=distance), rows, far, strict=True
    ):
        assert near.rows.tolist() == want.tolist()
        shown = 1 - near.scores if distance == "cosine" else -near.scores
        assert shown == pytest.approx(apart, abs=1e-9)


def test_the_dot_product_takes_the_greatest():
    queries, documents = draw(5, 8, 1), draw(100, 8, 2)
    for query, near in zip(
        queries, exact_neighbours(queries, documents, k=7, distance="dot"), strict=True
    ):
        assert near.rows.tolist() == np.argsort(-(documents @ query), kind="stable")[:7].tolist()


@given(
    st.integers(1, 30), st.integers(1, 8), st.integers(1, 40), st.sampled_from(DISTANCES),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_no_block_size_changes_them(n, k, block, distance, seed):
    rng = np.random.default_rng(seed)
    documents = rng.integers(-2, 3, size=(n, 3)).astype(float) + AWAY  # many ties
    queries = rng.integers(-2, 3, size=(4, 3)).astype(float) + AWAY
    whole = exact_neighbours(queries, documents, k=k, distance=distance)
    parts = exact_neighbours(queries, documents, k=k, distance=distance, block_rows=block)
    for one, other in zip(whole, parts, strict=True):
        assert sorted(one.rows.tolist()) == sorted(other.rows.tolist())
        assert one.scores == pytest.approx(other.scores, abs=1e-9)
        assert len(one.rows) >= min(k, n)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("block", [1, 3, 100])
def test_all_that_tie_with_the_kth_are_neighbours(distance, block):
    twin = [1.0, 2.0, 3.0]
    documents = np.array([twin, [9.0, -9.0, 0.0], twin, twin, [-1.0, -2.0, -3.0], twin])
    (near,) = exact_neighbours(
        np.array([twin]), documents, k=2, distance=distance, block_rows=block
    )
    assert near.rows.tolist() == [0, 2, 3, 5]


def test_equal_vectors_far_from_the_origin_are_at_distance_0():
    far = np.full((1, 64), 1e4) + draw(1, 64, 8)
    documents = np.concatenate([draw(50, 64) + 1e4, far, far])
    (near,) = exact_neighbours(far, documents, k=1, distance="l2")
    assert (near.rows.tolist(), near.scores.tolist()) == ([50, 51], [0.0, 0.0])


def test_fewer_documents_than_k_are_all_neighbours():
    (near,) = exact_neighbours(draw(1, 4), draw(3, 4, 2), k=10, distance="dot")
    assert sorted(near.rows.tolist()) == [0, 1, 2]


def test_progress_comes_to_the_end():
    seen: list[tuple[int, int]] = []
    exact_neighbours(
        draw(2, 4), draw(10, 4), k=1, distance="dot", block_rows=4,
        on_progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    assert seen == [(4, 10), (8, 10), (10, 10)]


@pytest.mark.parametrize(
    ("queries", "documents", "distance", "said"),
    [
        (np.zeros((1, 3)), np.ones((2, 3)), "cosine", "query vector 0 has length 0"),
        (np.ones((1, 3)), np.array([[1.0] * 3, [0.0] * 3]), "cosine", "document vector 1"),
        (np.ones((1, 3)), np.array([[1.0] * 3, [np.nan] * 3]), "dot", "document vector 1"),
        (np.full((1, 3), np.inf), np.ones((2, 3)), "l2", "query vector 0"),
        (np.ones((1, 3)), np.ones((2, 4)), "dot", "3 components"),
        (np.ones(3), np.ones((2, 3)), "dot", "shape"),
        (np.ones((0, 3)), np.ones((2, 3)), "dot", "shape"),
        (np.array([["a"]]), np.ones((2, 1)), "dot", "query vectors are"),
    ],
)
def test_vectors_that_have_no_neighbours_are_refused(queries, documents, distance, said):
    with pytest.raises(InputError, match=said):
        exact_neighbours(queries, documents, k=1, distance=distance)


def test_an_unknown_distance_and_a_depth_of_0_are_refused():
    with pytest.raises(UsageError, match="cosine, dot, l2"):
        exact_neighbours(np.ones((1, 2)), np.ones((1, 2)), k=1, distance="manhattan")
    with pytest.raises(UsageError, match="1 or more"):
        exact_neighbours(np.ones((1, 2)), np.ones((1, 2)), k=0, distance="dot")
