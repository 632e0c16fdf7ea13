"""The fast reader of clean lists gives what the careful reader gives, or steps aside."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from relgate.eval.lists import cells, csv_list, read, trec
from relgate.eval.lists.clean import clean_table
from relgate.eval.lists.columns import list_columns
from relgate.eval.lists.parquet import ParquetTable
from relgate.eval.lists.read import read_list
from relgate.eval.lists.sink import Options
from relgate.eval.lists.table import open_table
from relgate.eval.lists.types import SCALES, JudgmentList, Source
from relgate.rubrics.errors import InputError

SCALE = SCALES["0-3"]


def _clean(text: str, scale: str = "0-3") -> JudgmentList | None:
    table = open_table(text, "l.csv", fits=lambda names: "docid" in names)
    columns = list_columns(table.header, grade_column=None, path="l.csv", line=1)
    return clean_table(text.encode(), table, columns, Options(SCALES[scale]))


def _read(path: Path, scale: str, **options: str) -> object:
    """All that reading gives, as values that can be compared."""
    try:
        file = read_list(path, scale=SCALES[scale], source=Source.HUMAN, **options)
    except InputError as error:
        return str(error)
    judgments = file.judgments
    columns = {
        f.name: value.tolist() if isinstance(value, np.ndarray) else value
        for f in dataclasses.fields(judgments)
        if f.init
        for value in [getattr(judgments, f.name)]
    }
    return columns, file.format, file.repeats, file.outranked, file.unlabelled, file.notes


def _both(path: Path, monkeypatch: pytest.MonkeyPatch, scale: str, **options: str) -> None:
    fast = _read(path, scale, **options)
    with monkeypatch.context() as patch:
        patch.setattr(csv_list, "clean_table", lambda *_: None)
        patch.setattr(trec, "clean_qrels", lambda *_: None)
        patch.setattr(read, "clean_columns", lambda *_: None)
        assert _read(path, scale, **options) == fast


CELLS = st.sampled_from(
    [
        *("1", "2", "rot", "red shoes", "p1", "p2", "00123", "caf\u00e9", "cafe\u0301", "men's"),
        *("'=x", " a", "a ", "", "1e5", "12E+5", "a\u200b", "a\x01", "\u3000", '"q"', '"a,b"'),
        *("=1+1", "a;b"),
    ]
)
GRADES = st.sampled_from(["0", "1", "2", "3", "3.0", "E", "4", "-1", "", "x", " 2"])
CLEAN_CELLS = st.text("abcdefg0123 \u00e4", min_size=1, max_size=5).map(lambda t: f"x{t}y")


@st.composite
def tables(draw: st.DrawFn) -> str:
    header = draw(
        st.sampled_from(
            [
                "query,docid,rating",
                "qid,query,docid,rating",
                "docid,rating,qid",
                "rating,x,docid,qid",
            ]
        )
    )
    cells = CELLS if draw(st.booleans()) else CLEAN_CELLS
    grades = GRADES if draw(st.booleans()) else st.sampled_from(["0", "1", "2", "3"])
    rows = [
        ",".join(draw(grades if name == "rating" else cells) for name in header.split(","))
        for _ in range(draw(st.integers(1, 8)))
    ]
    rows += draw(st.sampled_from([[], [], [""], [rows[0]], ["a,b"], ["a,b,1,2,3"]]))
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    return end.join([header, *rows]) + draw(st.sampled_from(["", end]))


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    text=tables(), scale=st.sampled_from(["0-3", "0-3", "esci", "1-4"]), block=st.integers(1, 40)
)
def test_the_fast_reader_gives_what_the_careful_one_gives(
    tmp_path_factory, monkeypatch, *, text, scale, block
):
    monkeypatch.setattr(cells, "_BLOCK", block)
    path = tmp_path_factory.getbasetemp() / "l.csv"
    path.write_bytes(text.encode())
    _both(path, monkeypatch, scale)


@pytest.mark.parametrize(
    "text",
    [
        "query,docid,rating\nred shoes,p1,3\nred shoes,p2,0\noak,p1,2",
        "qid\tquery\tdocid\trating\n1\tmen's\tp1\t3.0\n2\trot\t00123\t1\n1\tmen's\tp2\t2\n",
        "query,docid,rating\r\ncaf\u00e9,p\u00e9,3\r\n",
        "docid,rating,qid,left\np1,3,1,x y\n",
        "sep=;\nquery;docid;rating\nrot;p1;3\n",
        "\n \nquery,docid,rating\ncaf\u00e9,p1,3\n",
        "query,docid,rating\n" + "rot,p1,3\n" + "\n".join(f"q,{i},1" for i in range(20_000)),
    ],
)
def test_a_clean_file_takes_the_fast_way(text):
    assert _clean(text) is not None


@pytest.mark.parametrize(
    "row",
    [
        '"red shoes",p1,3', "rot,p1,", "rot,,3", ",p1,3", "rot, p1,3", "rot,p1 ,3", "rot,'=x,3",
        "rot,1352171357E+5,3", "rot,p\u200b,3", "rot,p\x01,3", "rot,cafe\u0301,3", "rot,p1,7",
        "rot,p1,-1", "rot,p1,E", "rot,p1,3,x", "rot,p1", "rot,p0,3", "rot,p\x7f,1", "", "rot,p\r,1",
    ],
)  # fmt: skip
def test_what_needs_care_takes_the_careful_way(row):
    assert _clean(f"query,docid,rating\nrot,p0,3\n{row}\nblau,p0,1\n") is None


def test_repeats_are_seen_also_when_a_querys_rows_stand_apart():
    assert _clean("query,docid,rating\na,1,3\nb,1,3\na,2,3\n") is not None
    assert _clean("query,docid,rating\na,1,3\nb,1,3\na,1,3\n") is None


def test_one_id_with_two_texts_takes_the_careful_way():
    assert _clean("qid,query,docid,rating\n1,a,x,3\n1,b,y,3\n") is None


def test_a_list_with_provenance_takes_the_careful_way():
    assert _clean("query,docid,rating,source\na,1,3,human\n") is None


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("quepid_haystack/native/quepid_basic_ratings.csv", {}),
        ("opensearch_esci/esci_us_judgments.tsv", {"grade_column": "esci_label"}),
    ],
)
def test_real_lists_are_read_alike(shared, monkeypatch, name, options):
    _both(shared / "data" / name, monkeypatch, "esci", **options)


LINES = st.lists(
    st.tuples(CELLS | CLEAN_CELLS, CELLS | CLEAN_CELLS, GRADES | st.sampled_from("0123")),
    min_size=1,
    max_size=6,
)


def test_a_blank_in_an_id_of_tabbed_qrels_is_refused_on_its_line(tmp_path):
    (tmp_path / "l.qrels").write_text("1\t0\ta\t0\n1\t0\tred shoes\t0\n")
    with pytest.raises(InputError, match="5 fields, not 4") as caught:
        read_list(tmp_path / "l.qrels", scale=SCALE)
    assert caught.value.line == 2


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=LINES, part=st.sampled_from([" ", "\t", "  "]), end=st.sampled_from(["\n", "\r\n"]))
def test_qrels_are_read_alike(tmp_path_factory, monkeypatch, *, lines, part, end):
    path = tmp_path_factory.getbasetemp() / "l.qrels"
    rows = [part.join([query, "0", doc_id, grade]) for query, doc_id, grade in lines]
    path.write_bytes(end.join(rows).encode())
    _both(path, monkeypatch, "0-3", format="trec")


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    ids=st.lists(st.none() | CELLS | CLEAN_CELLS, min_size=3, max_size=3),
    docs=st.lists(CELLS | CLEAN_CELLS, min_size=3, max_size=3),
    grades=st.lists(st.integers(0, 3), min_size=3, max_size=3) | st.just([1.0, 2.0, 3.0]),
    texts=st.none() | st.lists(CELLS, min_size=3, max_size=3),
    numbered=st.booleans(),
)
def test_parquet_is_read_alike(
    tmp_path_factory, monkeypatch, *, ids, docs, grades, texts, numbered
):
    path = tmp_path_factory.getbasetemp() / "l.parquet"
    columns = {"qid": [1, 2, 1] if numbered else ids, "docid": docs, "grade": grades}
    if texts is not None:
        columns["query"] = texts
    parquet.write_table(pa.table(columns), path)
    _both(path, monkeypatch, "0-3")


def test_clean_qrels_and_parquet_take_the_fast_way(tmp_path, monkeypatch):
    def careful(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(trec, "Sink", careful)
    (tmp_path / "l.qrels").write_text("301 0 d1 3\n301 0 d2 0\n302 0 d1 1\n")
    assert len(read_list(tmp_path / "l.qrels", scale=SCALE).judgments) == 3
    monkeypatch.setattr(ParquetTable, "rows", careful)
    table = pa.table(
        {"query_id": [7, 7], "query": ["a", "a"], "docid": ["1", "2"], "grade": [3, 0]}
    )
    parquet.write_table(table, tmp_path / "l.parquet")
    assert len(read_list(tmp_path / "l.parquet", scale=SCALE).judgments) == 2
