"""Files in, verdict out: vector, filter and query-table evidence as a team would hand it over."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from relgate.eval.change_file import read_change
from relgate.eval.project import Project
from relgate.eval.queries import read_queries
from relgate.eval.review.types import RuleState, Verdict
from relgate.eval.review_request import ReviewRequest
from relgate.eval.runs.read import read_run
from relgate.eval.workflow import review_runs
from relgate.rubrics.errors import InputError

QUERIES = [f"q{i}" for i in range(40)]


@pytest.fixture
def decide(tmp_path):
    """Runs and a description, straight to a review."""

    def run(description: str, before, after, *, judgments=None, table: str | None = None):
        (tmp_path / "change.toml").write_text(description)
        if table is not None:
            (tmp_path / "queries.csv").write_text(table)
        request = ReviewRequest(
            project=Project(),
            moment=datetime(2026, 8, 1, tzinfo=UTC),
            change=read_change(tmp_path / "change.toml").change,
        )
        rows = None if table is None else read_queries(tmp_path / "queries.csv")
        return review_runs(judgments, before, after, request, table=rows).review

    return run


@pytest.fixture
def recall(tmp_path):
    """A recall@k report, in the shape of reference/rules.md section 6."""

    def build(name: str, score: float):
        details = {q: {"metric_score": score} for q in QUERIES}
        path = tmp_path / f"{name}.json"
        value = {"metric": "recall@10", "metric_score": score, "details": details}
        path.write_text(json.dumps(value))
        return read_run(path)

    return build


HNSW = 'type = "hnsw-params"\nintent = "neutral"\n'
FAST = "latency = { before = { p95 = 20.0, p99 = 40.0 }, after = { p95 = 21.0, p99 = 41.0 } }\n"
SLOW = "latency = { before = { p95 = 20.0, p99 = 40.0 }, after = { p95 = 25.0, p99 = 41.0 } }\n"
NO_P99 = "latency = { before = { p95 = 20.0 }, after = { p95 = 21.0 } }\n"


@pytest.mark.parametrize(
    ("latency", "after", "verdict"),
    [
        (FAST, 0.955, Verdict.APPROVE),
        (FAST, 0.93, Verdict.BLOCK),  # recall fell by 0.02
        (SLOW, 0.955, Verdict.BLOCK),
        (NO_P99, 0.955, Verdict.NEEDS_WORK),
        ("", 0.955, Verdict.REFUSE),
        (FAST.replace("21.0", "nan"), 0.955, Verdict.REFUSE),
    ],
)
def test_hnsw_params_are_judged_on_recall_and_latency(decide, recall, latency, after, verdict):
    done = decide(HNSW + latency, recall("before", 0.95), recall("after", after))
    assert done.verdict is verdict, done.headline


def test_a_latency_regression_is_no_approval_of_any_change(decide, make_list, make_run):
    """The hole that this rule closes: a synonym change that costs 25 % at p95."""
    judged = make_list({q: {"a": 3, "b": 0} for q in QUERIES})
    before, after = (make_run(dict.fromkeys(QUERIES, d)) for d in (("b", "a"), ("a", "b")))
    change = 'type = "synonyms"\nsystem_models = []\n'
    assert decide(change + FAST, before, after, judgments=judged).verdict is Verdict.APPROVE
    slow = decide(change + SLOW, before, after, judgments=judged)
    assert slow.verdict is Verdict.BLOCK
    said = "but p95 latency regressed 20.0 ms to 25.0 ms; at most 24.0 ms (x 1.2) is allowed"
    assert slow.headline.endswith(said)


EMBEDDING = f'type = "embedding-model"\nintent = "neutral"\n{FAST}'
TRUTH = 'ground_truth = {{ recomputed = {}, model = "v2", source = "{}" }}\n'


@pytest.mark.parametrize(
    ("truth", "after", "verdict"),
    [
        (TRUTH.format("true", "production sample"), 0.955, Verdict.APPROVE),
        (TRUTH.format("true", "production sample"), 0.949, Verdict.BLOCK),
        (TRUTH.format("false", "production sample"), 0.955, Verdict.REFUSE),
        (TRUTH.format("true", "GloVe-100"), 0.955, Verdict.REFUSE),
        ("", 0.955, Verdict.REFUSE),
    ],
)
def test_an_embedding_upgrade_is_judged_on_new_ground_truth(
    decide, recall, *, truth, after, verdict
):
    done = decide(EMBEDDING + truth, recall("before", 0.95), recall("after", after))
    assert done.verdict is verdict, done.headline


FILTER = """
type = "filter-logic"
intent = "neutral"
filter_strategy = { before = "pre", after = "pre", cases = "cases.jsonl" }
"""


@pytest.mark.parametrize(
    ("after", "verdict"),
    [(["a", "b"], Verdict.APPROVE), (["b"], Verdict.BLOCK), ([], Verdict.BLOCK)],
)
def test_a_filter_change_is_judged_on_its_cases(
    decide, tmp_path, make_list, make_run, *, after, verdict
):
    case = {"query": "q1", "filter": "brand=acme", "expect": ">=1 grade>=2"}
    (tmp_path / "cases.jsonl").write_text(json.dumps({**case, "before": ["a"], "after": after}))
    judged = make_list({q: {"a": 3, "b": 0} for q in QUERIES})
    run = make_run(dict.fromkeys(QUERIES, ("a", "b")))
    assert decide(FILTER, run, run, judgments=judged).verdict is verdict


def test_a_filter_change_without_cases_is_refused(decide, make_list, make_run):
    judged = make_list({q: {"a": 3, "b": 0} for q in QUERIES})
    run = make_run(dict.fromkeys(QUERIES, ("a", "b")))
    done = decide(FILTER.replace(', cases = "cases.jsonl"', ""), run, run, judgments=judged)
    assert done.verdict is Verdict.REFUSE
    assert "filter-correctness cases" in done.headline


def test_strata_locales_and_wanted_empties_come_from_the_query_table(
    decide, make_list, make_run, outcome
):
    rows = [f"{q},{'de' if i < 10 else 'en'},billing," for i, q in enumerate(QUERIES)]
    rows[0] = "q0,de,,empty"
    table = "\n".join(["id,locale,vertical,expect", *rows]) + "\n"
    judged = make_list({q: {"a": 3, "b": 0} for q in QUERIES})
    run = make_run(dict.fromkeys(QUERIES, ("a", "b")))
    done = decide('intent = "neutral"', run, run, judgments=judged, table=table)
    assert [(s.name, s.n) for s in done.evidence.strata] == [
        ("locale de", 10),
        ("billing", 39),
        ("locale en", 30),
    ]
    assert outcome(done, "R13").findings[0].queries == ("q0",)
    assert outcome(done, "R14").state is RuleState.PASSED


@pytest.mark.parametrize(
    ("table", "strata"),
    [
        ("id,filters\nq0,brand=acme\nq1,\nq2,{}\n", [("filtered", 1), ("unfiltered", 2)]),
        ("id,filters\nq0,brand=acme\nq1,a\nq2,b\n", []),  # all alike are no strata
        ("id,filters\nq0,\nq1,[]\nq2,\n", []),
        ("id,filter,vertical\nq0,x,shoes\nq1,,shoes\nq2,,bags\n",
         [("shoes", 2), ("filtered", 1), ("unfiltered", 2), ("bags", 1)]),
    ],
)  # fmt: skip
def test_queries_with_and_without_a_filter_are_strata(
    decide, make_list, make_run, *, table, strata
):
    queries = ["q0", "q1", "q2"]
    judged = make_list({q: {"a": 3, "b": 0} for q in queries})
    run = make_run(dict.fromkeys(queries, ("a", "b")))
    done = decide("# none", run, run, judgments=judged, table=table)
    assert [(s.name, s.n) for s in done.evidence.strata] == strata


@pytest.mark.parametrize(
    ("filters", "read"),
    [
        ({"brand": "acme"}, '{"brand": "acme"}'),
        (["in_stock"], '["in_stock"]'),
        ("in_stock", "in_stock"),
        ({}, None), ([], None), (None, None), ("", None), (False, None),
    ],
)  # fmt: skip
def test_filters_of_a_golden_set_are_read(tmp_path, filters, read):
    path = tmp_path / "golden.json"
    path.write_text(json.dumps({"queries": [{"id": "q", "text": "a", "filters": filters}]}))
    (row,) = read_queries(path).rows
    assert row.filters == read


def test_one_locale_alone_is_no_stratum(decide, make_list, make_run):
    judged = make_list({"q0": {"a": 3, "b": 0}})
    run = make_run({"q0": ("a", "b")})
    done = decide("# none", run, run, judgments=judged, table="id,locale\nq0,de\n")
    assert done.evidence.strata == ()


def test_an_unknown_expectation_names_its_line(tmp_path):
    path = tmp_path / "queries.csv"
    path.write_text("id,expect\na,non-empty\nb,\nc,some\n")
    with pytest.raises(InputError, match=r"queries.csv:4: expect 'some' is not known; use non-emp"):
        read_queries(path)
