"""`relgate review --diff`: types found, contradicted, or not there; each said."""

from __future__ import annotations

import json

import pytest

SYNONYMS = """\
--- a/config/synonyms.txt
+++ b/config/synonyms.txt
@@ -1,1 +1,2 @@
 sneaker, trainer
+running, jogging
"""
README = "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-synonyms: 1\n+synonyms: 2\n"
HNSW = """\
--- a/search/index.json
+++ b/search/index.json
@@ -1,1 +1,1 @@
-"ef_construction": 100
+"ef_construction": 200
"""


@pytest.fixture
def review(call, tmp_path):
    def review(diff: str, *words: str):
        for name, value in (("before", 0.80), ("after", 0.83)):
            details = {f"q{i}": {"metric_score": value, "unrated_docs": []} for i in range(4)}
            body = {"metric_score": value, "metric": "ndcg@10", "details": details}
            (tmp_path / f"{name}.json").write_text(json.dumps(body), "utf-8")
        (tmp_path / "pr.diff").write_text(diff, "utf-8")
        return call(
            "review", "--before", "before.json", "--after", "after.json", "--diff", "pr.diff",
            *words,
        )  # fmt: skip

    return review


def r1(document) -> dict:
    checked = {o["rule"]: o for o in [*document["checked"], *document["not_checked"]]}
    return checked["R1"]


def test_the_type_is_found_where_nobody_said_it(review, tmp_path):
    done = review(SYNONYMS, "--json", "--out", "report")
    change = done.json["change"]
    assert (change["types"], change["types_from_diff"]) == (["synonyms"], True)
    assert change["detected"] == [
        {"type": "synonyms", "file": "config/synonyms.txt", "line": 2, "key": "file",
         "removed": False}
    ]  # fmt: skip
    assert r1(done.json)["state"] == "passed"
    assert done.json["inputs"]["diff"].startswith("pr.diff, sha256 ")
    shown = (tmp_path / "report/review.md").read_text("utf-8")
    assert "synonyms, found in the diff" in shown
    assert "**In the diff:** synonyms: file in config/synonyms.txt:2" in shown


def test_the_found_type_must_bring_its_evidence(review):
    done = review(HNSW, "--json")
    assert done.code == 4
    assert "hnsw-params must be judged on recall@k" in done.json["headline"]


def test_a_type_that_contradicts_the_declared_one_is_a_finding(review):
    done = review(HNSW, "--json", "--type", "synonyms", "--annotations")
    assert done.code == 1
    assert done.json["change"]["types_from_diff"] is False
    (found,) = [f for f in done.json["findings"] if f["rule"] == "R1"]
    assert found["severity"] == "NEEDS-WORK"
    assert (
        "said to be synonyms, but the diff changes hnsw-params: ef_construction in "
        in (found["message"])
    )
    assert found["figures"] == {
        "type": "hnsw-params", "file": "search/index.json", "line": 1, "key": "ef_construction",
    }  # fmt: skip
    assert "::warning title=relgate R1 scope,file=search/index.json,line=1::" in done.err
    assert any("shows none of that" in w for w in done.json["warnings"])
    again = review(HNSW, "--type", "synonyms", "--type", "hnsw-params")
    assert again.code == 4  # now its evidence is asked for


def test_a_declared_type_that_the_diff_shows_is_quiet(review):
    done = review(SYNONYMS, "--json", "--type", "synonyms")
    assert done.code == 0
    assert not any("diff" in w for w in done.json["warnings"])


def test_a_diff_that_shows_nothing_is_said(review):
    done = review(README, "--json")
    assert done.code == 0
    assert done.json["change"]["detected"] == []
    assert r1(done.json)["why"] == "no type of change was given, and the diff shows none"
    assert (
        "the diff changes 1 file and no search configuration that is known here"
        in (done.json["warnings"])
    )


def test_what_is_no_diff_stops_at_once(review):
    done = review("hello\n")
    assert done.code == 2
    assert "no unified diff in it; make it with: git diff" in done.err


def test_the_diff_is_not_written_over(review, tmp_path):
    (tmp_path / "report").mkdir()
    (tmp_path / "report/review.md").write_text(SYNONYMS, "utf-8")
    done = review(SYNONYMS, "--diff", "report/review.md", "--out", "report")
    assert done.code == 2
    assert "would be written over" in done.err
