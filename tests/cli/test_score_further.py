"""`relgate score`: the metrics that gate nothing, and unrated documents left out by name."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def words(tmp_path) -> list[str]:
    (tmp_path / "list.csv").write_text("query,doc_id,grade\nq,a,3\nq,b,1\n", "utf-8")
    (tmp_path / "run.jsonl").write_text(
        json.dumps({"query": "q", "docs": ["x", "a", "y", "b"]}) + "\n", "utf-8"
    )
    return ["score", "--judgments", "list.csv", "--judgments-source", "human", "--run", "run.jsonl"]


def test_every_metric_is_named_with_its_convention(call, words) -> None:
    (run,) = call(*words, "--json", "--quiet", "--persistence", "0.5").json["runs"]
    names = [mean["name"] for mean in run["means"].values()]
    assert names[-4:] == [
        "AP(floor=2)@10",
        "ERR(gain=exp2)@10",
        "RBP(p=0.5,gain=exp2)@10",
        "RBP-residual(p=0.5)@10",
    ]
    means = {key: mean["value"] for key, mean in run["means"].items()}
    assert means["rbp"] == pytest.approx(0.25 + 0.0625 / 7, abs=1e-6)
    assert means["rbp_residual"] == pytest.approx(0.5 + 0.125 + 0.0625)
    assert run["queries"][0]["ap"] == 0.5


def test_unrated_documents_are_left_out_by_name_alone(call, words) -> None:
    (run,) = call(*words, "--json", "--quiet", "--unrated", "condensed").json["runs"]
    assert run["means"]["ndcg"]["name"] == "nDCG(gain=exp2,unrated=condensed)@10"
    assert run["means"]["ndcg"]["value"] == 1.0
    assert run["queries"][0]["unrated"] == 2  # coverage is as ever
