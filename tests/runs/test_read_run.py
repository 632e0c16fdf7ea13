"""Runs: what is read, what is refused, and how it is said."""

from __future__ import annotations

import csv
import gzip
import json
import math
from collections import defaultdict
from pathlib import Path

import pytest
from refusals import refusal
from shared_cases import shared_case

from relgate.eval.lists.types import Query
from relgate.eval.runs.read import read_run
from relgate.rubrics.errors import UsageError


def _write(tmp_path: Path, value: object, name: str = "run.json") -> Path:
    path = tmp_path / name
    match value:
        case bytes():
            path.write_bytes(value)
        case str():
            path.write_bytes(value.encode())
        case _:
            path.write_text(json.dumps(value))
    return path


def _refused(path: Path, word: str, *, line: int | None = None) -> str:
    return refusal(read_run, path, word, line=line)


# --- TREC ---


def test_a_trec_run_splits_at_any_ascii_blank(tmp_path, shared):
    case = shared_case(shared, "I06")
    run = read_run(_write(tmp_path, case["input"]["run"], "a.run"))
    assert run.docs == (("d1", "d2", "d3"),)
    assert (run.format, run.name) == ("trec", "tag")
    spaced = read_run(_write(tmp_path, "q Q0 doc\u00a0a 1 9 tag\n", "a.run"))
    assert spaced.docs == (("doc\u00a0a",),)


def test_the_score_gives_the_order_and_the_rank_column_does_not(tmp_path):
    text = "q Q0 low 1 1.5 t\nq Q0 high 2 9.5 t\nq Q0 low 3 1.0 t\n"
    assert read_run(_write(tmp_path, text, "a.run")).docs == (("high", "low", "low"),)


def test_equal_scores_keep_the_files_order_and_are_noted(tmp_path):
    run = read_run(_write(tmp_path, "q Q0 a 1 1 t\nq Q0 b 2 1 t\n", "a.run"))
    twin = read_run(_write(tmp_path, "q Q0 b 1 1 t\nq Q0 a 2 1 t\n", "a.run"))
    assert (run.docs, twin.docs) == ((("a", "b"),), (("b", "a"),))
    assert "equal scores" in run.notes[0]


@pytest.mark.parametrize(
    ("row", "word"),
    [
        ("q Q0 d 1 NaN t", "'NaN' of document 'd' is not finite"),
        ("q Q0 d 1 inf t", "is not finite"),
        ("q Q0 d 1 x t", "'x' is no number"),
        ("q Q0 d 1 1_0 t", "is no number"),
        ("q Q0 d 1 2", "5 fields, not 6"),
        ("q Q0 red 42 1 12.7 t", "shifted"),
        ("q Q0 red shoe 1 12.7 t", "7 fields, not 6|shifted"),
        ("q Q0 d one 2 t", "shifted"),
    ],
)
def test_a_faulty_trec_line_is_named(tmp_path, row, word):
    path = _write(tmp_path, f"q Q0 z 1 9 t\n{row}\n", "a.run")
    _refused(path, word, line=2)


def test_a_gzip_run_is_read_and_a_given_name_goes_first(tmp_path):
    path = _write(tmp_path, gzip.compress(b"q Q0 d 1 1 t\n"), "a.run.gz")
    assert read_run(path, name="before").name == "before"


@pytest.mark.parametrize(
    ("name", "queries", "docs"),
    [
        ("results.test", 3, 1500),  # out.test: num_q 3, num_ret 1500
        ("results-302.test", 1, 500),
        ("results.trunc", 2, 584),
        ("ir_measures_compat.run", 2, 1927),
    ],
)
def test_real_trec_runs_have_their_counts(shared, name, queries, docs):
    run = read_run(shared / "data/trec_eval_tests" / name)
    assert (len(run.queries), sum(len(found or ()) for found in run.docs)) == (queries, docs)


def test_text_after_the_tag_is_noted_not_lost_in_silence(shared):
    run = read_run(shared / "data/trec_eval_tests/results.trunc")
    assert run.notes[0].startswith("5 line(s) go on after the tag")


# --- _rank_eval ---

ES = {
    "metric_score": 0.5,
    "details": {
        "red_shoes": {
            "metric_score": 0.5,
            "unrated_docs": [{"_index": "shop-v7", "_id": "p7"}],
            "hits": [
                {"hit": {"_index": "shop-v7", "_id": "p1", "_score": 4.2}, "rating": 3},
                {"hit": {"_index": "shop-v7", "_id": "p7", "_score": 3.9}, "rating": None},
            ],
            "metric_details": {
                "dcg": {"dcg": 7.0, "ideal_dcg": 14.0, "normalized_dcg": 0.5, "unrated_docs": 1}
            },
        }
    },
    "failures": {
        "oak_desk": {
            "error": {
                "root_cause": [{"type": "index_not_found_exception", "reason": "no such index"}],
                "type": "index_not_found_exception",
                "reason": "no such index [shop-v8]",
            }
        }
    },
}


def test_a_response_gives_hits_scores_and_failures(tmp_path):
    run = read_run(_write(tmp_path, ES))
    assert run.format == "rank-eval-response"
    assert run.queries == (Query("red_shoes"), Query("oak_desk"))
    assert run.docs == (("p1", "p7"), None)
    assert run.failures == {"oak_desk": "index_not_found_exception: no such index [shop-v8]"}
    assert run.given is not None
    assert (run.given.metric, run.given.normalized, run.given.k) == ("dcg", True, None)
    given = run.given.queries["red_shoes"]
    assert (given.metric_score, given.unrated, given.ratings) == (0.5, ("p7",), {"p1": 3.0})


@pytest.mark.parametrize(
    ("details", "metric", "normalized"),
    [
        ({"dcg": {"dcg": 7.0, "unrated_docs": 1}}, "dcg", False),
        ({"dcg": {"dcg": 0.0, "unrated_docs": 1}}, "dcg", None),
        ({"dcg": {"dcg": 7.0, "ideal_dcg": 9.0, "normalized_dcg": 0.8}}, "dcg", True),
        ({"precision": {"relevant_docs_retrieved": 4, "docs_retrieved": 5}}, "precision", None),
        ({"relevant_docs_retrieved": 4, "docs_retrieved": 5}, "precision", None),
        ({"recall": {"relevant_docs_retrieved": 4, "relevant_docs": 5}}, "recall", None),
        ({"mean_reciprocal_rank": {"first_relevant": -1}}, "mean_reciprocal_rank", None),
        ({"first_relevant": -1}, "mean_reciprocal_rank", None),
        ({"expected_reciprocal_rank": {"unrated_docs": 0}}, "expected_reciprocal_rank", None),
        ({}, None, None),
        (None, None, None),
    ],
)
def test_the_metric_is_known_from_its_details(tmp_path, details, metric, normalized):
    value = {"details": {"q": {"metric_score": 1, "metric_details": details}}}
    given = read_run(_write(tmp_path, value)).given
    assert given is not None
    assert (given.metric, given.normalized) == (metric, normalized)


def test_details_of_several_metrics_are_refused(tmp_path):
    value = {
        "details": {
            "a": {"metric_details": {"dcg": {"dcg": 1}}},
            "b": {"metric_details": {"precision": {"docs_retrieved": 1}}},
        }
    }
    _refused(_write(tmp_path, value), "several metrics: dcg, precision")


def test_bare_details_say_nothing_of_hits_or_failures(tmp_path):
    """The reviewer's published cases: bare ids in unrated_docs, an aggregate of other queries."""
    value = {
        "metric_score": 0.701,
        "details": {"q": {"metric_score": 0.7, "unrated_docs": ["a", 7]}, "r": {"metric_score": 1}},
    }
    run = read_run(_write(tmp_path, value))
    assert run.docs == (None, None)
    assert not run.failures
    assert run.given is not None
    assert run.given.metric_score == 0.701
    assert run.given.queries["q"].unrated == ("a", "7")
    assert run.given.queries["q"].ratings is None
    assert run.given.queries["r"].unrated is None


def test_an_empty_hit_list_is_not_an_unknown_one(tmp_path):
    value = {"details": {"none": {"metric_score": 0, "hits": []}, "untold": {"metric_score": 0}}}
    assert read_run(_write(tmp_path, value)).docs == ((), None)


@pytest.mark.parametrize("word", ["NaN", '"NaN"', "null"])
def test_a_score_that_is_not_a_number_stays_nan_for_the_rules(tmp_path, word):
    text = f'{{"metric_score": {word}, "details": {{"q": {{"metric_score": {word}}}}}}}'
    given = read_run(_write(tmp_path, text)).given
    assert given is not None
    assert math.isnan(given.metric_score or 0)
    assert math.isnan(given.queries["q"].metric_score or 0)


def test_a_score_that_is_absent_is_none(tmp_path):
    given = read_run(_write(tmp_path, {"details": {"q": {}}})).given
    assert given is not None
    assert given.metric_score is None
    assert given.queries["q"].metric_score is None


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ({"details": {"q": {"metric_score": "good"}}}, "metric_score of 'q' is 'good', no number"),
        ({"details": {"q": {"metric_score": True}}}, "no number"),
        ({"details": {"q": {"metric_score": [1]}}}, "no number"),
        ({"details": {"q": 0.5}}, "details of 'q' is number"),
        ({"metric_score": 1, "details": []}, "details is list"),
        ({"details": {"q": {"hits": {}}}}, "hits of 'q' is object"),
        ({"details": {"q": {"hits": [{"hit": {"_index": "i"}}]}}}, "hit 1 of 'q' is null"),
        ({"details": {"q": {"hits": [{"hit": {"_id": "a"}, "rating": "x"}]}}}, "rating of hit 1"),
        ({"details": {"q": {"unrated_docs": [None]}}}, "unrated_docs of 'q' is null"),
        ({"details": {"\u00e9": {}, "e\u0301": {}}}, "stands twice"),
        ({"details": {"": {}}}, "a query id is empty"),
        ({"details": {}, "failures": {}}, "neither details nor failures"),
        ({"metric": "recall@0", "details": {"q": {}}}, "k is '0'"),
        ({"metric": "recall@", "details": {"q": {}}}, "metric is 'recall@'"),
        ({"metric": {"dcg": {"k": "10"}}, "details": {"q": {}}}, "k is '10'"),
        ({"rank_eval": [], "details": 1}, "not known as a run"),
    ],
)
def test_a_faulty_part_of_a_response_is_named(tmp_path, value, word):
    _refused(_write(tmp_path, value), word)


def test_one_id_in_details_and_in_failures_is_failed_and_noted(tmp_path):
    value = {"details": {"q": {"metric_score": 1}}, "failures": {"q": "timed\nout"}}
    run = read_run(_write(tmp_path, value))
    assert run.queries == (Query("q"),)
    assert run.failures == {"q": "timed out"}
    assert "taken as failed" in run.notes[0]


def test_a_name_twice_in_details_hides_no_query(tmp_path):
    text = '{"details": {\n"q": {"metric_score": 0.1},\n"q": {"metric_score": 0.9}}}'
    _refused(_write(tmp_path, text), "'q' stands twice", line=3)


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({"metric": "recall@10"}, ("recall", 10, None)),
        ({"metric": "NDCG@5"}, ("dcg", 5, True)),
        ({"metric": "mrr"}, ("mean_reciprocal_rank", None, None)),
        ({"metric": "dcg", "normalize": False, "k": 10}, ("dcg", 10, False)),
        ({"metric": {"dcg": {"k": 20, "normalize": True}}}, ("dcg", 20, True)),
        ({"metric": {"precision": {"k": 3}}}, ("precision", 3, None)),
    ],
)
def test_a_stated_metric_is_read(tmp_path, stated, expected):
    given = read_run(_write(tmp_path, {**stated, "details": {"q": {"metric_score": 1}}})).given
    assert given is not None
    assert (given.metric, given.k, given.normalized) == expected


def test_a_recall_report_is_given_scores(tmp_path):
    value = {
        "metric": "recall@10",
        "metric_score": 0.9,
        "details": {"q": {"metric_score": 0.8}, "r": {"metric_score": 1.0}},
    }
    run = read_run(_write(tmp_path, value))
    assert run.format == "recall-report"
    assert run.given is not None
    assert (run.given.metric, run.given.k, run.given.metric_score) == ("recall", 10, 0.9)
    assert run.given.queries["q"].metric_score == 0.8


# Read off the files by eye: shape, metric and scores.
@pytest.mark.parametrize(
    ("name", "metric", "score", "queries", "unrated"),
    [
        ("response_1_old6x.json", "precision", 0.0, 1, 2),
        ("response_2_es7.json", "precision", 0.8, 1, 1),
        ("response_3_old6x.json", "precision", 0.3333333333333333, 3, 8),
        ("response_4_old6x.json", None, 0.3745459774842173, 3, 8),
    ],
)
def test_real_responses_of_old_and_new_shape(shared, name, metric, *, score, queries, unrated):
    run = read_run(shared / "data/rank_eval_es/responses" / name)
    assert run.given is not None
    assert (run.given.metric, run.given.metric_score) == (metric, score)
    assert len(run.queries) == queries
    assert all(docs is not None and len(docs) == 5 for docs in run.docs)
    assert sum(len(q.unrated or ()) for q in run.given.queries.values()) == unrated
    for query, docs in zip(run.queries, run.docs, strict=True):
        given = run.given.queries[query.id]
        assert set(docs or ()) == {*(given.unrated or ()), *(given.ratings or {})}


# --- Quepid ---


@pytest.mark.parametrize(
    ("name", "docs"), [("no-vector", 1274), ("with-vector", 1350), ("vector-2", 1350)]
)
def test_snapshots_leave_out_what_is_only_rated(shared, name, docs):
    folder = shared / "data/quepid_haystack"
    run = read_run(folder / f"native/quepid_snapshot_{name}.json")
    assert (run.format, run.name) == ("quepid-snapshot", name)
    assert len(run.queries) == 135
    assert sum(len(found or ()) for found in run.docs) == docs
    assert len(run.notes) == (name == "with-vector")
    assert run.given is None


def test_a_snapshot_has_the_order_of_the_published_table(shared):
    folder = shared / "data/quepid_haystack"
    ranked: dict[str, list[tuple[int, str]]] = defaultdict(list)
    with (folder / "snapshot_runs.tsv").open(newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["snapshot"] == "no-vector":
                ranked[row["query_id"]].append((int(row["rank"]), row["doc_id"]))
    run = read_run(folder / "native/quepid_snapshot_no-vector.json")
    texts = {}
    with (folder / "queries.tsv").open(newline="") as file:
        texts = {row["query_id"]: row["query"] for row in csv.DictReader(file, delimiter="\t")}
    for query, docs in zip(run.queries, run.docs, strict=True):
        assert docs == tuple(doc for _, doc in sorted(ranked[query.id]))
        assert query.text == texts[query.id]


def test_a_snapshot_query_without_an_entry_is_unknown_and_one_with_none_is_empty(tmp_path):
    value = {
        "docs": {"1": [], "9": [{"id": 5}]},
        "queries": [{"query_id": 1, "query_text": "a"}, {"query_id": 2, "query_text": "b"}],
    }
    run = read_run(_write(tmp_path, value))
    assert run.queries == (Query("1", "a"), Query("2", "b"), Query("9"))
    assert run.docs == ((), None, ("5",))
    assert len(run.notes) == 2


# --- plain JSON ---


def test_plain_json_maps_queries_to_ids(tmp_path):
    run = read_run(_write(tmp_path, {"rot": ["00123", 123], "blau": []}))
    assert (run.format, run.docs) == ("json", (("00123", "123"), ()))
    assert run.queries == (Query("rot"), Query("blau"))


def test_jsonl_gives_queries_docs_and_failures(tmp_path):
    lines = [
        {"query_id": 1, "query": "rot", "docs": ["a", {"_id": "b"}]},
        {"query": "blau", "docs": None},
        {"query_id": "3", "failure": "timeout"},
    ]
    text = "\n".join(map(json.dumps, lines))
    run = read_run(_write(tmp_path, text, "a.jsonl"))
    assert run.queries == (Query("1", "rot"), Query("blau", "blau"), Query("3"))
    assert run.docs == (("a", "b"), None, None)
    assert run.failures == {"3": "timeout"}


@pytest.mark.parametrize(
    ("row", "word"),
    [
        ('{"query": "q", "docs": "a"}', "docs of 'q' is text"),
        ('{"query": "q", "docs": [1.5]}', "document 1 of 'q' is number"),
        ('{"query": "q", "docs": [{}]}', "document 1 of 'q' is null"),
        ('{"query": "z", "docs": []}', "'z' stands twice"),
        ('{"query": "q"}', "neither docs nor failure"),
        ('{"docs": []}', "the query is null"),
        ('{"query": "q", "docs": [', "ends too early"),
    ],
)
def test_a_faulty_line_is_named(tmp_path, row, word):
    text = f'{{"query": "z", "docs": []}}\n{row}\n'
    _refused(_write(tmp_path, text, "a.jsonl"), word, line=2)


def test_what_is_not_known_says_which_formats_are(tmp_path):
    assert "quepid-snapshot" in _refused(_write(tmp_path, {"a": 1}), "not known as a run")
    _refused(_write(tmp_path, "hello\n", "a.txt"), "not known as a run")
    rows = '{"query": "a", "results": ["1"]}\n{"query": "b", "results": ["2"]}\n'
    said = _refused(_write(tmp_path, rows, "a.jsonl"), "not known as a run")
    assert "its rows have 'query', 'results', and neither docs nor failure; write" in said
    with pytest.raises(UsageError, match="no run format 'xls'"):
        read_run(_write(tmp_path, "x"), format="xls")


@pytest.mark.parametrize(
    ("raw", "word", "line"),
    [
        (None, "no such file", None),
        (b"", "empty", None),
        (b'{"metric_score": 0.5, "details": {', "ends too early", 1),
        ('{"details": {}}'.encode("utf-16-le"), "UTF-16 without", 1),
        (b"q Q0 d 1 NaN t\n", "not finite", 1),
    ],
)
def test_bad_input_is_one_line_with_file_place_and_mend(tmp_path, raw, word, line):
    path = tmp_path / "bad.json" if raw is None else _write(tmp_path, raw)
    _refused(path, word, line=line)
    _refused(tmp_path, "is a folder")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"requests": [{"id": "a", "ratings": []}]}, "give it as --judgments"),
        ({"error": {"type": "index_not_found_exception"}, "status": 404}, "answered with an error"),
    ],
)
def test_what_is_often_taken_for_a_run_is_named(tmp_path, value, said):
    _refused(_write(tmp_path, value), said)


EXPERIMENT = {
    "searchText": "red shoes",
    "documentIds": ["p1", "p7"],
    "metrics": [{"metric": "NDCG@8", "value": 0.71}],
    "searchConfigurationId": "c",
    "judgmentIds": ["j"],
}
OTHER = {**EXPERIMENT, "searchText": "oak desk", "documentIds": []}


@pytest.mark.parametrize(
    "value",
    [[EXPERIMENT, OTHER], {"hits": {"hits": [{"_source": EXPERIMENT}, {"_source": OTHER}]}}],
)
def test_results_of_an_opensearch_experiment_are_a_run(tmp_path, value):
    run = read_run(_write(tmp_path, value))
    assert run.format == "opensearch-experiment"
    assert [query.shown for query in run.queries] == ["red shoes", "oak desk"]
    assert run.docs == (("p1", "p7"), ())
    assert read_run(_write(tmp_path, EXPERIMENT)).docs == (("p1", "p7"),)


def test_two_search_configurations_are_two_runs(tmp_path):
    both = [EXPERIMENT, {**EXPERIMENT, "searchConfigurationId": "d"}]
    assert "'c', 'd'" in _refused(_write(tmp_path, both), "2 search configurations")


def test_a_query_with_two_results_is_refused(tmp_path):
    _refused(_write(tmp_path, [EXPERIMENT, EXPERIMENT]), "two results")
