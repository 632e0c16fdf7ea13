"""`relgate compare`: runs side by side and pair by pair."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

N = 40


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    """Three runs over 40 queries, their list, their strata; `good` is better on 36 of them."""
    orders = {"bad": "cba", "same": "cba", "good": "abc"}
    for name, order in orders.items():
        lines = [
            json.dumps({"query": f"q{i}", "docs": list("cba" if i >= 36 else order)})
            for i in range(N)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), "utf-8")
    rows = [
        f"q{i},{doc},{grade}" for i in range(N) for doc, grade in zip("abc", (3, 1, 0), strict=True)
    ]
    (tmp_path / "list.csv").write_text("query,doc_id,grade\n" + "\n".join(rows), "utf-8")
    strata = [f"q{i},{'long' if i < 32 else 'short'}" for i in range(N)]
    (tmp_path / "queries.csv").write_text("query,stratum\n" + "\n".join(strata), "utf-8")
    files = [word for name in orders for word in ("--run", f"{name}.jsonl")]
    return ["compare", "--judgments", "list.csv", "--judgments-source", "human", *files]


def test_every_pair_has_its_figures(call, runs) -> None:
    found = call(*runs, "--json", "--quiet").json
    assert [run["name"] for run in found["runs"]] == ["bad", "same", "good"]
    same, better, _ = found["pairs"]
    assert (same["delta"], same["p"], same["needed"]) == (0, 1, None)
    means = [run["means"]["ndcg"]["value"] for run in found["runs"]]
    assert better["delta"] == pytest.approx(means[2] - means[0], abs=2e-6)
    assert (better["improved"], better["worse"], better["n"]) == (36, 0, N)
    assert better["low"] < better["delta"] < better["high"]
    assert better["p_holm"] == pytest.approx(3 * better["p"], abs=1e-6)
    assert better["name"] == "nDCG(gain=exp2)@10"
    assert found["noise_floor"] is None


def test_people_read_tables(call, runs) -> None:
    done = call(*runs)
    assert done.code == 0
    for part in ("Means", "Pairs, nDCG(gain=exp2)@10", "36/0", "Needed"):
        assert part in done.out
    assert "Noise floor: not measured" in done.out


def test_strata_of_the_query_table_are_slices(call, runs) -> None:
    found = call(*runs, "--queries", "queries.csv", "--json", "--quiet").json
    by_name = {(s["slice"], s["before"], s["after"]): s for s in found["slices"]}
    assert len(by_name) == 6
    long = by_name["long", "bad", "good"]
    short = by_name["short", "bad", "good"]
    assert (long["n"], short["n"]) == (32, 8)
    assert long["p_holm"] is not None
    assert short["p_holm"] is None  # fewer than 30 queries: not tested
    assert "watch" in call(*runs, "--queries", "queries.csv").out


def test_a_replay_is_the_noise_floor(call, runs, tmp_path) -> None:
    lines = [
        json.dumps({"query": f"q{i}", "docs": list("cab" if i < 4 else "cba")}) for i in range(N)
    ]
    (tmp_path / "again.jsonl").write_text("\n".join(lines), "utf-8")
    done = call(*runs, "--replay", "again.jsonl")
    assert "Noise floor (the first run, run again): 0.0" in done.out
    assert "bad -> same" in done.out.split("within twice of it: ")[1]
    found = call(*runs, "--replay", "again.jsonl", "--json", "--quiet").json
    assert found["noise_floor"] > 0
    assert len(found["runs"]) == 3


def test_one_run_is_no_comparison(call, runs) -> None:
    assert "twice or more" in call(*runs[:7]).complaint


def test_another_metric_is_named(call, runs) -> None:
    found = call(*runs, "--metric", "mrr", "--json", "--quiet").json
    assert found["metric"] == "RR(floor=2)@10"
