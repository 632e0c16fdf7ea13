"""Challenge and shadow queries are scored and reported, and never gate."""

from __future__ import annotations

import json

import pytest


def _query(number, name="core", **more):
    judgments = [{"doc_id": f"g{number}", "grade": 3}, {"doc_id": f"h{number}", "grade": 2}]
    return {
        "id": f"q{number}",
        "text": f"query {number}",
        "judgments": judgments,
        "set": name,
    } | more


def _review(call, tmp_path, queries, before, after, *more):
    golden = {"version": "v1", "queries": queries}
    (tmp_path / "g.json").write_text(json.dumps(golden))
    for name, docs in (("before", before), ("after", after)):
        rows = [json.dumps({"query_id": q, "docs": found}) for q, found in docs.items()]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows) + "\n")
    return call(
        "review", "--before", "before.jsonl", "--after", "after.jsonl", "--judgments", "g.json",
        "--json", *more,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def _at_home(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


GOOD = {f"q{i}": [f"g{i}", f"h{i}"] for i in range(10)}


@pytest.mark.parametrize("name", ["challenge", "shadow"])
def test_a_set_apart_changes_no_figure_that_gates(call, tmp_path, name):
    queries = [_query(i, name if i >= 8 else "core") for i in range(10)]
    worse = GOOD | {"q8": ["x"], "q9": ["h9", "g9"]}
    done = _review(call, tmp_path, queries, GOOD, worse, "--intent", "neutral")
    assert done.json["aggregate"]["ndcg"]["n"] == 8
    assert done.json["aggregate"]["ndcg"]["delta"] == 0
    assert [q["id"] for q in done.json["queries"]] == [f"q{i}" for i in range(8)]
    (apart,) = done.json["apart"]
    assert (apart["name"], apart["queries"], apart["relevance"]["n"]) == (name, 2, 2)
    assert apart["relevance"]["before"] == 1
    assert apart["relevance"]["after"] < 0.6
    assert any(w.startswith(f"{name} set: 2 queries reported apart") for w in done.json["warnings"])
    gating = _review(call, tmp_path, [_query(i) for i in range(10)], GOOD, worse)
    assert gating.json["aggregate"]["ndcg"]["delta"] < 0


def test_a_shadow_query_that_finds_nothing_any_more_is_a_finding_and_a_challenge_one_is_not(
    call, tmp_path
):
    for name, wanted in (("shadow", 1), ("challenge", 0)):
        queries = [_query(i, name if i == 9 else "core") for i in range(10)]
        done = _review(call, tmp_path, queries, GOOD, GOOD | {"q9": []}, "--intent", "neutral")
        found = [f for f in done.json["findings"] if f["rule"] == "R13"]
        assert len(found) == wanted
        if wanted:
            assert "1 shadow query found documents before and nothing after" in found[0]["message"]


def test_runs_without_a_core_query_are_refused(call, tmp_path):
    queries = [_query(i, "shadow") for i in range(10)]
    done = _review(call, tmp_path, queries, GOOD, GOOD)
    assert (done.code, "only core queries gate" in done.err) == (2, True)


def test_a_golden_set_brings_its_own_marks_strata_and_expectations(call, tmp_path):
    queries = [
        _query(0, head=True, stratum="billing", filters={"a": 1}),
        _query(1, stratum="docs"),
        _query(2, judgments=[], expect="empty"),
    ]
    runs = {"q0": ["g0"], "q1": ["g1"], "q2": []}
    done = _review(call, tmp_path, queries, runs, runs)
    rows = {q["id"]: q for q in done.json["queries"]}
    assert rows["q0"]["head"]
    assert rows["q0"]["strata"] == ["billing", "filtered"]
    assert rows["q1"]["strata"] == ["docs", "unfiltered"]
    assert rows["q2"]["expects_empty"]
    assert not [w for w in done.json["warnings"] if "columns that are not known" in w]


def test_a_frozen_set_with_changed_labels_is_refused_by_every_command(call, tmp_path):
    queries = [_query(i) for i in range(10)]
    assert _review(call, tmp_path, queries, GOOD, GOOD).code in {0, 1}
    assert call("golden", "freeze", "g.json").code == 0
    queries[0]["judgments"][0]["grade"] = 1
    done = _review(call, tmp_path, queries, GOOD, GOOD)
    assert (done.code, "frozen with other content" in done.err) == (4, True)


def test_a_golden_set_as_jsonl_is_a_list_and_a_query_table_too(call, tmp_path):
    rows = [{"version": "v1", "k": 10}, *(_query(i, head=i == 0) for i in range(10))]
    (tmp_path / "g.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    _review(call, tmp_path, [_query(0)], GOOD, GOOD)
    done = call(
        "review", "--before", "before.jsonl", "--after", "after.jsonl", "--judgments", "g.jsonl",
        "--json",
    )  # fmt: skip
    assert [q["id"] for q in done.json["queries"] if q["head"]] == ["q0"]
