"""The guide's failure story, as a test.

"The embedding upgrade alone was within budget on the golden set. Combined with rewriter-on,
NDCG@10 on the billing stratum fell 0.06 and empty_rate on filtered billing queries rose. The CI job
had been running with rewrite=false." The search below is made up to behave so.
"""

from __future__ import annotations

import json
import sys

import pytest

SEARCH = '''
"""A made-up support search: 60 queries, 12 of them billing, half of those with filters.

The new embedding costs a little everywhere. The synonym pack (a rewriter) is harmless alone. Both
together push billing's best document down, and a filtered billing query finds nothing.
"""

import os


def search(text, filters, stages):
    kind, number = text.split()
    good, near, other = (f"{kind}-{number}-{name}" for name in ("best", "near", "other"))
    new_model = os.environ["EMBEDDING"] == "new"
    pack = os.environ["SYNONYMS"] == "wide" and stages["rewriter"] == "on"
    if kind == "billing" and new_model and pack:
        if filters and number == "0":
            return []
        return [other, good, near]
    if new_model and int(number) % 12 == 0 and kind != "billing":
        return [near, good, other]
    return [good, near, other]
'''


def _query(kind, number):
    query = {
        "id": f"{kind}-{number}",
        "text": f"{kind} {number}",
        "stratum": kind,
        "judgments": [
            {"doc_id": f"{kind}-{number}-best", "grade": 3},
            {"doc_id": f"{kind}-{number}-near", "grade": 2},
        ],
    }
    return query | ({"filters": {"product": "billing"}} if kind == "billing" and number < 6 else {})


@pytest.fixture
def stack(call, tmp_path, monkeypatch):
    """Runs one stack, rewriter on and off or one of them, and gives what drift says of it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "support.py").write_text(SEARCH)
    monkeypatch.delitem(sys.modules, "support", raising=False)
    kinds = [("billing", 12), ("docs", 240), ("blog", 240)]
    queries = [_query(kind, number) for kind, n in kinds for number in range(n)]
    (tmp_path / "golden.json").write_text(json.dumps({"version": "v1", "queries": queries}))
    (tmp_path / "engine.toml").write_text(
        '[engine]\nkind = "python"\ncallable = "support:search"\n'
        "[stages.rewriter.on]\n[stages.rewriter.off]\n"
    )

    def run(out, *, embedding, synonyms, stages=()):
        monkeypatch.setenv("EMBEDDING", embedding)
        monkeypatch.setenv("SYNONYMS", synonyms)
        pinned = [part for stage in stages for part in ("--stage", stage)]
        command = ["run", "--golden", "golden.json", "--engine", "engine.toml", "--out", out]
        done = call(*command, *pinned)
        assert done.code == 0, done.err
        return f"{out}/relevance.json"

    return run


@pytest.fixture
def drift(call, stack):
    before = stack("before", embedding="old", synonyms="narrow")
    call("baseline", "set", before, "--rationale", "first", "--out", "baseline/relevance.json")

    def check(current):
        return call(
            "drift", "--current", current, "--baseline", "baseline/relevance.json", "--json"
        )

    return check


def test_each_change_alone_is_within_its_budgets(stack, drift):
    for name, embedding, synonyms in (("a", "new", "narrow"), ("b", "old", "wide")):
        done = drift(stack(name, embedding=embedding, synonyms=synonyms))
        assert (done.code, [f["level"] for f in done.json["findings"] if f["level"] != "soft"]) == (
            0,
            [],
        )


def test_the_alarm_fires_on_the_combined_stack_in_billing_and_its_filtered_queries(stack, drift):
    done = drift(stack("both", embedding="new", synonyms="wide"))
    assert done.code == 3
    hard = [f for f in done.json["findings"] if f["level"] == "hard"]
    assert {f["stages"] for f in hard} == {"rewriter=on"}
    fired = {(f["kind"], f["stratum"]) for f in hard}
    assert ("ndcg", "billing") in fired
    assert ("empty_rate", "filtered") in fired
    whole = {f["kind"] for f in hard if f["stratum"] is None}
    assert "ndcg" not in whole  # within budget on the mean: the stratum is what tells
    losers = done.json["losers"]
    assert {loser["id"].split("-")[0] for loser in losers} == {"billing"}
    assert len(losers) == 10


def test_a_run_with_the_rewriter_off_fails_against_a_baseline_with_it_on(stack, drift):
    done = drift(stack("off", embedding="new", synonyms="wide", stages=["rewriter=off"]))
    assert done.code == 3
    (finding,) = [f for f in done.json["findings"] if f["level"] == "hard"]
    assert finding["kind"] == "stages"
    assert finding["message"].startswith("the baseline was measured with rewriter=on; this run has")
