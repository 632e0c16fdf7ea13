"""Runs as tables: CSV of any delimiter, Quepid's snapshot export, Parquet."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from refusals import refusal

from relgate.eval import files
from relgate.eval.lists.docids import DocIds
from relgate.eval.lists.types import Query, match_key
from relgate.eval.runs.read import read_run
from relgate.eval.runs.types import Run
from relgate.eval.runs.write import write_run
from relgate.rubrics.errors import InputError, UsageError


def _write(tmp_path: Path, text: str, name: str = "run.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def _refused(path: Path, word: str, *, line: int | None = None, **options) -> str:
    return refusal(partial(read_run, **options), path, word, line=line)


def test_the_rank_gives_the_order_and_ids_stay_text(tmp_path):
    text = "qid,query,docid,position,score\n1,rot,00123,2,9\n1,,123,1,3\n2,blau,,,\n"
    run = read_run(_write(tmp_path, text))
    assert (run.format, run.name) == ("csv", "run")
    assert run.queries == (Query("1", "rot"), Query("2", "blau"))
    assert run.docs == (("123", "00123"), ())


def test_without_a_rank_the_score_gives_the_order_and_ties_are_noted(tmp_path):
    run = read_run(_write(tmp_path, "query\tdoc_id\tscore\nq\ta\t1\nq\tb\t2.5\nq\tc\t1\n"))
    assert run.docs == (("b", "a", "c"),)
    assert any("equal scores" in note for note in run.notes)


def test_a_table_without_an_order_is_a_run_only_when_it_is_said(tmp_path):
    path = _write(tmp_path, "query,docid\nq,b\nq,a\n")
    _refused(path, "not known as a run")
    run = read_run(path, format="csv")
    assert run.docs == (("b", "a"),)
    assert any("file's order" in note for note in run.notes)


def test_quepids_snapshot_export_is_a_run(tmp_path):
    text = (
        "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\n"
        "s1,2026-01-01,7,red shoes,p2,2,b\ns1,2026-01-01,7,red shoes,p1,1,a\n"
    )
    run = read_run(_write(tmp_path, text))
    assert (run.name, run.queries) == ("s1", (Query("red shoes", "red shoes"),))
    assert run.docs == (("p1", "p2"),)


def test_of_several_runs_one_must_be_named(tmp_path):
    path = _write(tmp_path, "run\tqid\trank\tdocid\nA\t1\t1\ta\nB\t1\t1\tb\n")
    _refused(path, "2 runs in it .'A', 'B'")
    run = read_run(path, only="B")
    assert (run.name, run.docs) == ("B", (("b",),))
    _refused(path, "no row of the run 'C'", only="C")


@pytest.mark.parametrize(
    ("text", "word", "line"),
    [
        ("qid,docid,rank\n1,a,1\n1,b,1\n", "two documents of one rank", None),
        ("qid,docid,rank\n1,a,1\n1,b,first\n", "rank 'first' is no number", 3),
        ("qid,docid,score\n1,a,NaN\n", "score 'NaN' is no number", 2),
        ("qid,docid,rank\n1,a,\n", "is no number", 2),
        ("qid,docid,rank\n,a,1\n", "query id is empty", 2),
        ("qid,query,docid,rank\n1,rot,a,1\n1,blau,b,2\n", "two texts", 3),
        ("qid,docid,doc_id,rank\n1,a,a,1\n", "may all be the doc_id", None),
        ("qid,docid,rank\n1,a,1,9\n", "4 fields where the header has 3", 2),
        ("qid,docid,rank\n", "no row", None),
    ],
)
def test_a_faulty_table_is_refused_with_its_line(tmp_path, text, word, line):
    _refused(_write(tmp_path, text), word, line=line)


def test_a_run_in_parquet_is_read(tmp_path):
    table = {"query_id": [1, 1], "doc_id": ["00123", "123"], "rank": [2, 1]}
    parquet.write_table(pa.table(table), tmp_path / "r.parquet")
    run = read_run(tmp_path / "r.parquet")
    assert (run.format, run.queries, run.docs) == ("parquet", (Query("1"),), (("123", "00123"),))


def test_hits_of_several_indices_may_have_composite_ids(tmp_path):
    hits = '{"hit": {"_index": "shop", "_id": "p"}}, {"hit": {"_index": "blog", "_id": "p"}}'
    path = _write(tmp_path, f'{{"details": {{"q": {{"hits": [{hits}]}}}}}}', "r.json")
    assert read_run(path).docs == (("p", "p"),)
    ids = DocIds({"shop": "shop-v7"}, composite=True)
    assert read_run(path, doc_ids=ids).docs == (("shop-v7/p", "blog/p"),)
    bare = _write(tmp_path, '{"details": {"q": {"unrated_docs": ["p"]}}}', "r.json")
    _refused(bare, "_index", doc_ids=ids)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
NASTY = st.sampled_from(["=1+1", "'=x", "00123", "a,b", 'a"b', "\r", "a\nb", " a ", "\x00", "'"])


@st.composite
def runs(draw: st.DrawFn) -> Run:
    ids = draw(st.lists(TEXT | NASTY, min_size=1, max_size=4, unique_by=match_key))
    found = st.lists(TEXT | NASTY, max_size=4).map(tuple)
    queries = tuple(Query(i, draw(st.none() | TEXT | NASTY)) for i in ids)
    return Run(name="r", queries=queries, docs=tuple(draw(found) for _ in ids))


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(run=runs(), ending=st.sampled_from(["csv", "parquet"]))
def test_a_run_as_a_table_comes_back(tmp_path_factory, monkeypatch, run, ending):
    monkeypatch.setattr(files.os, "fsync", lambda _: None)
    path = tmp_path_factory.getbasetemp() / f"r.{ending}"
    assert write_run(path, run) == ()
    back = read_run(path)
    assert (back.format, back.name) == (ending, "r")
    assert (back.queries, back.docs) == (run.queries, run.docs)


def test_a_table_cannot_carry_a_failed_query(tmp_path):
    failed = Run("r", (Query("q"),), (None,), {"q": "broke"})
    for ending in ("csv", "parquet"):
        with pytest.raises(InputError, match="cannot carry query 'q'"):
            write_run(tmp_path / f"r.{ending}", failed)
    with pytest.raises(UsageError, match="no run format 'xls'"):
        write_run(tmp_path / "r", failed, format="xls")


def test_a_run_as_trec_says_that_texts_are_left_out(tmp_path):
    run = Run("r", (Query("q", "rot"),), (("d",),))
    assert write_run(tmp_path / "r.run", run) == ("not in a TREC run: 1 query texts",)


def test_the_real_runs_of_dl21_are_read_one_by_one(shared):
    """README: 63 runs of 53 topics, up to 50 documents, 166,950 rows in all."""
    path = shared / "data/trec_dl21_runs/runs_top50.tsv.gz"
    _refused(path, "63 runs in it")
    run = read_run(path, only="Fast_ForwardP_2")
    assert (run.name, len(run.queries)) == ("Fast_ForwardP_2", 53)
    assert all(len(docs or ()) == 50 for docs in run.docs)


@pytest.mark.soak
def test_all_runs_of_dl21_have_the_counts_of_the_readme(shared):
    path = shared / "data/trec_dl21_runs/runs_top50.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        names = sorted({line.split("\t", 1)[0] for line in list(file)[1:]})
    runs = [read_run(path, only=name) for name in names]
    assert (len(runs), {len(run.queries) for run in runs}) == (63, {53})
    assert sum(len(docs or ()) for run in runs for docs in run.docs) == 166_950


@pytest.mark.parametrize(
    ("name", "docs"), [("no-vector", 1274), ("with-vector", 1353), ("vector-2", 1350)]
)
def test_the_snapshots_of_the_quepid_table_have_their_rows(shared, name, docs):
    run = read_run(shared / "data/quepid_haystack/snapshot_runs.tsv", only=name)
    assert (len(run.queries), sum(len(d or ()) for d in run.docs)) == (135, docs)
