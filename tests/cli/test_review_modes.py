"""`relgate review --mode`: a hybrid search, mode by mode."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def hybrid(tmp_path):
    """A blend that improves, two modes beside it, and a list."""
    (tmp_path / "judgments.csv").write_text(
        "query,doc_id,rating\n" + "".join(f"q{i},a,3\nq{i},b,0\n" for i in range(5))
    )
    runs = {
        "before": ["b", "a"], "after": ["a", "b"], "lb": ["a", "b"], "la": ["a", "b"],
        "vb": ["a", "b"], "va": ["a", "b"], "bad": ["b", "a"],
    }  # fmt: skip
    for name, docs in runs.items():
        value = {f"q{i}": docs for i in range(5)}
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    return [
        "review", "--before", "before.json", "--after", "after.json",
        "--judgments", "judgments.csv", "--type", "hybrid-weights",
        "--mode", "lexical=lb.json,la.json",
    ]  # fmt: skip


def test_two_modes_that_hold_let_a_hybrid_change_pass(call, hybrid):
    done = call(*hybrid, "--mode", "vector=vb.json,va.json", "--json")
    assert done.code == 0
    assert [m["name"] for m in done.json["modes"]] == ["lexical", "vector"]
    assert done.json["inputs"]["mode vector after"].startswith("va.json, sha256 ")


def test_a_mode_that_lost_is_named_on_the_terminal(call, hybrid):
    done = call(*hybrid, "--mode", "vector=vb.json,bad.json")
    assert done.code == 1
    assert "By mode" in done.out
    assert "mode vector: nDCG(gain=exp2)@10 dropped 1.0000 to 0.6309" in done.out


def test_one_mode_is_not_each_mode(call, hybrid):
    done = call(*hybrid)
    assert done.code == 4
    assert "relevance and recall of each mode, 2 or more" in done.out


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("vector", "write NAME=BEFORE,AFTER"),
        ("vector=vb.json", "write NAME=BEFORE,AFTER"),
        ("vector=vb.json,va.json,x", "write NAME=BEFORE,AFTER"),
        ("lexical=vb.json,va.json", "stands twice"),
        ("vector=vb.json,vb.json", "the same file"),
        ("vector=vb.json,gone.json", "gone.json"),
    ],
)
def test_a_mode_that_cannot_be_read_is_a_usage_error(call, hybrid, flag, said):
    done = call(*hybrid, "--mode", flag, "--quiet")
    assert done.code == 2
    assert said in done.complaint
