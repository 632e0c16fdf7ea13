"""Lists checked and converted part by part come out as lists that are read as a whole."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from relgate.eval.large import parts as parts_module
from relgate.eval.large.lists import check_parts, convert_parts
from relgate.eval.lists.check import Finding, check_list
from relgate.eval.lists.raters import Raters
from relgate.eval.lists.read import read_list
from relgate.eval.lists.sink import Options
from relgate.eval.lists.types import SCALES, JudgmentList, Source
from relgate.rubrics.errors import InputError

SCALE = SCALES["0-3"]
FIRST = Options(SCALE, raters=Raters.FIRST)
MEMORY = 200_000_000

QUERIES = ["red shoes", "Red  shoes", "red-shoes", "blue", "4.2E+11", " blank", "caf\u00e9"]
DOCS = ["7", "007", "07", "8", "d", "1.2E+10", "a\u200bb", "z "]

rows = st.lists(
    st.tuples(
        st.sampled_from(QUERIES),
        st.sampled_from([*DOCS, None]),
        st.sampled_from([0, 1, 2, 3, None]),
    ),
    min_size=1,
    max_size=40,
)


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every two rows get a part."""
    monkeypatch.setattr(parts_module, "_BYTES_A_ROW", MEMORY // 4)


def written(path: Path, **columns: list[object]) -> Path:
    kinds = {"grade": pa.int64()}
    arrays = {n: pa.array(v, kinds.get(n, pa.string())) for n, v in columns.items()}
    parquet.write_table(pa.table(arrays), path)
    return path


def quiet(_done: int, _all: int) -> None:
    pass


def told(findings: tuple[Finding, ...]) -> set[tuple[str, str, int, bool]]:
    """Findings without their examples: which come first is a matter of order."""
    return {(found.kind, found.what, found.count, found.fault) for found in findings}


def content(judgments: JudgmentList) -> set[tuple[object, ...]]:
    graded = {
        (row.query.id, row.query.text, row.doc_id, row.grade, row.provenance, row.reason)
        for row in judgments.rows()
    }
    return {*graded, *((query.id, query.text) for query in judgments.queries)}


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows)
def test_findings_from_disk_are_those_in_memory(tmp_path: Path, rows: list[tuple[object, ...]]):
    query, doc, grade = map(list, zip(*rows, strict=True))
    path = written(tmp_path / "list.parquet", query=query, doc_id=doc, grade=grade)
    try:
        whole = check_list(read_list(path, scale=SCALE, raters=Raters.FIRST))
    except InputError:
        with pytest.raises(InputError):
            check_parts(path, FIRST, memory=MEMORY, report=quiet)
        return
    listed, found = check_parts(path, FIRST, memory=MEMORY, report=quiet)
    assert told(found) == told(whole)
    assert listed.conflicts == sum(f.count for f in whole if f.kind == "conflicts")


def test_names_that_are_alike_are_found_although_they_stand_in_different_parts(tmp_path):
    path = written(
        tmp_path / "list.parquet",
        query=["red shoes", "blue", "Red shoes", "green"],
        doc_id=["007", "1", "7", "2"],
        grade=[1, 2, 3, 0],
    )
    _, found = check_parts(path, FIRST, memory=MEMORY, report=quiet)
    assert {f.kind: (f.count, f.examples) for f in found} == {
        "leading-zeros": (1, ("'007', '7'",)),
        "near-equal-queries": (1, ("'Red shoes', 'red shoes'",)),
    }


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows, st.sampled_from([Source.IMPORT, Source.HUMAN]))
def test_a_list_converted_from_disk_is_the_list(
    tmp_path: Path, rows: list[tuple[object, ...]], source: Source
):
    query, doc, grade = map(list, zip(*rows, strict=True))
    reason = [None if g is None else f"because {g}" for g in grade]
    path = written(tmp_path / "in.parquet", query=query, doc_id=doc, grade=grade, reason=reason)
    options = Options(SCALE, source=source, raters=Raters.FIRST)
    try:
        whole = read_list(path, scale=SCALE, source=source, raters=Raters.FIRST)
    except InputError:
        with pytest.raises(InputError):
            convert(path, tmp_path / "out.parquet", options)
        return
    convert(path, tmp_path / "out.parquet", options)
    again = read_list(tmp_path / "out.parquet", scale=SCALE)
    assert content(again.judgments) == content(whole.judgments)
    assert (again.repeats, again.conflicts) == (0, ())


def convert(path: Path, out: Path, options: Options) -> None:
    convert_parts(
        path, out, options, change=lambda part: part, texts={}, memory=MEMORY, report=quiet
    )


@pytest.fixture
def ids(tmp_path) -> Path:
    """Six judgments of three queries that have ids, under keys."""
    return written(
        tmp_path / "ids.parquet",
        query_id=["q1", "q1", "q2", "q2", "q3", "q3"],
        url=["/a", "/b", "/a", "/gone", "/b", "/gone"],
        grade=[3, 0, 1, 2, 0, 3],
    )


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_both_engines_write_live_ids_and_texts(call, tmp_path, ids, engine):
    (tmp_path / "catalogue.jsonl").write_text(
        '{"id": "A", "title": "a", "url": "/a"}\n{"id": "B", "title": "b", "url": "/b"}\n'
    )
    (tmp_path / "queries.csv").write_text("query_id,query\nq1,shoes\nq2,boots\nq3,q3\n")
    out = tmp_path / "out.parquet"
    done = call(
        "convert", ids, "--scale", "0-3", "--to", "parquet", "--out", out, "--engine", engine,
        "--locator", "url", "--catalogue", tmp_path / "catalogue.jsonl",
        "--queries", tmp_path / "queries.csv", "--json",
    )  # fmt: skip
    assert done.code == 1, "a key without a document is said by the exit code too"
    assert done.json["unresolved"] == ["/gone"]
    assert (done.json["judgments"], done.json["queries"]) == (4, 3)
    listed = read_list(out, scale=SCALE).judgments
    assert {(r.query.id, r.query.text, r.doc_id, r.grade) for r in listed.rows()} == {
        ("q1", "shoes", "A", 3), ("q1", "shoes", "B", 0),
        ("q2", "boots", "A", 1), ("q3", "q3", "B", 0),
    }  # fmt: skip


def test_a_faulty_list_leaves_the_old_file_as_it_was(call, tmp_path):
    path = written(tmp_path / "in.parquet", query=["a", "a"], doc_id=["1", "1"], grade=[0, 3])
    out = tmp_path / "out.parquet"
    out.write_bytes(b"old")
    done = call(
        "convert", path, "--scale", "0-3", "--to", "parquet", "--out", out, "--engine", "disk"
    )
    assert done.code == 2
    assert "two different grades" in done.err
    assert out.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["convert", "--to", "csv", "--out", "o.csv"], "writes a list as Parquet alone"),
        (["convert", "--to", "parquet", "--out", "o.parquet", "--run-flag"], "as Parquet alone"),
        (["lists", "check", "--run", "run.parquet"], "without runs"),
    ],
)
def test_what_the_disk_engine_cannot_do_is_refused(call, ids, words, said):
    command = [*words[:2], ids, *words[2:]] if words[0] == "lists" else ["convert", ids, *words[1:]]
    command = ["--run" if word == "--run-flag" else word for word in command]
    done = call(*command, "--scale", "0-3", "--engine", "disk")
    assert done.code == 2
    assert said in done.err


def test_check_from_disk_says_its_faults_by_the_exit_code(call, tmp_path):
    path = written(tmp_path / "l.parquet", query=["a", "b"], doc_id=["01", "1"], grade=[0, 3])
    done = call("lists", "check", path, "--scale", "0-3", "--engine", "disk", "--json")
    assert done.code == 1
    assert done.json["faults"] == ["leading-zeros"]


def test_an_empty_list_is_refused_from_disk_too(call, tmp_path):
    path = written(tmp_path / "l.parquet", query=[], doc_id=[], grade=[])
    for words in (["lists", "check", path], ["convert", path, "--to", "parquet", "--out", "o"]):
        done = call(*words, "--scale", "0-3", "--engine", "disk")
        assert done.code == 2
        assert "no row below the header" in done.complaint
