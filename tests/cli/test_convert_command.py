"""relgate convert: what it took a file for, what it writes, what it says that it leaves out."""

from __future__ import annotations

import json

import pytest

from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import SCALES
from relgate.eval.runs.read import read_run

CSV = "query,docid,rating\nred shoes,p1,3\noak desk,p2,0\n"


@pytest.fixture
def csv_list(tmp_path):
    (tmp_path / "list.csv").write_text(CSV)
    return "list.csv"


def test_it_says_what_it_took_the_file_for_and_what_it_wrote(call, csv_list):
    done = call("convert", csv_list, "--to", "opensearch", "--out", "out.json")
    assert done.code == 0
    assert "read as csv, scale 0-3" in done.err
    assert done.out == (
        "list.csv (csv) -> out.json (opensearch): 2 judgments of 2 queries, scale 0-3\n"
    )
    back = read_list("out.json", scale=SCALES["0-3"])
    assert [(r.query.id, r.doc_id, r.grade) for r in back.judgments.rows()] == [
        ("red shoes", "p1", 3),
        ("oak desk", "p2", 0),
    ]


def test_what_would_change_the_list_is_refused(call, csv_list, tmp_path):
    """The query has a blank, which would shift the columns of TREC."""
    done = call("convert", csv_list, "--to", "trec", "--out", "out", "--quiet")
    assert done.code == 2
    assert "TREC cannot carry the query id 'red shoes'" in done.complaint
    assert not (tmp_path / "out").exists()


def test_what_is_left_out_is_listed(call, tmp_path):
    (tmp_path / "l.csv").write_text("qid,query,docid,grade,rater,reason\n1,rot,p1,3,ann,fits\n")
    done = call("convert", "l.csv", "--to", "trec", "--out", "o.qrels")
    assert (done.code, (tmp_path / "o.qrels").read_text()) == (0, "1 0 p1 3\n")
    for what in ("1 query texts", "1 kinds of provenance", "1 reasons"):
        assert f"left out: not in TREC qrels: {what}" in done.err
    value = call("convert", "l.csv", "--to", "trec", "--out", "o.qrels", "--json").json
    assert len(value["left_out"]) == 3
    assert (value["read_as"], value["judgments"]) == ("csv", 1)


def test_a_scale_is_never_guessed(call, shared, tmp_path):
    path = shared / "data/opensearch_esci/native/esci_us_judgments.json"
    refused = call("convert", path, "--to", "csv", "--out", "o.csv", "--quiet")
    assert refused.code == 2
    assert "not on the scale 0-3" in refused.complaint
    assert not (tmp_path / "o.csv").exists()
    done = call("convert", path, "--to", "csv", "--out", "o.csv", "--scale", "esci-100")
    assert "read as opensearch, scale esci-100" in done.err
    assert "6,678 judgments of 150 queries, scale esci" in done.out


def test_raters_that_differ_are_refused_until_a_policy_is_named(call, tmp_path):
    (tmp_path / "book.csv").write_text("query,docid,Ann,Bo,Cy\nq,p1,3,1,1\nq,p2,2,2,\n")
    words = ("convert", "book.csv", "--to", "quepid-csv", "--out", "o.csv")
    refused = call(*words, "--quiet")
    assert refused.code == 2
    assert "'q' 'p1': 3 and 1 and 1" in refused.complaint
    done = call(*words, "--raters", "majority", "--json")
    assert done.json["conflicts"] == ["'q' 'p1': 3 and 1 and 1 (lines 2 and 2 and 2)"]
    assert (tmp_path / "o.csv").read_text() == "query,docid,rating\nq,p1,1.0\nq,p2,2.0"


def test_rows_that_do_not_go_over_are_counted(call, tmp_path):
    text = "query,docid,rating,rater,source\nq,a,3,ann,human\nq,a,3,bo,human\nq,b,1,,human\n"
    (tmp_path / "l.csv").write_text(text + "q,b,0,,judge\nq,c,,,\n")
    said = call("convert", "l.csv", "--to", "jsonl", "--out", "o.jsonl").err
    for what in ("1 rows say again", "1 rows are overruled by people", "1 pairs have no grade"):
        assert what in said


def test_texts_come_from_a_query_table(call, tmp_path):
    (tmp_path / "l.qrels").write_text("301 0 p1 3\n")
    words = ("convert", "l.qrels", "--to", "rre", "--out", "o.json", "--index", "shop")
    assert "give the texts with --queries" in call(*words, "--quiet").complaint
    (tmp_path / "q.csv").write_text("query_id,query\n301,red shoes\n")
    assert call(*words, "--queries", "q.csv").code == 0
    value = json.loads((tmp_path / "o.json").read_text())
    assert value["queries"][0]["placeholders"] == {"$query": "red shoes"}
    assert value["index"] == "shop"


def test_a_rank_eval_request_needs_a_search_and_an_index(call, csv_list, tmp_path):
    words = ("convert", csv_list, "--to", "rank-eval-request", "--out", "o.json")
    assert "--search" in call(*words, "--quiet").complaint
    (tmp_path / "s.json").write_text('{"query": {"match": {"title": "{{query}}"}}}')
    assert "--index" in call(*words, "--search", "s.json", "--quiet").complaint
    assert call(*words, "--search", "s.json", "--index", "shop-v7").code == 0
    value = json.loads((tmp_path / "o.json").read_text())
    (first, _) = value["requests"]
    assert first["ratings"] == [{"_index": "shop-v7", "_id": "p1", "rating": 3}]
    assert first["params"] == {"query": "red shoes"}


def test_durable_keys_become_live_ids_and_those_without_are_said(call, tmp_path):
    (tmp_path / "l.csv").write_text("query,url,grade\nq,https://x/1,3\nq,https://x/gone,1\n")
    (tmp_path / "c.jsonl").write_text('{"id": "p1", "url": "https://x/1", "title": "a"}\n')
    words = ("convert", "l.csv", "--to", "csv", "--out", "o.csv", "--locator", "url")
    assert "--catalogue" in call(*words).complaint
    done = call(*words, "--catalogue", "c.jsonl")
    assert done.code == 1
    assert "1 keys have no live document" in done.err
    assert "https://x/gone" in done.err
    assert (tmp_path / "o.csv").read_text() == "query,doc_id,grade\nq,p1,3\n"
    twice = '{"id": "p1", "url": "https://x/1"}\n{"id": "p2", "url": "https://x/1"}\n'
    (tmp_path / "c.jsonl").write_text(twice)
    assert "2 documents have the key" in call(*words, "--catalogue", "c.jsonl", "--quiet").complaint


@pytest.mark.parametrize("name", ["i.toml", "i.json"])
def test_aliases_are_read_from_toml_and_json(call, tmp_path, name):
    rating = {"_index": "shop", "_id": "p", "rating": 1}
    (tmp_path / "r.json").write_text(json.dumps({"requests": [{"id": "q", "ratings": [rating]}]}))
    text = 'shop = "shop-v7"\n' if name.endswith("toml") else '{"shop": "shop-v7"}'
    (tmp_path / name).write_text(text)
    words = ("convert", "r.json", "--to", "csv", "--out", "o.csv", "--composite-ids")
    assert call(*words, "--indices", name).code == 0
    assert (tmp_path / "o.csv").read_text() == "query_id,doc_id,grade\nq,shop-v7/p,1\n"
    (tmp_path / name).write_text("[" if name.endswith("toml") else "[1]")
    assert name in call(*words, "--indices", name, "--quiet").complaint


def test_a_run_is_converted_and_one_of_several_is_named(call, tmp_path):
    (tmp_path / "r.tsv").write_text("run\tqid\trank\tdocid\nA\t1\t1\ta\nB\t1\t1\tb\n")
    words = ("convert", "r.tsv", "--run", "--to", "trec", "--out", "o.run")
    assert "2 runs in it" in call(*words).complaint
    done = call(*words, "--only", "B")
    assert (done.code, (tmp_path / "o.run").read_text()) == (0, "1 Q0 b 1 1 B\n")
    assert read_run("o.run").docs == (("b",),)


def test_an_input_is_never_written_over(call, csv_list, tmp_path):
    assert (
        "it is an input" in call("convert", csv_list, "--to", "json", "--out", csv_list).complaint
    )
    assert (tmp_path / csv_list).read_text() == CSV


def test_an_unknown_format_is_named(call, csv_list):
    done = call("convert", csv_list, "--to", "xls", "--out", "o", "--quiet")
    assert "no format 'xls' to write; use one of: csv, esci, json" in done.complaint
