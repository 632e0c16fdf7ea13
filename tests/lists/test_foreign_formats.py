"""Lists as other tools write them: OpenSearch, Quepid books, RRE, LTR, ESCI, WANDS, Parquet."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from refusals import refusal

from relgate.eval.lists.docids import DocIds
from relgate.eval.lists.raters import Raters
from relgate.eval.lists.read import ListFile, read_list
from relgate.eval.lists.types import SCALES, Query, Source

SCALE = SCALES["0-3"]


def _write(tmp_path: Path, value: object, name: str = "list") -> Path:
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def _grades(file: ListFile) -> dict[tuple[str, str], int]:
    return {(row.query.id, row.doc_id): row.grade for row in file.judgments.rows()}


def _refused(path: Path, word: str, *, line: int | None = None, **options) -> str:
    return refusal(partial(read_list, **{"scale": SCALE, **options}), path, word, line=line)


# --- scales ---


@pytest.mark.parametrize(
    ("scale", "cells", "grades", "once_read"),
    [
        ("esci-100", ("100.000", "10", "1.0", "0"), (3, 2, 1, 0), "esci"),
        ("esci-gains", ("1", "0.1", "0.01", "0.000"), (3, 2, 1, 0), "esci"),
        ("1-4", ("4", "3", "2", "1"), (3, 2, 1, 0), "0-3"),
        ("wands", ("Exact", "Partial", "irrelevant", "2"), (2, 1, 0, 2), "wands"),
        ("0-2", ("2", "1", "0", "0"), (2, 1, 0, 0), "0-2"),
    ],
)
def test_a_named_scale_maps_what_the_file_writes(tmp_path, scale, cells, grades, once_read):
    rows = "".join(f"q,d{n},{cell}\n" for n, cell in enumerate(cells))
    file = read_list(_write(tmp_path, f"query,docid,rating\n{rows}"), scale=SCALES[scale])
    assert tuple(file.judgments.grade.tolist()) == grades
    assert file.judgments.scale.name == once_read


@pytest.mark.parametrize(
    ("scale", "cell"),
    [
        ("esci-100", "50"),
        ("esci-100", "E"),
        ("esci-gains", "0.5"),
        ("1-4", "0"),
        ("wands", "Good"),
        ("0-3", "100.000"),
        ("0-1", "0.9"),
    ],
)
def test_a_value_off_the_scale_is_refused_with_its_line(tmp_path, scale, cell):
    path = _write(tmp_path, f"query,docid,rating\nq,a,{cell}\n")
    _refused(path, f"scale {scale}", line=2, scale=SCALES[scale])


# --- OpenSearch ---

SRW = {
    "name": "jl1",
    "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {
            "query": "red shoes",
            "ratings": [{"docId": "p1", "rating": "3.000"}, {"docId": "p9", "rating": "0.000"}],
        },
        {"query": "oak desk", "ratings": []},
    ],
}


def test_an_opensearch_import_is_read(tmp_path):
    file = read_list(_write(tmp_path, SRW), scale=SCALE)
    assert file.format == "opensearch"
    assert _grades(file) == {("red shoes", "p1"): 3, ("red shoes", "p9"): 0}
    assert [query.id for query in file.judgments.queries] == ["red shoes", "oak desk"]


def test_stored_output_of_a_judge_is_a_judges_and_its_failures_are_no_grades(tmp_path):
    entry = {
        "query": "red shoes",
        "ratings": [{"rating": "1.0", "docId": "p1"}],
        "failures": [{"docId": "p7"}],
    }
    source = {"type": "LLM_JUDGMENT", "status": "PARTIAL", "judgmentRatings": [entry]}
    path = _write(tmp_path, {"hits": {"hits": [{"_id": "x", "_source": source}]}})
    file = read_list(path, scale=SCALES["0-1"], source=Source.HUMAN)
    assert _grades(file) == {("red shoes", "p1"): 1}
    assert file.judgments.counts_by_source() == {Source.JUDGE: 1}
    assert file.unlabelled == 1
    assert any("1 pair(s) failed" in note and "'p7'" in note for note in file.notes)
    assert any("'PARTIAL'" in note for note in file.notes)


@pytest.mark.parametrize("ratings", [["1.0"], ["0.0", "1.0"], ["0.9", "0.2"]])
def test_ratings_from_0_to_1_of_opensearchs_judge_are_no_grades_from_0_to_3(tmp_path, ratings):
    rated = [{"docId": f"p{i}", "rating": rating} for i, rating in enumerate(ratings)]
    source = {"type": "LLM_JUDGMENT", "judgmentRatings": [{"query": "q", "ratings": rated}]}
    _refused(_write(tmp_path, source), "rates from 0 to 1; on the scale 0-3")


def test_a_judgment_list_of_opensearchs_judge_with_grades_above_1_is_read_as_grades(tmp_path):
    rated = [{"docId": "a", "rating": "3.0"}, {"docId": "b", "rating": "1.0"}]
    source = {"type": "LLM_JUDGMENT", "judgmentRatings": [{"query": "q", "ratings": rated}]}
    file = read_list(_write(tmp_path, source), scale=SCALE)
    assert _grades(file) == {("q", "a"): 3, ("q", "b"): 1}


def test_several_stored_lists_in_one_file_are_not_mixed(tmp_path):
    hits = [{"_source": SRW}, {"_source": SRW}]
    _refused(_write(tmp_path, {"hits": {"hits": hits}}), "2 judgment lists in it")


# --- Quepid books ---

BOOK_CSV = "query,docid,Ann Rater,Bo,Anonymous\nred shoes,p1,3.0,2.0,2.0\n =x,p2,,1,\nlamp,p3,,,\n"


def _book(*judgements: dict, **more: object) -> dict:
    pair = {"query_text": "red shoes", "doc_id": "p1", "judgements": list(judgements)}
    return {"name": "B1", "scale": [0, 1, 2, 3], "query_doc_pairs": [pair | more]}


def test_raters_of_a_book_that_differ_are_refused_and_listed(tmp_path):
    _refused(_write(tmp_path, BOOK_CSV), r"1 pair\(s\) .* 'red shoes' 'p1': 3 and 2 and 2")


@pytest.mark.parametrize(("policy", "grade"), [("first", 3), ("median", 2), ("majority", 2)])
def test_raters_of_a_book_are_settled_by_the_named_policy(tmp_path, policy, grade):
    path = _write(tmp_path, BOOK_CSV)
    file = read_list(path, scale=SCALE, source=Source.HUMAN, raters=Raters(policy))
    assert file.format == "quepid-book-csv"
    assert _grades(file) == {("red shoes", "p1"): grade, ("=x", "p2"): 1}
    assert [query.id for query in file.judgments.queries] == ["red shoes", "=x", "lamp"]
    assert len(file.conflicts) == 1
    first = next(file.judgments.rows()).provenance.rater
    assert first == ("Ann Rater" if policy == "first" else None)
    assert any(f"--raters {policy}" in note for note in file.notes)


def test_the_median_of_an_even_number_is_the_lower_and_a_tie_has_no_majority(tmp_path):
    path = _write(tmp_path, "query,docid,Ann,Bo\nq,p,3,1\n")
    assert _grades(read_list(path, scale=SCALE, raters=Raters.MEDIAN)) == {("q", "p"): 1}
    _refused(path, "'q' 'p': 3 and 1", raters=Raters.MAJORITY)


def test_people_outrank_a_judge_before_raters_are_counted(tmp_path):
    text = (
        "query,doc_id,grade,source,rater\n"
        "q,p,0,judge,m1\nq,p,0,judge,m2\nq,p,3,human,ann\nq,p,0,judge,m3\n"
    )
    file = read_list(_write(tmp_path, text), scale=SCALE, raters=Raters.MAJORITY)
    assert _grades(file) == {("q", "p"): 3}
    assert file.conflicts == ()


def test_two_raters_of_one_name_are_refused(tmp_path):
    """Quepid issue 758: the columns of two raters with one name collide."""
    _refused(_write(tmp_path, "query,docid,Ann,ann\nq,p,1,2\n"), "are called 'ann'", line=1)


def test_a_book_keeps_raters_and_explanations_and_unrateable_is_no_grade(tmp_path):
    rated = {"rating": 3.0, "user_email": "a@x.org", "explanation": "fits"}
    marked = {"rating": None, "unrateable": True, "user_email": "b@x.org"}
    file = read_list(_write(tmp_path, _book(rated, marked)), scale=SCALE)
    (row,) = file.judgments.rows()
    assert (file.format, row.grade, row.reason) == ("quepid-book", 3, "fits")
    assert row.provenance.rater == "a@x.org"
    alone = read_list(_write(tmp_path, _book(marked)), scale=SCALE)
    assert (len(alone.judgments), alone.unlabelled) == (0, 1)


def test_a_book_on_another_scale_is_refused(tmp_path):
    _refused(_write(tmp_path, _book()), "the book's scale ends at 3", scale=SCALES["0-1"])


# --- RRE ---


def _rre(docs: dict, **query: object) -> dict:
    queries = [{"placeholders": {"$query": "red shoes"}} | query]
    return {"topics": [{"query_groups": [{"queries": queries, "relevant_documents": docs}]}]}


@pytest.mark.parametrize(
    "docs",
    [
        {"p1": {"gain": 3}, "p9": {"gain": 1}},
        {"p1": {"rating": 3}, "p9": {"rating": 1}},
        {"3": ["p1"], "1": ["p9"]},
    ],
)
def test_both_shapes_of_rre_ratings_are_read(tmp_path, docs):
    file = read_list(_write(tmp_path, _rre(docs)), scale=SCALE)
    assert (file.format, _grades(file)) == (
        "rre",
        {("red shoes", "p1"): 3, ("red shoes", "p9"): 1},
    )


def test_a_querys_own_documents_replace_its_groups(tmp_path):
    value = _rre({"p1": {"gain": 3}}, relevant_documents={"p2": {"gain": 1}})
    assert _grades(read_list(_write(tmp_path, value), scale=SCALE)) == {("red shoes", "p2"): 1}


def test_levels_of_rre_may_be_left_out(tmp_path):
    value = {"queries": [{"placeholders": {"q": "x"}, "relevant_documents": {"1": ["a"]}}]}
    file = read_list(_write(tmp_path, value), scale=SCALE)
    assert _grades(file) == {("x", "a"): 1}
    assert "'q'" in file.notes[0]
    value["queries"][0]["placeholders"] = {"a": "x", "b": "y"}
    _refused(_write(tmp_path, value), r"hold no '\$query'")


# --- LTR ---


def test_ltr_rows_name_the_document_first_then_the_query(tmp_path):
    text = (
        "# qid:1: red shoes*1\n# a remark\n\n"
        "3\tqid:1\t1:9.8\t2:0.4 # p1\tred shoes\n3.0 qid:2 # p1 oak desk\n0 qid:1 # p9\n"
    )
    file = read_list(_write(tmp_path, text), scale=SCALE)
    assert file.format == "ltr"
    assert _grades(file) == {("1", "p1"): 3, ("2", "p1"): 3, ("1", "p9"): 0}
    assert file.judgments.queries == (Query("1", "red shoes"), Query("2", "oak desk"))
    assert any("1 row(s) have features" in note for note in file.notes)


def test_an_ltr_row_without_a_document_is_refused_with_its_line(tmp_path):
    _refused(_write(tmp_path, "3 qid:1 # p1\n2 qid:1 1:0.5\n"), "names no document", line=2)
    _refused(_write(tmp_path, "3 qid:1 # p1\nhello\n"), "not a row", line=2)


# --- ESCI, WANDS, Parquet ---


def _parquet(tmp_path: Path, columns: dict[str, list]) -> Path:
    parquet.write_table(pa.table(columns), tmp_path / "list.parquet")
    return tmp_path / "list.parquet"


def test_esci_parquet_is_read(tmp_path):
    columns = {
        "example_id": [1, 2],
        "query": ["red shoes", "red shoes"],
        "query_id": [7, 7],
        "product_id": ["00123", "B07"],
        "product_locale": ["us", "us"],
        "esci_label": ["E", "I"],
        "split": ["train", "train"],
    }
    file = read_list(_parquet(tmp_path, columns), scale=SCALES["esci"])
    assert (file.format, _grades(file)) == ("esci", {("7", "00123"): 3, ("7", "B07"): 0})
    assert file.judgments.queries == (Query("7", "red shoes"),)
    assert any(note.startswith("3 column(s) left out") for note in file.notes)
    _refused(_parquet(tmp_path, columns), "ESCI letters|is no grade", line=1)


def test_parquet_faults_are_named(tmp_path):
    _refused(_parquet(tmp_path, {"query": ["q"], "grade": [1]}), "no column for the document")
    _refused(_parquet(tmp_path, {"qid": ["q"], "docid": [1.5], "grade": [1]}), "number", line=1)
    path = _parquet(tmp_path, {"qid": ["q"], "docid": ["d"], "grade": [1]})
    path.write_bytes(path.read_bytes()[:-20])
    _refused(path, "damaged Parquet")
    _refused(_write(tmp_path, "query,docid,rating\nq,a,1\n"), "damaged Parquet", format="parquet")


def test_wands_labels_get_their_texts_from_the_file_beside_them(tmp_path):
    labels = "id\tquery_id\tproduct_id\tlabel\n0\t0\t25434\tExact\n1\t0\t12088\tIrrelevant\n"
    path = _write(tmp_path, labels, "label.csv")
    bare = read_list(path, scale=SCALES["wands"])
    assert (bare.format, bare.judgments.queries) == ("wands", (Query("0"),))
    assert "query.csv" in bare.notes[0]
    _write(tmp_path, "query_id\tquery\tquery_class\n0\tsalon chair\tChairs\n", "query.csv")
    file = read_list(path, scale=SCALES["wands"])
    assert file.judgments.queries == (Query("0", "salon chair"),)
    assert _grades(file) == {("0", "25434"): 2, ("0", "12088"): 0}
    assert file.notes == ()


# --- ids ---


def _request(*ratings: dict) -> dict:
    return {"requests": [{"id": "q", "ratings": list(ratings)}]}


def test_aliases_become_concrete_indices_and_ids_may_be_composite(tmp_path):
    body = _request(
        {"_index": "shop", "_id": "p", "rating": 1}, {"_index": "shop-v7", "_id": "p", "rating": 1}
    )
    path = _write(tmp_path, body)
    two = read_list(path, scale=SCALE, doc_ids=DocIds(composite=True))
    assert _grades(two) == {("q", "shop/p"): 1, ("q", "shop-v7/p"): 1}
    one = read_list(path, scale=SCALE, doc_ids=DocIds({"shop": "shop-v7"}, composite=True))
    assert _grades(one) == {("q", "shop-v7/p"): 1}
    assert not read_list(path, scale=SCALE, doc_ids=DocIds({"shop": "shop-v7"})).notes
    missing = _write(tmp_path, _request({"_id": "p", "rating": 1}))
    _refused(missing, "_index", doc_ids=DocIds(composite=True))


def test_the_text_of_a_search_template_is_taken_from_its_parameters(tmp_path):
    body = _request({"_index": "i", "_id": "p", "rating": 1})
    body["requests"][0] |= {"template_id": "t", "params": {"query_string": "red shoes"}}
    file = read_list(_write(tmp_path, body), scale=SCALE)
    assert file.judgments.queries == (Query("q", "red shoes"),)


# --- real files; the counts are those of the READMEs beside them ---


@pytest.mark.parametrize(
    ("name", "options", "expected", "classes"),
    [
        (
            "opensearch_esci/native/esci_us_judgments.json",
            {"scale": SCALES["esci-100"]},
            ("opensearch", 6678, 150),
            {3: 3389, 2: 1898, 1: 305, 0: 1086},
        ),
        (
            "opensearch_esci/native/art_judgments_claude_sonnet_4_5.json",
            {},
            ("opensearch", 1080, 27),
            {3: 419, 2: 137, 1: 223, 0: 301},
        ),
        (
            "opensearch_esci/esci_us_judgments.tsv",
            {"scale": SCALES["esci"], "grade_column": "esci_label"},
            ("csv", 6678, 150),
            {3: 3389, 2: 1898, 1: 305, 0: 1086},
        ),
        (
            "quepid_haystack/native/quepid_book.json.gz",
            {},
            ("quepid-book", 1358, 137),
            {0: 577, 1: 259, 2: 138, 3: 384},
        ),
        (
            "ltr_tmdb/title_judgments.txt",
            {"scale": SCALES["0-4"]},
            ("ltr", 1390, 40),
            {0: 1098, 1: 162, 2: 33, 3: 51, 4: 46},
        ),
        (
            "ltr_tmdb/title_features.csv",
            {"scale": SCALES["0-4"]},
            ("csv", 1390, 40),
            {0: 1098, 1: 162, 2: 33, 3: 51, 4: 46},
        ),
        ("rre/ratings_example.json", {}, ("rre", 9, 6), {3: 9}),
        ("rre/quepid_mock_rre.json", {}, ("rre", 6, 2), {1: 2, 2: 4}),
        (
            "esci_text_samples/esci_text.csv",
            {"scale": SCALES["esci"], "grade_column": "esci_label"},
            ("csv", 684, 57),
            {3: 661, 0: 17, 2: 5, 1: 1},
        ),
        (
            "crowdflower/train.csv.gz",
            {"scale": SCALES["1-4"], "grade_column": "median_relevance", "doc_column": "id"},
            ("csv", 10158, 261),
            {0: 774, 1: 1476, 2: 1737, 3: 6171},
        ),
    ],
)
def test_real_files_have_the_counts_of_their_readme(shared, name, options, *, expected, classes):
    file = read_list(shared / "data" / name, **{"scale": SCALE, **options})
    assert (file.format, len(file.judgments), len(file.judgments.queries)) == expected
    assert dict(Counter(file.judgments.grade.tolist())) == classes


def test_the_gains_of_a_real_list_are_never_taken_for_grades(shared):
    path = shared / "data/opensearch_esci/native/esci_us_judgments.json"
    _refused(path, "grade 100 .* not on the scale 0-3")


def test_the_books_unrateable_pairs_are_counted(shared):
    """README: no usable rating 1,062 of 2,420 pairs; the two ratings of a pair are always equal."""
    path = shared / "data/quepid_haystack/native/quepid_book.json.gz"
    file = read_list(path, scale=SCALE, source=Source.HUMAN)
    assert (file.unlabelled, len(file.votes), file.conflicts) == (1062, 562, ())
    assert len(gzip.decompress(path.read_bytes())) > path.stat().st_size
