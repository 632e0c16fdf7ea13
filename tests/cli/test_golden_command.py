"""relgate golden: the life of a set, from the log to its retirement."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from relgate.eval.drift.artifact import artifact_text
from relgate.eval.drift.means import means_of
from relgate.eval.drift.types import Artifact, Measured, MeasuredQuery

GOLDEN = {
    "version": "v1",
    "queries": [
        {"id": "a", "text": "lamp", "judgments": [{"doc_id": "d1", "grade": 3}]},
        {
            "id": "b",
            "text": "sofa",
            "judgments": [{"doc_id": "d2", "grade": 2}],
            "set": "challenge",
        },
    ],
}


@pytest.fixture(autouse=True)
def there(tmp_path):
    (tmp_path / "g.json").write_text(json.dumps(GOLDEN))
    return tmp_path / "g.json"


def test_a_set_is_checked_frozen_and_tagged(call, there):
    done = call("golden", "check", "g.json")
    assert done.code == 0
    assert "1 core (beside them 1 challenge: reported, never gating)" in done.out
    assert call("golden", "freeze", "g.json").code == 0
    assert call("golden", "tag", "g.json", "golden@v1").code == 0
    there.write_text(there.read_text().replace('"grade": 3', '"grade": 2'))
    done = call("golden", "check", "g.json")
    assert (done.code, "frozen with other content" in done.err) == (4, True)


def test_a_change_makes_a_new_version(call, tmp_path):
    call("golden", "freeze", "g.json")
    done = call("golden", "promote", "g.json", "b", "--version", "v1")
    assert (done.code, "needs a new version" in done.err) == (2, True)
    assert call("golden", "promote", "g.json", "b", "--version", "v2", "--out", "n.json").code == 0
    done = call("golden", "diff", "g.json", "n.json", "--json")
    assert [(c["query"], c["before"], c["after"]) for c in done.json["moved"]] == [
        ("b", "challenge", "core")
    ]
    done = call("golden", "retire", "n.json", "a", "--reason", "sold out", "--version", "v3")
    assert done.code == 0
    left = json.loads((tmp_path / "n.json").read_text())
    assert [q["id"] for q in left["queries"]] == ["b"]
    assert left["retired"] == [{"id": "a", "reason": "sold out", "version": "v3"}]


def test_faults_end_in_code_1_and_a_run_of_them_in_code_2(call, tmp_path):
    twice = {**GOLDEN, "queries": [GOLDEN["queries"][0]] * 2}
    (tmp_path / "g.json").write_text(json.dumps(twice))
    done = call("golden", "check", "g.json", "--json")
    assert (done.code, done.json["faults"]) == (1, ["ids", "same-query"])
    done = call("golden", "freeze", "g.json")
    assert (done.code, "relgate golden check" in done.err) == (2, True)


def test_raters_who_disagree_put_a_query_in_shadow_and_are_not_named(call, tmp_path):
    def rated(doc, *grades):
        ratings = [{"rater": f"secret-{i}", "grade": g} for i, g in enumerate(grades)]
        return {"doc_id": doc, "grade": grades[0], "ratings": ratings}

    query = {"id": "a", "text": "lamp", "judgments": [rated("x", 3, 0), rated("y", 2, 1)]}
    (tmp_path / "g.json").write_text(json.dumps({"version": "v1", "queries": [query]}))
    done = call("golden", "disagreements", "g.json")
    assert (done.code, "belong in shadow" in done.out) == (1, True)
    assert "secret" not in done.out + done.err
    done = call("golden", "disagreements", "g.json", "--version", "v2")
    assert json.loads((tmp_path / "g.json").read_text())["queries"][0]["set"] == "shadow"
    assert "secret" not in done.out + done.err


def test_a_set_is_drawn_from_a_log(call, tmp_path):
    (tmp_path / "l.csv").write_text("query,count,users\nlamp,9,5\nann@example.org,9,5\n")
    done = call("golden", "from-log", "l.csv", "--version", "v1", "--out", "g.json")
    assert done.code == 0
    assert "1 email address" in done.out
    assert "ann@example.org" not in done.out + done.err + (tmp_path / "g.json").read_text()


def test_an_unresolved_locator_is_a_finding(call, tmp_path):
    judgments = [{"locator": "https://a", "grade": 3}, {"locator": "https://b", "grade": 1}]
    query = {"id": "a", "text": "lamp", "judgments": judgments}
    (tmp_path / "g.json").write_text(json.dumps({"version": "v1", "queries": [query]}))
    (tmp_path / "ids.csv").write_text("url,id\nhttps://a,77\n")
    done = call("golden", "resolve", "g.json", "--ids", "ids.csv", "--out", "live.json")
    assert (done.code, "https://b" in done.out) == (1, True)
    live = json.loads((tmp_path / "live.json").read_text())["queries"][0]["judgments"]
    assert [j.get("doc_id") for j in live] == ["77", None]


def test_the_schema_is_printed(call):
    assert json.loads(call("golden", "schema").out)["required"] == ["version", "queries"]


def test_a_set_is_held_against_what_was_measured_on_it(call, tmp_path):
    queries = tuple(
        MeasuredQuery(f"q{i}", f"query {i}", float(i % 2), 0.5, 0.5, 10) for i in range(40)
    )
    artifact = Artifact("v1", (Measured({}, queries, means_of(queries)),))
    path = tmp_path / "relevance.json"
    path.write_text(artifact_text(artifact))
    done = call("golden", "check", "g.json", "--measured", "relevance.json", "--json")
    assert [f["kind"] for f in done.json["findings"]].count("interval") == 1
    assert done.code == 0
    done = call("golden", "check", "g.json", "--budgets", "b.json")
    assert (done.code, "--budgets needs --measured" in done.err) == (2, True)
    path.write_text(artifact_text(replace(artifact, golden_version="v2")))
    done = call("golden", "check", "g.json", "--measured", "relevance.json")
    assert (done.code, "was measured on version 'v2'" in done.err) == (4, True)
