"""`relgate score` in memory and from disk: which is taken, and what it gives."""

from __future__ import annotations

import json
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

from relgate.eval.cli import disk


@pytest.fixture
def words(tmp_path) -> list[str]:
    judgments = {"query_id": ["q", "q", "p"], "doc_id": ["a", "b", "a"], "grade": [3, 1, 0]}
    parquet.write_table(pa.table(judgments), tmp_path / "list.parquet")
    run = {"query_id": ["q", "q", "n"], "doc_id": ["x", "a", "a"], "rank": [1, 2, 1]}
    parquet.write_table(pa.table(run), tmp_path / "run.parquet")
    return ["score", "--judgments", "list.parquet", "--run", "run.parquet"]


def test_both_engines_print_the_same_but_for_json_queries(call, words) -> None:
    held = call(*words, "--engine", "memory")
    sorted_out = call(*words, "--engine", "disk")
    assert (held.code, held.out) == (0, sorted_out.out)
    assert set(held.err.splitlines()) == set(sorted_out.err.splitlines())
    one = call(*words, "--engine", "memory", "--json").json
    two = call(*words, "--engine", "disk", "--json").json
    assert len(one["runs"][0].pop("queries")) == 3
    assert one == two


def test_out_holds_every_query_whichever_the_engine(call, words) -> None:
    queries = call(*words, "--json", "--quiet", "--out", "held.parquet").json["runs"][0]["queries"]
    assert call(*words, "--engine", "disk", "--quiet", "--out", "disk.parquet").code == 0
    held, disk = (
        sorted(parquet.read_table(f"{name}.parquet").to_pylist(), key=lambda row: row["query_id"])
        for name in ("held", "disk")
    )
    assert held == disk
    assert {row["run"] for row in held} == {"run.parquet"}
    told = {row["id"]: row for row in queries}
    for row in held:
        own = told[row["query_id"]]
        assert row["returned"] == own["returned"]
        assert row["ndcg"] == pytest.approx(own["ndcg"], abs=1e-6)


def test_auto_takes_the_disk_when_memory_would_not_do(call, words, monkeypatch) -> None:
    assert "done from disk" not in call(*words).err
    monkeypatch.setattr(disk, "_BYTES_A_ROW", 10**9)
    done = call(*words, "--json")
    assert "about 6.0 GB would be needed in memory, more than 2 GB: done from disk" in done.err
    assert "queries" not in done.json["runs"][0]
    assert "done from disk" not in call(*words, "--memory", "7GB").err
    assert "done from disk" not in call(*words, "--engine", "memory").err


def test_without_duckdb_auto_says_so_and_goes_on(call, words, monkeypatch) -> None:
    monkeypatch.setattr(disk, "_BYTES_A_ROW", 10**9)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    done = call(*words)
    assert done.code == 0
    assert "relgate[large]" in done.err


def test_the_disk_engine_without_duckdb_names_the_extra(call, words, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    done = call(*words, "--engine", "disk")
    assert done.code == 2
    assert "pip install 'relgate[large]'" in done.err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--engine", "memory", "--memory", "1GB"], "--memory is for the disk engine"),
        (["--memory", "10MB"], "is no size from 200MB up"),
        (["--memory", "lots"], "is no size from 200MB up"),
        (["--engine", "disk", "--run-format", "trec"], "the disk engine reads Parquet alone"),
        (["--engine", "disk", "--out", "list.parquet"], "it is an input"),
    ],
)
def test_what_cannot_be_is_refused(call, words, more, said) -> None:
    done = call(*words, *more)
    assert done.code == 2
    assert said in done.err


def test_the_disk_engine_refuses_other_formats_by_name(call, words, tmp_path) -> None:
    (tmp_path / "run.jsonl").write_text(json.dumps({"query": "q", "docs": ["a"]}) + "\n", "utf-8")
    done = call(*words, "--run", "run.jsonl", "--engine", "disk")
    assert done.code == 2
    assert "not run.jsonl" in done.err


def test_a_list_that_has_nothing_to_do_with_the_run_is_refused(call, words, tmp_path) -> None:
    run = {"query_id": ["q"], "doc_id": ["z"], "rank": [1]}
    parquet.write_table(pa.table(run), tmp_path / "run.parquet")
    for engine in ("memory", "disk"):
        done = call(*words, "--engine", engine, "--quiet")
        assert done.code == 2
        assert "list.parquet: no judged id occurs in any result: judged 'a', 'b'" in done.err


def test_a_damaged_file_and_one_without_rows_are_named(call, words, tmp_path) -> None:
    whole = (tmp_path / "run.parquet").read_bytes()
    (tmp_path / "run.parquet").write_bytes(whole[:60] + b"\xff" * 40 + whole[100:])
    done = call(*words, "--engine", "disk")
    assert done.code == 2
    assert "run.parquet" in done.err
    assert "Traceback" not in done.err
    run = {"query_id": pa.array([], pa.string()), "doc_id": pa.array([], pa.string())}
    parquet.write_table(
        pa.table({**run, "rank": pa.array([], pa.int64())}), tmp_path / "run.parquet"
    )
    done = call(*words, "--engine", "disk")
    assert done.code == 2
    assert "run.parquet: no row below the header" in done.err
