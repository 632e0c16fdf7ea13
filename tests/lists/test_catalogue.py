"""Catalogues and query tables."""

from __future__ import annotations

import builtins
import json
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from refusals import refusal

from relgate.eval.catalogue import read_catalogue
from relgate.eval.lists.types import Query
from relgate.eval.queries import QueryRow, read_queries
from relgate.judge.prompt import candidate_summary
from relgate.rubrics.errors import InputError


def _write(tmp_path: Path, text: str, name: str) -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


PRODUCTS = [{"id": "00123", "title": "Red shoe", "price": 10}, {"id": "123", "title": "Oak desk"}]


def _parquet(tmp_path: Path, columns: dict[str, list[object]]) -> Path:
    path = tmp_path / "c.parquet"
    parquet.write_table(pa.table(columns), path)
    return path


def test_jsonl_json_csv_and_tsv_give_the_same_products(tmp_path):
    jsonl = _write(tmp_path, "\n".join(map(json.dumps, PRODUCTS)), "c.jsonl")
    one_list = _write(tmp_path, json.dumps(PRODUCTS), "c.json")
    comma = _write(tmp_path, "id,title,price\n00123,Red shoe,10\n123,Oak desk,\n", "c.csv")
    tab = _write(tmp_path, "id\ttitle\tprice\n00123\tRed shoe\t10\n123\tOak desk\t\n", "c.tsv")
    read = {path: read_catalogue(path) for path in (jsonl, one_list, comma, tab)}
    assert [c.format for c in read.values()] == ["jsonl", "json", "csv", "tsv"]
    for catalogue in read.values():
        assert catalogue.ids == ("00123", "123")
        assert len(catalogue) == 2
        shown = [catalogue.candidate(doc_id) for doc_id in catalogue.ids]
        assert [c and c.text for c in shown] == ["title: Red shoe | price: 10", "title: Oak desk"]


def test_parquet_whole_numbers_become_text_and_missing_values_are_none(tmp_path):
    columns = {"id": [135217135789158401, 7], "title": ["a", "b"], "price": [1.5, float("nan")]}
    catalogue = read_catalogue(_parquet(tmp_path, columns))
    assert (catalogue.format, catalogue.ids) == ("parquet", ("135217135789158401", "7"))
    assert catalogue.product("7") == {"id": 7, "title": "b"}


def test_parquet_ids_that_became_fractions_arerefusal(tmp_path):
    path = _parquet(tmp_path, {"id": [1.0, 2.0], "title": ["a", "b"]})
    refusal(read_catalogue, path, r"the id \(id\) is number", line=1)


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    path = _parquet(tmp_path, {"id": ["a"]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'relgate[parquet]'" in refusal(read_catalogue, path, "needs pyarrow")


def test_a_damaged_parquet_file_is_named(tmp_path):
    path = _parquet(tmp_path, {"id": ["a"]})
    path.write_bytes(path.read_bytes()[:-20])
    refusal(read_catalogue, path, "damaged Parquet")


def test_a_catalogue_module_does_not_load_pyarrow(monkeypatch, tmp_path):
    real = builtins.__import__

    def watched(name, *rest):
        assert not name.startswith("pyarrow")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", watched)
    assert len(read_catalogue(_write(tmp_path, "id,title\na,b\n", "c.csv"))) == 1


def test_search_hits_are_unwrapped_and_keep_their_own_id(tmp_path):
    hit = {"_index": "i", "_id": "p1", "_source": {"id": "other", "title": "Red shoe"}}
    catalogue = read_catalogue(_write(tmp_path, json.dumps(hit), "c.jsonl"))
    assert catalogue.ids == ("p1",)
    assert catalogue.product("p1") == {"id": "other", "title": "Red shoe"}


def test_a_text_field_is_what_the_judge_sees_else_the_summary(tmp_path):
    rows = [
        {"id": "a", "text": "All of it", "title": "T"},
        {"id": "b", "text": "  ", "title": "T"},
        {"id": "c", "colour_code": 7},
    ]
    catalogue = read_catalogue(_write(tmp_path, "\n".join(map(json.dumps, rows)), "c.jsonl"))
    shown = [catalogue.candidate(doc_id) for doc_id in "abcx"]
    assert [c and c.text for c in shown] == [
        "All of it",
        candidate_summary({"title": "T"}),
        None,
        None,
    ]


def test_column_names_are_read_without_regard_to_case(tmp_path):
    catalogue = read_catalogue(_write(tmp_path, "Product ID,Title\np1,Red shoe\n", "c.csv"))
    shown = catalogue.candidate("p1")
    assert shown is not None
    assert shown.text == "title: Red shoe"


def test_ids_meet_in_unicode_nfc_and_the_id_asked_for_comes_back(tmp_path):
    catalogue = read_catalogue(_write(tmp_path, "id,title\ncaf\u00e9,x\n", "c.csv"))
    shown = catalogue.candidate("cafe\u0301")
    assert shown is not None
    assert shown.id == "cafe\u0301"


def test_only_wanted_products_are_kept(tmp_path):
    path = _write(tmp_path, "id,title\ncaf\u00e9,x\nb,y\n", "c.csv")
    assert read_catalogue(path, wanted={"cafe\u0301"}).ids == ("caf\u00e9",)
    assert not len(read_catalogue(path, wanted=set()))


def test_one_id_with_two_contents_names_both_lines_and_a_repeat_is_counted(tmp_path):
    path = _write(tmp_path, "id,title\na,x\nb,y\na,z\n", "c.csv")
    assert "(lines 2 and 4)" in refusal(read_catalogue, path, "'a' stands twice", line=4)
    assert read_catalogue(_write(tmp_path, "id,title\na,x\na,x\n", "c.csv")).repeats == 1


def test_a_missing_id_column_or_id_is_named(tmp_path):
    message = refusal(
        read_catalogue, _write(tmp_path, "name\nx\n", "c.csv"), "no id column", line=1
    )
    assert "'name'" in message
    path = _write(tmp_path, '{"id": "a"}\n{"title": "b"}\n', "c.jsonl")
    refusal(read_catalogue, path, r"the id \(id\) is empty", line=2)
    path = _write(tmp_path, "ean,id\n7,a\n", "c.csv")
    assert read_catalogue(path, id_field="ean").ids == ("7",)
    refusal(lambda p: read_catalogue(p, id_field="gtin"), path, "no id column", line=1)


def test_no_catalogue_is_named(tmp_path):
    refusal(read_catalogue, tmp_path / "none", "no such file")
    refusal(read_catalogue, tmp_path, "is a folder")
    refusal(read_catalogue, _write(tmp_path, "id,title\n", "c.csv"), "no product")


# --- query tables ---


def test_a_query_table_gives_marks_strata_and_weights(tmp_path):
    text = (
        "query_id,query,head,critical,vertical,weight,locale,set,notes\n"
        "1,red shoes,yes,0,shoes,10.5,en,core,x\n"
        "2,chaussures,,TRUE,,,fr,shadow,\n"
    )
    table = read_queries(_write(tmp_path, text, "q.csv"))
    assert table.rows == (
        QueryRow("1", "red shoes", True, False, "shoes", 10.5, "en", set="core"),  # noqa: FBT003 - the row as it stands
        QueryRow("2", "chaussures", False, True, None, None, "fr", set="shadow"),  # noqa: FBT003
    )
    assert table.by_key("1") is table.by_key("red shoes") is table.rows[0]
    assert table.by_key("none") is None
    assert (table.format, len(table)) == ("csv", 2)
    assert table.columns[:3] == ("id", "text", "head")
    assert table.unknown == ("notes",)


def test_what_of_a_table_did_not_count_is_said(tmp_path):
    table = read_queries(_write(tmp_path, "query,hed\nred shoes,yes\n", "q.csv"))
    assert table.remarks([Query("7", "red shoes")]) == (
        "the query table has columns that are not known, passed over: 'hed'",
    )
    plain = read_queries(_write(tmp_path, "query,head\nred shoes,yes\n", "q.csv"))
    assert plain.remarks([Query("a"), Query("red shoes")]) == ()
    assert plain.remarks([Query("a", "b")]) == (
        "no query of the runs stands in the query table, say 'b'",
    )


def test_an_id_goes_before_a_text_and_letters_meet_in_nfc(tmp_path):
    table = read_queries(_write(tmp_path, "id,text\ncaf\u00e9,b\nb,x\n", "q.csv"))
    assert table.by_key("b") == QueryRow("b", "x")
    assert table.by_key("cafe\u0301") == QueryRow("caf\u00e9", "b")


def test_jsonl_a_json_list_and_a_golden_set_are_query_tables(tmp_path):
    rows = [{"id": 1, "text": "rot", "head": True}, {"id": "2", "text": None, "weight": 0}]
    expected = (QueryRow("1", "rot", head=True), QueryRow("2", weight=0.0))
    values = ("\n".join(map(json.dumps, rows)), json.dumps(rows), json.dumps({"queries": rows}))
    for text in values:
        assert read_queries(_write(tmp_path, text, "q.json")).rows == expected


def test_an_opensearch_query_set_is_a_query_table(tmp_path, shared):
    lines = '{"queryText": "red shoes", "referenceAnswer": "sneakers in red"}\n{"queryText": "b"}\n'
    assert [row.text for row in read_queries(_write(tmp_path, lines, "q.json")).rows] == [
        "red shoes",
        "b",
    ]
    folder = shared / "data/opensearch_esci/native"
    assert len(read_queries(folder / "esci_us_queryset.json")) == 150
    assert read_queries(folder / "art_queryset.json").rows[0].text == "laptop stand"


def test_the_ids_of_products_are_found_by_another_field(tmp_path):
    path = _write(tmp_path, "id,url\np1,https://x/1\np2,https://x/2\np3,https://x/2\n", "c.csv")
    catalogue = read_catalogue(path)
    assert catalogue.ids_by("url") == {"https://x/1": ("p1",), "https://x/2": ("p2", "p3")}
    with pytest.raises(InputError, match="no product has the field 'ean'"):
        catalogue.ids_by("ean")


def test_a_table_of_texts_is_keyed_by_them(tmp_path):
    table = read_queries(_write(tmp_path, "query\nred shoes\n", "q.csv"))
    assert table.rows == (QueryRow("red shoes", "red shoes"),)


@pytest.mark.parametrize(
    ("text", "word", "line"),
    [
        ("name\nx\n", "no column for the query", 1),
        ("query_id,qid\n1,2\n", "may all be the id", 1),
        ("id,head\n1,maybe\n", "head is 'maybe'", 2),
        ("id,weight\n1,nan\n", "weight 'nan'", 2),
        ("id,weight\n1,-1\n", "weight '-1'", 2),
        ("id,weight\n1,many\n", "weight 'many'", 2),
        ("id,set\n1,shadwo\n", "set 'shadwo'", 2),
        ("id,head\n1,yes\n1,no\n", "'1' stands twice", 3),
        ("id,head\n,yes\n", "query id is empty", 2),
        ("id,head\n", "no query", None),
    ],
)
def test_a_faulty_query_table_is_refused_with_its_line(tmp_path, text, word, line):
    refusal(read_queries, _write(tmp_path, text, "q.csv"), word, line=line)


def test_real_query_tables_are_read(shared):
    table = read_queries(shared / "data/quepid_haystack/queries.tsv")
    assert (len(table), table.format) == (135, "tsv")
    assert len(read_queries(shared / "data/llmjudge/queries.tsv")) == 50
