"""Vectors from NumPy, Parquet and JSONL; faults have their row; nothing is unpickled."""

from __future__ import annotations

import json

import numpy as np
import pytest

from relgate.eval.neighbours.sample import draw_rows
from relgate.eval.neighbours.vectors import read_vectors
from relgate.rubrics.errors import InputError

ROWS = [{"id": "a", "vector": [1.0, 2.0]}, {"id": "b", "vector": [3, 4]}]


def jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_numpy_rows_are_numbered_or_named(tmp_path):
    np.save(tmp_path / "v.npy", np.array([[1.0, 2.0], [3.0, 4.0]], np.float32))
    (tmp_path / "ids.txt").write_text("a\nb\n")
    assert read_vectors(tmp_path / "v.npy").ids == ("0", "1")
    named = read_vectors(tmp_path / "v.npy", tmp_path / "ids.txt")
    assert named.ids == ("a", "b")
    assert named.values.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_jsonl_and_parquet_hold_the_same(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"doc_id": ["a", "b"], "embedding": [[1.0, 2.0], [3.0, 4.0]]})
    parquet.write_table(table, tmp_path / "v.parquet")
    for path in (jsonl(tmp_path / "v.jsonl", ROWS), tmp_path / "v.parquet"):
        found = read_vectors(path)
        assert (found.ids, found.values.tolist()) == (("a", "b"), [[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([ROWS[0], {"id": "b", "vector": [1.0]}], r"v.jsonl:2: a vector of 1 components"),
        ([{"id": "b"}], r"v.jsonl:1: no single id and vector"),
        ([{"vector": [1.0]}], r"v.jsonl:1: no single id and vector"),
        ([{"id": "b", "vector": "1 2"}], r"v.jsonl:1: the vector is no list of numbers"),
        ([{"id": "b", "vector": [True]}], r"v.jsonl:1: the vector is no list of numbers"),
        ([{"id": "b", "vector": []}], r"v.jsonl:1: the vector is no list of numbers"),
        ([ROWS[0], ROWS[0]], "id 'a' stands twice"),
    ],
)
def test_a_row_that_is_no_vector_has_its_line(tmp_path, rows, said):
    with pytest.raises(InputError, match=said):
        read_vectors(jsonl(tmp_path / "v.jsonl", rows))


def test_a_pickled_array_is_not_read(tmp_path):
    np.save(tmp_path / "v.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="no NumPy array of numbers"):
        read_vectors(tmp_path / "v.npy")


@pytest.mark.parametrize(("ids", "said"), [("a\n", "1 ids for 2"), ("a\na\n", "stands twice")])
def test_ids_must_fit(tmp_path, ids, said):
    np.save(tmp_path / "v.npy", np.ones((2, 3)))
    (tmp_path / "ids.txt").write_text(ids)
    with pytest.raises(InputError, match=said):
        read_vectors(tmp_path / "v.npy", tmp_path / "ids.txt")


def test_other_shapes_and_cut_files_are_refused(tmp_path):
    np.save(tmp_path / "v.npy", np.ones(3))
    with pytest.raises(InputError, match="shape"):
        read_vectors(tmp_path / "v.npy")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "v.npy").read_bytes()[:40])
    with pytest.raises(InputError, match="no NumPy array"):
        read_vectors(tmp_path / "cut.npy")
    with pytest.raises(InputError):
        read_vectors(tmp_path / "gone.npy")


def test_ids_beside_a_file_that_has_its_own_are_refused(tmp_path):
    (tmp_path / "ids.txt").write_text("a\n")
    with pytest.raises(InputError, match="in this file itself"):
        read_vectors(jsonl(tmp_path / "v.jsonl", ROWS), tmp_path / "ids.txt")


def test_a_sample_is_drawn_by_its_seed_in_file_order():
    assert draw_rows(5, None, 0) == draw_rows(5, 5, 0) == draw_rows(5, 9, 0) == [0, 1, 2, 3, 4]
    first = draw_rows(1000, 50, 3)
    assert first == sorted(set(first)) == draw_rows(1000, 50, 3)
    assert len(first) == 50
    assert first != draw_rows(1000, 50, 4)
