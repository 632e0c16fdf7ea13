"""`relgate init` names what lies beside the settings, and says what it could not tell."""

from __future__ import annotations

import gzip
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from relgate.eval.doctor.folder import MAX_FILES, Part, look_into
from relgate.eval.project import read_project

RATED = {"_index": "shop", "_id": "p1", "rating": 3}
HIT = {"hit": {"_index": "shop", "_id": "p1", "_score": 1.0}, "rating": 3}
FILES = {
    "labels.csv": "query,doc_id,grade\nshoes,p1,3\n",
    "labels.tsv": "query\tdocid\trating\nshoes\tp1\t3\n",
    "labels.jsonl": '{"query": "shoes", "doc_id": "p1", "grade": 3}\n',
    "labels.json": json.dumps([{"query": "shoes", "doc_id": "p1", "grade": 3}]),
    "test.qrels": "q1 0 p1 3\n",
    "qrels": "q1 0 p1 3\n",
    "request.json": json.dumps({"requests": [{"id": "shoes", "ratings": [RATED]}]}),
    "run.csv": "query,doc_id,rank\nshoes,p1,1\n",
    "run.trec": "q1 Q0 p1 1 9.5 bm25\n",
    "run.jsonl": '{"query": "shoes", "docs": ["p1"]}\n',
    "run.json": json.dumps({"shoes": ["p1", "p2"]}),
    "answer.json": json.dumps({"metric_score": 1.0, "details": {"shoes": {"hits": [HIT]}}}),
    "shop.jsonl": '{"id": "p1", "title": "a shoe"}\n',
    "hits.jsonl": '{"_id": "p1", "_source": {"name": "a shoe"}}\n',
    "shop.csv": "sku,name,price\np1,a shoe,9.5\n",
    "queries.csv": "query_id,query,category\nq1,shoes,a\n",
    "queries.json": json.dumps({"queries": [{"id": "q1", "query": "shoes"}]}),
    "change.toml": 'type = "synonyms"\n',
}
IS = {
    Part.JUDGMENTS: [
        "labels.csv", "labels.json", "labels.jsonl", "labels.tsv", "qrels", "request.json",
        "test.qrels",
    ],
    Part.RUN: ["answer.json", "run.csv", "run.json", "run.jsonl", "run.trec"],
    Part.CATALOGUE: ["hits.jsonl", "shop.csv", "shop.jsonl"],
    Part.QUERIES: ["queries.csv", "queries.json"],
    Part.CHANGE: ["change.toml"],
}  # fmt: skip


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text(FILES[name], encoding="utf-8")


def test_each_kind_of_file_is_told_by_its_content(tmp_path: Path) -> None:
    put(tmp_path, *FILES)
    found = look_into(tmp_path)
    assert {part: [file.name for file in found.of(part)] for part in Part} == IS
    assert found.untold == ()


def test_packed_and_parquet_files_are_told_too(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "run.trec.gz").write_bytes(gzip.compress(FILES["run.trec"].encode()))
    tables: dict[str, dict[str, list[Any]]] = {
        "labels.parquet": {"query": ["shoes"], "doc_id": ["p1"], "grade": [3]},
        "shop.parquet": {"id": ["p1"], "title": ["a shoe"]},
    }
    for name, columns in tables.items():
        parquet.write_table(arrow.table(columns), tmp_path / name)
    found = look_into(tmp_path)
    assert [(file.name, file.part) for file in found.files] == [
        ("labels.parquet", Part.JUDGMENTS), ("run.trec.gz", Part.RUN),
        ("shop.parquet", Part.CATALOGUE),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("broken.json", '{"a": ', "line 1: the JSON ends too early"),
        ("texts.csv", "id,text\n1,a red shoe\n", "could be catalogue (table) or queries (table)"),
        ("both.csv", "query,doc_id,grade,rank\nshoes,p1,3,1\n", "judgments (csv) or run (csv)"),
        ("err.json", '{"error": {"type": "x"}, "status": 400}', "answered with an error"),
        ("search.json", '{"hits": {"hits": [{"_id": "p1"}]}}', "a _search response"),
        ("package.json", '{"name": "shop"}', "no judgment list, run"),
        ("empty.csv", "", "the file is empty"),
    ],
)
def test_what_cannot_be_told_is_said_with_its_reason(
    tmp_path: Path, name: str, text: str, why: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (untold,) = look_into(tmp_path).untold
    assert untold.name == name
    assert why in untold.says


@pytest.mark.parametrize(
    "name", ["notes.txt", "Makefile", "pyproject.toml", ".hidden.json", "a.py"]
)
def test_a_file_of_another_trade_is_passed_over(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("[tool]\nx = 1\n", encoding="utf-8")
    assert look_into(tmp_path).files == ()


def test_files_past_the_limit_are_counted_not_hidden(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 3):
        (tmp_path / f"{number:03}.csv").write_text(FILES["shop.csv"], encoding="utf-8")
    assert look_into(tmp_path).left == 3


def test_init_names_the_files_that_lie_there_and_the_review_that_comes_next(call, tmp_path) -> None:
    put(tmp_path, "request.json", "shop.jsonl", "queries.csv")
    for name in ("before.json", "after.json"):
        (tmp_path / name).write_text(FILES["answer.json"], encoding="utf-8")
    done = call("init")
    assert done.code == 0
    settings = tomllib.loads((tmp_path / "relgate.toml").read_text(encoding="utf-8"))
    named = {name: settings.get(name) for name in ("judgments", "catalogue", "queries", "change")}
    assert named == {
        "judgments": "request.json", "catalogue": "shop.jsonl", "queries": "queries.csv",
        "change": None,
    }  # fmt: skip
    assert "runs: after.json (rank-eval-response), before.json (rank-eval-response)" in done.out
    assert "Next: relgate review --before before.json --after after.json" in done.out
    assert read_project(None, folder=tmp_path).judgments == tmp_path / "request.json"


def test_a_setting_that_two_files_fit_stays_open_and_that_is_said(call, tmp_path) -> None:
    put(tmp_path, "labels.csv", "request.json")
    done = call("init")
    settings = tomllib.loads((tmp_path / "relgate.toml").read_text(encoding="utf-8"))
    assert "judgments" not in settings
    assert "judgments: left open, several fit: labels.csv (csv), request.json" in done.out
    assert "catalogue: left open, none found here" in done.out
    assert "name one file for judgments" in done.out


def test_a_name_of_odd_characters_is_written_as_it_is(call, tmp_path) -> None:
    name = 'my "list" \\ 1\x7f.csv'
    (tmp_path / name).write_text(FILES["labels.csv"], encoding="utf-8")
    assert call("init", "--json").json["settings"] == {"judgments": name}
    assert read_project(None, folder=tmp_path).judgments == tmp_path / name


def test_settings_that_are_there_are_left_alone(call, tmp_path) -> None:
    (tmp_path / "relgate.toml").write_text("k = 5\n", encoding="utf-8")
    assert call("init").code == 2
    assert (tmp_path / "relgate.toml").read_text(encoding="utf-8") == "k = 5\n"
