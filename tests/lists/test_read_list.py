"""Judgment lists: what is read, what is refused, and how it is said."""

from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path

import pytest
from refusals import refusal
from shared_cases import shared_case

from relgate.eval.lists.read import ListFile, read_list
from relgate.eval.lists.types import SCALES, Query, Scale, Source
from relgate.rubrics.errors import InputError, UsageError

SCALE = SCALES["0-3"]


def _write(tmp_path: Path, text: str | bytes, name: str = "list.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def _grades(file: ListFile) -> dict[tuple[str, str], int]:
    return {(row.query.id, row.doc_id): row.grade for row in file.judgments.rows()}


def _refused(path: Path, word: str, *, line: int | None = None, **options) -> str:
    return refusal(partial(read_list, **{"scale": SCALE, **options}), path, word, line=line)


# --- the cases of areas import and export ---


def test_a_byte_order_mark_does_not_stick_to_the_first_header(tmp_path, shared):
    case = shared_case(shared, "I01")
    raw = bytes.fromhex(case["input"]["bytes_prefix"]) + case["input"]["csv"].encode()
    file = read_list(_write(tmp_path, raw), scale=SCALE)
    assert len(file.judgments) == case["right"]["expect"]["rows"]
    assert file.judgments.queries[0].id == case["right"]["expect"]["query"]
    marked = case["input"]["csv"].encode("utf-16")
    assert _grades(read_list(_write(tmp_path, marked), scale=SCALE)) == _grades(file)


@pytest.mark.parametrize("case_id", ["I02", "I03"])
def test_ids_are_text_and_never_numbers(tmp_path, shared, case_id):
    case = shared_case(shared, case_id)
    file = read_list(_write(tmp_path, case["input"]["csv"]), scale=SCALE)
    assert list(file.judgments.doc_id) == case["right"]["expect"]["docids"]
    mangled = [note for note in file.notes if "spreadsheet" in note]
    assert len(mangled) == (case_id == "I03")
    if mangled:
        assert mangled[0].startswith("1 ")
        assert "'1352171357E+5', line 4" in mangled[0]


def test_all_conflicts_are_named_in_one_message_and_repeats_are_fine(tmp_path, shared):
    case = shared_case(shared, "I07")
    message = _refused(_write(tmp_path, case["input"]["csv"]), "two different grades")
    assert "2 pair(s)" in message
    assert "'a': 1 and 0 (lines 2 and 3)" in message
    assert "'c': 3 and 1 (lines 6 and 7)" in message
    assert "'b'" not in message


def test_an_identical_repeat_counts_once(tmp_path):
    file = read_list(_write(tmp_path, "query,docid,rating\nq,b,2\nq,b,2.0\n"), scale=SCALE)
    assert (len(file.judgments), file.repeats) == (1, 1)


def test_an_unclosed_quote_is_an_error_on_its_own_line(tmp_path, shared):
    case = shared_case(shared, "I11")
    path = _write(tmp_path, case["input"]["csv"])
    _refused(path, "unclosed or odd", line=case["right"]["expect"]["error_line"])


def test_a_quote_that_never_closes_is_an_error_where_it_opens(tmp_path):
    path = _write(tmp_path, 'query,docid,rating\na,1,2\n"tv stand,3,1\nlamp,4,0\n')
    _refused(path, "unclosed or odd", line=3)


def test_a_quoted_line_break_is_accepted_and_line_numbers_stay_right(tmp_path):
    text = 'query,docid,rating\n"two\nlines",5,3\n"12"" tv",1,2\nlamp,4,7\n'
    path = _write(tmp_path, text)
    _refused(path, "grade 7", line=5)
    file = read_list(_write(tmp_path, text.replace("4,7", "4,1")), scale=SCALE)
    assert [query.id for query in file.judgments.queries] == ["two\nlines", '12" tv', "lamp"]
    assert any("control characters" in note and "line 2" in note for note in file.notes)


def test_a_blank_in_a_trec_id_names_its_line(tmp_path, shared):
    doc_id = shared_case(shared, "I15")["input"]["docid"]
    path = _write(tmp_path, f"q 0 d1 1\nq 0 {doc_id} 3\n", "a.qrels")
    _refused(path, "6 fields, not 4", line=2)


def test_trec_splits_at_ascii_blanks_only(tmp_path):
    path = _write(tmp_path, "q1 0 d1 1\nq1\t0\td2\t2\r\n\nq1  0   doc\u00a0a 3.0\n", "a.qrels")
    file = read_list(path, scale=SCALE)
    assert file.format == "trec"
    assert _grades(file) == {("q1", "d1"): 1, ("q1", "d2"): 2, ("q1", "doc\u00a0a"): 3}
    assert any("invisible" in note for note in file.notes)


def test_negative_grades_are_refused_unless_mapped_to_0_by_name(tmp_path, shared):
    judged = shared_case(shared, "M09")["input"]["judged"]
    path = _write(tmp_path, "".join(f"q 0 {d} {g}\n" for d, g in judged.items()), "a.qrels")
    _refused(path, "negative grade -2", line=1)
    file = read_list(path, scale=SCALE, negative_as_zero=True)
    assert _grades(file) == {("q", "a"): 0, ("q", "b"): 1}
    assert "negative" in file.notes[0]


# --- headers and cells ---


@pytest.mark.parametrize("query", ["query", "query_text", "searchText", "Query Text"])
@pytest.mark.parametrize("doc", ["doc_id", "docid", "doc", "product_id", "document_id", "docId"])
@pytest.mark.parametrize("grade", ["rating", "grade", "relevance", "label", "human"])
def test_header_variants_are_known(tmp_path, query, doc, grade):
    file = read_list(_write(tmp_path, f"{grade},{query},{doc}\n2,rot,p1\n"), scale=SCALE)
    assert file.judgments.queries == (Query("rot", "rot"),)
    assert _grades(file) == {("rot", "p1"): 2}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_comes_from_the_header_alone(tmp_path, delimiter):
    head = delimiter.join(["qid", "query", "docid", "grade"])
    row = delimiter.join(["7", '"a,b;c\td|e"', "p1", "3"])
    file = read_list(_write(tmp_path, f"{head}\n{row}\n"), scale=SCALE)
    assert file.judgments.queries == (Query("7", "a,b;c\td|e"),)


def test_excels_sep_line_and_leading_blank_lines_are_passed_over(tmp_path):
    path = _write(tmp_path, "sep=;\r\n\r\nquery;docid;rating\r\nrot;p1;3,0\r\nrot;p2;9\r\n")
    _refused(path, "grade 9", line=5)


def test_a_list_with_ids_only_has_no_texts(tmp_path):
    file = read_list(_write(tmp_path, "qid,docid,grade\nqid:1,p1,3\n"), scale=SCALE)
    assert file.judgments.queries == (Query("qid:1", None),)


def test_one_id_with_two_texts_is_refused(tmp_path):
    path = _write(tmp_path, "query_id,query,docid,grade\n1,rot,a,1\n1,blau,b,1\n")
    _refused(path, "two texts", line=3)


def test_a_text_that_comes_after_its_id_is_kept(tmp_path):
    path = _write(tmp_path, "query_id,query,docid,grade\n1,,a,1\n1,blau,b,1\n")
    assert read_list(path, scale=SCALE).judgments.queries == (Query("1", "blau"),)


def test_a_missing_column_says_what_was_found_and_what_is_accepted(tmp_path):
    message = _refused(_write(tmp_path, "query,sku,stars\nrot,p1,3\n"), "no column", line=1)
    assert "'query', 'sku', 'stars'" in message
    assert "doc_id|docid" in message
    assert "grade|rating" in message
    assert "query (" not in message


def test_two_columns_that_may_be_the_grade_are_refused_until_one_is_named(tmp_path):
    path = _write(tmp_path, "query,docid,rating,label\nrot,p1,3,0\n")
    _refused(path, "may all be the grade", line=1)
    assert _grades(read_list(path, scale=SCALE, grade_column="label")) == {("rot", "p1"): 0}
    _refused(path, "no column 'stars'", line=1, grade_column="stars")


@pytest.mark.parametrize(
    ("cell", "grade"), [("3", 3), ("3.0", 3), ("3.000", 3), (" 2 ", 2), ("+1", 1), ("0.", 0)]
)
def test_a_whole_number_may_be_written_with_zeros(tmp_path, cell, grade):
    file = read_list(_write(tmp_path, f"query,docid,rating\nrot,p1,{cell}\n"), scale=SCALE)
    assert _grades(file) == {("rot", "p1"): grade}


@pytest.mark.parametrize(
    "cell", ["2.5", "abc", "NaN", "inf", "1e0", "0x1", "٣", "1_0", "E", "9" * 99]
)
def test_what_is_no_grade_is_refused_and_never_rounded(tmp_path, cell):
    path = _write(tmp_path, f"query,docid,rating\nrot,p1,1\nrot,p2,{cell}\n")
    message = _refused(path, "is no grade on the scale 0-3", line=3)
    assert "'rot'" in message
    assert "'p2'" in message


def test_a_grade_off_the_scale_is_refused(tmp_path):
    _refused(_write(tmp_path, "query,docid,rating\nrot,p1,7\n"), "grade 7 .* scale 0-3", line=2)
    _refused(_write(tmp_path, "query,docid,rating\nrot,p1,-1\n"), "negative grade -1", line=2)


def test_esci_letters_need_the_esci_scale(tmp_path):
    path = _write(tmp_path, "query,docid,esci_label\nrot,a,E\nrot,b,s\nrot,c,C\nrot,d,I\n")
    assert list(read_list(path, scale=SCALES["esci"]).judgments.grade) == [3, 2, 1, 0]
    assert "--scale esci" in _refused(path, "'E' is no grade", line=2)


def test_a_row_without_grade_lists_its_query_and_is_counted(tmp_path):
    text = "query,docid,rating\nred shoes,p1,3.0\noak desk,,\nlamp,p2,"
    file = read_list(_write(tmp_path, text), scale=SCALE)
    assert [query.id for query in file.judgments.queries] == ["red shoes", "oak desk", "lamp"]
    assert (len(file.judgments), file.unlabelled) == (1, 1)


def test_a_grade_without_a_document_is_refused(tmp_path):
    _refused(_write(tmp_path, "query,docid,rating\nrot,,3\n"), "document id is empty", line=2)
    _refused(_write(tmp_path, "query,docid,rating\n,p1,3\n"), "query is empty", line=2)


@pytest.mark.parametrize("row", ["rot,p1", "rot,p1,3,4", "rot, blau,p1,3"])
def test_a_row_with_other_fields_than_the_header_is_refused(tmp_path, row):
    _refused(_write(tmp_path, f"query,docid,rating\nrot,p0,1\n{row}\n"), "fields where", line=3)


def test_only_a_header_is_no_list(tmp_path):
    _refused(_write(tmp_path, "query,docid,rating\n"), "no row")


def test_odd_texts_are_kept_and_noted(tmp_path):
    text = "query,docid,rating\nrot, p1,3\nrot,p\u200b2,1\nrot,p\x012,0\n"
    file = read_list(_write(tmp_path, text), scale=SCALE)
    assert file.judgments.doc_id == (" p1", "p\u200b2", "p\x012")
    assert len(file.notes) == 3


def test_composed_and_decomposed_letters_are_one_id(tmp_path):
    path = _write(tmp_path, "query,docid,rating\nq,caf\u00e9,1\nq,cafe\u0301,2\n")
    _refused(path, "two different grades")


# --- provenance ---


def test_a_list_without_a_source_column_is_an_import_unless_said_otherwise(tmp_path):
    path = _write(tmp_path, "query,docid,rating\nq,a,1\n")
    assert read_list(path, scale=SCALE).judgments.counts_by_source() == {Source.IMPORT: 1}
    human = read_list(path, scale=SCALE, source=Source.HUMAN)
    assert human.judgments.counts_by_source() == {Source.HUMAN: 1}


def test_people_outrank_judges_and_llm_is_read_as_judge(tmp_path):
    text = "query,docid,rating,source,rater\nq,a,1,llm,\nq,a,3,Human,ann\nq,b,2,,\n"
    file = read_list(_write(tmp_path, text), scale=SCALE)
    rows = list(file.judgments.rows())
    assert [(r.grade, r.provenance.source, r.provenance.rater) for r in rows] == [
        (3, Source.HUMAN, "ann"),
        (2, Source.IMPORT, None),
    ]
    assert file.outranked == 1


def test_an_unknown_source_is_refused(tmp_path):
    path = _write(tmp_path, "query,docid,rating,source\nq,a,1,robot\n")
    _refused(path, "'robot' is no source", line=2)


# --- JSON ---


def test_jsonl_splits_at_newlines_only(tmp_path):
    text = (
        '{"query":"a\u2028b","doc_id":"p1","grade":3}\r\n\n{"query":"c","doc_id":7,"grade":"1.0"}\n'
    )
    file = read_list(_write(tmp_path, text, "a.jsonl"), scale=SCALE)
    assert file.format == "jsonl"
    assert _grades(file) == {("a\u2028b", "p1"): 3, ("c", "7"): 1}


@pytest.mark.parametrize(
    ("row", "word"),
    [
        ('{"query":"q","doc_id":1.5,"grade":1}', "document id is number"),
        ('{"query":"q","doc_id":true,"grade":1}', "document id is true/false"),
        ('{"query":"q","doc_id":"a","grade":true}', "'True' is no grade"),
        ('{"query":"q","doc_id":"a","grade":NaN}', "'nan' is no grade"),
        ('{"query":"q","doc_id":"a","grade":[1]}', "is no grade"),
        ('{"query":["q"],"doc_id":"a","grade":1}', "query is list"),
        ('{"query":"q","doc_id":"a"}', "no column for the grade"),
        ('{"query":"q","doc_id":"a","grade":1,"grade":2}', "'grade' stands twice"),
        ('{"query":"q","doc_id":"\\ud800","grade":1}', "surrogate"),
        ('{"query":"q","doc_id":"a","grade":1', "ends too early"),
        ('["q","a",1]', "a JSON list, not an object"),
        ('{"query":"q","doc_id":"a","grade":1,"rater":{"a":1}}', "provenance"),
    ],
)
def test_a_faulty_json_line_is_named(tmp_path, row, word):
    text = '{"query":"q","doc_id":"z","grade":1}\n' + row + "\n"
    _refused(_write(tmp_path, text, "a.jsonl"), word, line=2)


def test_a_json_list_of_rows_is_a_list(tmp_path):
    text = json.dumps([{"query": "q", "doc_id": "a", "rating": 3.0}])
    file = read_list(_write(tmp_path, text, "a.json"), scale=SCALE)
    assert (file.format, _grades(file)) == ("json", {("q", "a"): 3})


def test_ratings_of_an_api_import_and_of_a_json_export_are_read(tmp_path):
    api = {"case_id": 1, "ratings": [{"query_text": "red shoes", "doc_id": "p1", "rating": 3}]}
    export = {"queries": [{"query": "red shoes", "ratings": {"p1": 3.0}}]}
    for value in (api, export):
        file = read_list(_write(tmp_path, json.dumps(value), "a.json"), scale=SCALE)
        assert (file.format, _grades(file)) == ("quepid-ratings", {("red shoes", "p1"): 3})


def test_two_ratings_of_one_id_in_two_indices_are_a_conflict_and_several_indices_are_noted(
    tmp_path,
):
    ratings = [{"_index": "a", "_id": "p", "rating": 1}, {"_index": "b", "_id": "p", "rating": 1}]
    body = {"requests": [{"id": "q", "request": {}, "ratings": ratings}]}
    file = read_list(_write(tmp_path, json.dumps(body), "a.json"), scale=SCALE)
    assert any("several indices" in note for note in file.notes)
    ratings[1]["rating"] = 2
    _refused(_write(tmp_path, json.dumps(body), "a.json"), "two different grades")


def test_quepids_leading_blank_is_noted_and_taken_off_by_name(tmp_path):
    path = _write(tmp_path, "query,docid,rating\n =1+1,p1,3\n -foo,p2,0")
    file = read_list(path, scale=SCALE)
    assert [query.id for query in file.judgments.queries] == [" =1+1", " -foo"]
    assert any("quepid-csv" in note for note in file.notes)
    undone = read_list(path, scale=SCALE, format="quepid-csv")
    assert [query.id for query in undone.judgments.queries] == ["=1+1", "-foo"]


def test_what_is_not_known_says_which_formats_are(tmp_path):
    message = _refused(_write(tmp_path, '{"a": 1}', "a.json"), "not known as a judgment list")
    assert "quepid-case" in message
    with pytest.raises(UsageError, match="no list format 'xls'"):
        read_list(_write(tmp_path, "x"), scale=SCALE, format="xls")


def test_a_stated_format_goes_before_what_the_content_looks_like(tmp_path):
    path = _write(tmp_path, "{q 0 [d 3\n", "a.qrels")
    assert _grades(read_list(path, scale=SCALE, format="trec")) == {("{q", "[d"): 3}


def test_a_gzip_list_is_read(tmp_path):
    path = _write(tmp_path, gzip.compress(b"q 0 d 3\n"), "a.qrels.gz")
    assert _grades(read_list(path, scale=SCALE)) == {("q", "d"): 3}


# --- bad input of ten kinds: those that a list can have ---


@pytest.mark.parametrize(
    ("raw", "word", "line"),
    [
        (None, "no such file", None),
        (b"query,item,rating\nq,a,1\n", "no column for the document", 1),
        (b"query,docid,rating\nq,a,7\n", "grade 7", 2),
        (b"query,docid,rating\nq,a,1\nq,a,2\n", "two different grades", None),
        ("query,docid,rating\nq,a,1\n".encode("utf-16-le"), "UTF-16 without", 1),
        (b"", "empty", None),
        (b'{"queries": [{"query_text": "q", "ratings": [', "ends too early", 1),
        (b"query,docid,rating\nq,a,NaN\n", "'NaN' is no grade", 2),
    ],
)
def test_bad_input_is_one_line_with_file_place_and_mend(tmp_path, raw, word, line):
    path = tmp_path / "bad.csv" if raw is None else _write(tmp_path, raw)
    _refused(path, word, line=line)


def test_a_folder_is_refused(tmp_path):
    _refused(tmp_path, "is a folder")


# --- real files; the counts are those of the READMEs beside them ---


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("quepid_haystack/native/quepid_basic_ratings.csv", {}, ("csv", 1659, 135)),
        ("quepid_haystack/native/quepid_case.json", {}, ("quepid-case", 1679, 137)),
        (
            "quepid_haystack/native/quepid_snapshot_no-vector.json",
            {"format": "quepid-snapshot-ratings"},
            ("quepid-snapshot-ratings", 1659, 135),
        ),
        ("rank_eval_es/requests/demo_request_1.json", {}, ("rank-eval-request", 50, 1)),
        ("rank_eval_es/requests/demo_request_2.json", {}, ("rank-eval-request", 50, 1)),
        ("rank_eval_es/requests/demo_request_3.json", {}, ("rank-eval-request", 152, 3)),
        ("rank_eval_es/requests/demo_request_4.json", {}, ("rank-eval-request", 152, 3)),
        ("trec_eval_tests/qrels.test", {}, ("trec", 3681, 3)),
        ("trec_eval_tests/qrels-302.test", {}, ("trec", 1061, 1)),
        (
            "llmjudge/test_human_and_33_llm.tsv",
            {"grade_column": "willia-umbrela1"},
            ("csv", 4423, 25),
        ),
        ("llmjudge/dev_human.tsv", {}, ("csv", 7263, 25)),
        ("opensearch_esci/claude_sonnet_4_5_judgments.tsv", {}, ("csv", 1080, 27)),
    ],
)
def test_real_lists_have_the_counts_of_their_readme(shared, name, options, expected):
    file = read_list(shared / "data" / name, scale=SCALE, **options)
    assert (file.format, len(file.judgments), len(file.judgments.queries)) == expected


def test_means_of_several_ratings_are_no_grades_and_refused_with_their_line(shared):
    """README: score = mean of human ratings 0-3; a mean is never rounded to a grade."""
    path = shared / "data/rank_eval_es/discernatron_ratings_180327.tsv"
    with pytest.raises(InputError, match=r"discernatron_ratings_180327\.tsv:\d+: "):
        read_list(path, scale=SCALE, grade_column="score", doc_column="title")


def test_the_case_ratings_have_the_classes_of_the_readme(shared):
    path = shared / "data/quepid_haystack/native/quepid_basic_ratings.csv"
    grades = read_list(path, scale=SCALE).judgments.grade.tolist()
    assert {g: grades.count(g) for g in range(4)} == {0: 752, 1: 327, 2: 152, 3: 428}


def test_human_labels_of_llmjudge_have_the_classes_of_the_readme(shared):
    path = shared / "data/llmjudge/test_human_and_33_llm.tsv"
    grades = read_list(path, scale=SCALE, source=Source.HUMAN).judgments.grade.tolist()
    assert {g: grades.count(g) for g in range(4)} == {0: 2005, 1: 1233, 2: 808, 3: 377}


@pytest.mark.parametrize(("column", "grade"), [("RMITIR-llama70B", 5), ("h2oloo-zeroshot2", 10)])
def test_labels_off_the_scale_are_refused_with_their_line(shared, column, grade):
    path = shared / "data/llmjudge/test_human_and_33_llm.tsv"
    lines = path.read_text().splitlines()
    at = lines[0].split("\t").index(column)
    first = next(n for n, line in enumerate(lines, 1) if line.split("\t")[at] == str(grade))
    _refused(path, f"grade {grade} ", line=first, grade_column=column)


def test_qrels_with_spam_marks_are_read_once_mapped(shared):
    path = shared / "data/trec_eval_tests/qrels.rel_level"
    _refused(path, "negative grade -1", scale=SCALES["0-4"], line=_line_of(path, "-1"))
    file = read_list(path, scale=SCALES["0-4"], negative_as_zero=True)
    assert len(file.judgments) == 3681
    assert file.notes[0].startswith("304 negative")


def _line_of(path: Path, grade: str) -> int:
    lines = path.read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.split()[3] == grade)


def test_grades_beyond_the_named_scales_need_a_scale_of_their_own(shared):
    path = shared / "data/trec_eval_tests/ir_measures_compat.qrels"
    _refused(path, "not on the scale 0-4", scale=SCALES["0-4"], line=_first_above(path))
    assert len(read_list(path, scale=Scale("0-50", 50)).judgments) == 311


def _first_above(path: Path) -> int:
    lines = path.read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if int(line.split()[3]) > 4)


def test_a_snapshot_is_no_list_until_its_ratings_are_asked_for(shared):
    path = shared / "data/quepid_haystack/native/quepid_snapshot_vector-2.json"
    _refused(path, "is a run", line=None)
