"""A change description's evidence: foreign values, one line for each fault, nothing guessed."""

from __future__ import annotations

import json
from math import isnan

import pytest

from relgate.eval.change_file import read_change
from relgate.eval.review.supplied import GroundTruth, Latency, Observed, Percentiles
from relgate.rubrics.errors import InputError


@pytest.fixture
def described(tmp_path):
    """Writes a description, and reads it."""

    def read(text: str):
        path = tmp_path / "change.toml"
        path.write_text(text, "utf-8")
        return read_change(path)

    return read


@pytest.fixture
def refused(described):
    """Reads a description that must be refused; its one line without the folder."""

    def read(text: str) -> str:
        with pytest.raises(InputError) as caught:
            described(text)
        line = str(caught.value)
        assert "\n" not in line
        return line.rpartition("/")[2]

    return read


def test_the_rule_books_example_is_read(described, tmp_path):
    """The file of reference/rules.md, section 1, word for word."""
    (tmp_path / "filter_cases.jsonl").write_text(
        '{"query": "red shoe", "filter": "brand=acme", "expect": "non-empty"}\n'
    )
    read = described("""
        type = "synonyms"
        intent = "improve"
        description = "running -> +jogging, sprint, marathon"
        sha = "abc1234"
        head_queries = ["running_socks"]
        critical_queries = []
        system_models = ["gemini-2.5-flash"]
        filter_strategy = { before = "pre", after = "pre", cases = "filter_cases.jsonl" }
        latency = { before = { p50 = 8.0, p95 = 21.0, p99 = 40.0 }, after = { p50 = 8.1, p95 = 22.0, p99 = 41.0 } }
        ground_truth = { recomputed = true, model = "new-embedding-v2", source = "production sample" }
    """)  # noqa: E501 - as published
    assert read.change.latency == Latency(
        Percentiles(8.0, 21.0, 40.0), Percentiles(8.1, 22.0, 41.0)
    )
    assert read.change.ground_truth == GroundTruth(
        recomputed=True, model="new-embedding-v2", source="production sample"
    )
    assert (read.change.filters.before, len(read.change.filters.cases)) == ("pre", 1)
    assert read.warnings == (
        "ground_truth counts for a change of type embedding-model only",
        "filter_strategy counts for a change of type filter-logic only",
    )


def test_what_is_absent_stays_absent(described):
    change = described('type = "hnsw-params"').change
    assert (change.latency, change.ground_truth, change.filters) == (None, None, None)
    half = described("latency = { after = { p95 = 3 } }").change.latency
    assert half == Latency(None, Percentiles(p95_ms=3.0))


def test_nan_goes_through_to_the_rules(described):
    change = described(
        "latency = { before = { p95 = nan } }\nground_truth = { recall_after = nan }"
    ).change
    assert isnan(change.latency.before.p95_ms)
    assert isnan(change.ground_truth.recall_after)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('latency = "fast"', "change.toml: latency: "),
        ("latency = { befor = 1 }", "latency: unknown key 'befor'; did you mean 'before'?"),
        ("latency = { after = 3.0 }", "change.toml: latency.after is 3.0"),
        ("latency = { after = true }", "change.toml: latency.after is True"),
        ("latency = { after = [] }", "latency.after: samples: "),
        ('latency = { after = [1.0, "x"] }', "latency.after: samples.1: "),
        ("latency = { after = { p96 = 1.0 } }", "latency.after: unknown key 'p96'"),
        ('latency = { after = { p95 = "9" } }', "latency.after: p95: "),
        ("latency = { after = { p95 = true } }", "latency.after: p95: "),
        ("latency = { after = { p95 = -1.0 } }", "latency.after: p95: Value error, below 0"),
        ("latency = { after = { p95 = 9.0, p99 = 8.0 } }", "latency.after: p95 9 is above p99 8"),
        ("latency = { after = { p50 = 9.0, p99 = 8.0 } }", "latency.after: p50 9 is above p99 8"),
        ('latency = { after = "none.json" }', "none.json: no such file"),
        ("ground_truth = true", "change.toml: ground_truth: "),
        ('ground_truth = { recomputed = "yes" }', "ground_truth: recomputed: "),
        ("ground_truth = { source = 3 }", "ground_truth: source: "),
        ('ground_truth = { source = "" }', "ground_truth: source: "),
        ("ground_truth = { recall_after = 95.0 }", "ground_truth: recall_after: Value error, outs"),
        ("ground_truth = { recal_after = 0.9 }", "did you mean 'recall_after'?"),
        ("filter_strategy = { before = 1 }", "filter_strategy: before: "),
        ('filter_strategy = { intended = "no" }', "filter_strategy: intended: "),
        ('filter_strategy = { cases = "none.jsonl" }', "none.jsonl: no such file"),
    ],
)
def test_a_value_of_another_kind_is_one_line_with_file_and_key(refused, text, told):
    assert told in refused(text)


# --- latency in files ---


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "[1, 2.0, 3, 4, 10]"),
        ("a.json", '{"q1": [1, 2], "q2": 3, "q3": [4, 10]}'),
        ("a.csv", "latency_ms\n1\n2.0\n3\n4\n10\n"),
        ("a.csv", "query,Took_MS,note\nq1,1,\nq2,2,\nq3,3,x\nq4,4,\nq5,10,\n"),
        ("a.csv", "1\n2\n3\n4\n10\n"),
        ("a.csv", "query;ms\nq1;1\nq2;2\nq3;3\nq4;4\nq5;10\n"),
    ],
)
def test_samples_come_from_json_and_csv_beside_the_description(described, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    after = described(f'latency = {{ after = "{name}" }}').change.latency.after
    # type 7 by hand: n 5, median the 3rd, p95 at rank 4.8, p99 at rank 4.96
    assert (after.p50_ms, after.samples) == (3.0, 5)
    assert after.p95_ms == pytest.approx(8.8)
    assert after.p99_ms == pytest.approx(9.76)
    assert described("latency = { after = [1, 2, 3, 4, 10] }").change.latency.after == after


def test_percentiles_may_be_equal(described):
    after = described("latency = { after = { p50 = 9.0, p95 = 9.0, p99 = 9.0 } }").change.latency
    assert after.after == Percentiles(9.0, 9.0, 9.0)


def test_percentiles_come_from_a_file_too(described, tmp_path):
    (tmp_path / "a.json").write_text('{"p50": 8, "p95": 21.5, "p99": 40}')
    after = described('latency = { after = "a.json" }').change.latency.after
    assert after == Percentiles(8.0, 21.5, 40.0)


@pytest.mark.parametrize(("name", "text"), [("a.json", "[1, NaN]"), ("a.csv", "ms\n1\nnan\n")])
def test_a_sample_that_is_nan_spoils_the_side(described, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    after = described(f'latency = {{ after = "{name}" }}').change.latency.after
    assert isnan(after.p95_ms)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.json", '[1, "2"]', "a.json: samples.1: "),
        ("a.json", "[1, true]", "a.json: samples.1: "),
        ("a.json", "[1, -2]", "a.json: samples.1: Value error, below 0"),
        ("a.json", "[]", "a.json: samples: "),
        ("a.json", "{}", "a.json: samples: "),
        ("a.json", "[1, 1e999]", None),
        ("a.json", f"[{10**400}]", "a.json: "),
        ("a.json", '{"q1": {"x": 1}}', "a.json: samples.0: "),
        ("a.json", '{"p95": "x"}', "a.json: p95: "),
        ("a.json", "[1, 2", "a.json:1: "),
        ("a.jsonl", '{"ms": 1}\n{"ms": 2}\n', "a.jsonl: neither a list nor an object"),
        ("a.csv", "ms\n1\nfast\n", "a.csv:3: latency 'fast' is no number from 0 up"),
        ("a.csv", "ms\n1\n-1\n", "a.csv:3: latency '-1'"),
        ("a.csv", "ms\n", "a.csv: no sample in it"),
        ("a.csv", "query,time\nq,1\n", "a.csv:1: no single column of latencies"),
        ("a.csv", "ms,took\n1,2\n", "a.csv:1: no single column of latencies"),
        ("a.csv", "", "a.csv: the file is empty"),
    ],
)
def test_a_fault_of_a_latency_file_names_the_file(
    refused, described, tmp_path, *, name, text, told
):
    (tmp_path / name).write_text(text)
    description = f'latency = {{ after = "{name}" }}'
    if told is None:  # too large for a float: the rule refuses it
        assert isnan(described(description).change.latency.after.p99_ms)
    else:
        assert told in refused(description)


# --- filter cases ---


def case(**other) -> dict:
    return {"query": "red shoe", "filter": {"brand": "acme"}, "expect": "non-empty", **other}


def lay(folder, *cases) -> str:
    (folder / "cases.jsonl").write_text("".join(f"{json.dumps(c)}\n" for c in cases), "utf-8")
    return 'filter_strategy = { cases = "cases.jsonl" }'


def test_cases_are_read_with_ids_or_counts(described, tmp_path):
    text = lay(
        tmp_path,
        case(before=["a", "b", "a", 7], after=0),
        case(expect=">=1 grade>=2", grades={"a": 3}, before=None),
    )
    first, second = described(text).change.filters.cases
    assert first.before == Observed(3, ("a", "b", "7"))  # a repeated document counts once
    assert (first.after, first.line) == (Observed(0), 1)
    assert (second.before, second.after, second.grades) == (None, None, {"a": 3})


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("brand:acme", "brand:acme"),
        ({"brand": "acme", "in_stock": True}, "brand=acme, in_stock=true"),
        ({"price": {"lte": 20}}, 'price={"lte": 20}'),
        ([{"term": {"brand": "ä"}}], '[{"term": {"brand": "ä"}}]'),
    ],
)
def test_a_filter_is_text_or_json(described, tmp_path, given, shown):
    (read,) = described(lay(tmp_path, case(filter=given))).change.filters.cases
    assert read.filter == shown


def test_a_query_may_be_named_by_id(described, tmp_path):
    row = case(id=17)
    del row["query"]
    (read,) = described(lay(tmp_path, row)).change.filters.cases
    assert read.query == "17"


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"expect": "some"}, "expect: Input should be"),
        ({"expect": None}, "expect: "),
        ({"filter": ""}, "filter: Value error, no filter"),
        ({"filter": {}}, "filter: Value error, no filter"),
        ({"filter": 3}, "filter: Value error, no filter"),
        ({"query": None}, "no query in this case"),
        ({"query": ""}, "query: Value error"),
        ({"query": 1.5}, "query: Value error"),
        ({"after": -1}, "after: Value error, neither a list of ids nor how many"),
        ({"after": True}, "after: Value error"),
        ({"after": 1.0}, "after: Value error"),
        ({"after": "a"}, "after: Value error"),
        ({"after": [None]}, "after: Value error"),
        ({"grades": {"a": "3"}}, "grades.a: "),
        ({"grades": {"a": -1}}, "grades.a: "),
        ({"expected": "empty"}, "unknown key 'expected'; did you mean 'expect'?"),
    ],
)
def test_a_fault_of_a_case_names_file_line_and_key(refused, tmp_path, fault, told):
    line = refused(lay(tmp_path, case(), case(**fault)))
    assert line.startswith("cases.jsonl:2: ")
    assert told in line


def test_a_stage_says_where_it_ran(tmp_path):
    path = tmp_path / "change.toml"
    path.write_text('type = "reranker"\nstage = { before = "off", after = "on" }\n')
    read = read_change(path)
    assert (read.change.stage, read.warnings) == (("off", "on"), ())
    path.write_text('type = "synonyms"\nstage = { before = "off", after = "on" }\n')
    assert read_change(path).warnings == (
        "stage counts for a change of type reranker or rewriter only",
    )


@pytest.mark.parametrize("stage", ['{ before = "off" }', '{ before = "off", after = "yes" }', "1"])
def test_a_stage_that_cannot_be_read_is_refused(tmp_path, stage):
    path = tmp_path / "change.toml"
    path.write_text(f'type = "reranker"\nstage = {stage}\n')
    with pytest.raises(InputError, match=r"change\.toml.*stage"):
        read_change(path)
