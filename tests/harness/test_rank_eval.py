"""`_rank_eval`: our requests are those that were recorded, and recorded answers come through.

Recorded requests and answers of a real Elasticsearch: see the README of the data folder.
"""

from __future__ import annotations

import json

import pytest

from relgate.eval.golden.types import GoldenJudgment, GoldenQuery
from relgate.eval.harness.rank_eval import rank_eval_request
from relgate.eval.harness.types import Call


@pytest.fixture(scope="module")
def recorded(shared):
    folder = shared / "data" / "rank_eval_es"
    request = json.loads((folder / "requests" / "demo_request_2.json").read_text())
    answer = json.loads((folder / "responses" / "response_2_es7.json").read_text())
    return request, answer


def _golden_of(request):
    """The recorded request as a golden set: the same ids, ratings and order."""
    return {
        entry["id"]: GoldenQuery(
            entry["id"],
            f"text of {entry['id']}",
            tuple(GoldenJudgment(r["rating"], r["_id"]) for r in entry["ratings"]),
        )
        for entry in request["requests"]
    }


def test_our_request_is_the_recorded_one_but_for_the_metric(recorded):
    request, _ = recorded
    queries = _golden_of(request)
    calls = [Call(query_id, query.text, 10) for query_id, query in queries.items()]
    bodies = {entry["id"]: entry["request"] for entry in request["requests"]}
    index = request["requests"][0]["ratings"][0]["_index"]
    ours = rank_eval_request(calls, queries, bodies, index=index, k=10)

    def without_types(entry):
        ratings = [
            {name: value for name, value in rating.items() if name != "_type"}
            for rating in entry["ratings"]
        ]
        return {"id": entry["id"], "request": entry["request"], "ratings": ratings}

    assert ours["requests"] == [without_types(entry) for entry in request["requests"]]
    assert ours["metric"] == {"dcg": {"k": 10, "normalize": True}}


def _run(call, search, golden, engine, queries):
    golden(queries, k=5)
    engine(f"""
    [engine]
    kind = "elasticsearch"
    use = "rank_eval"
    url = "{search.url}"
    index = "enwiki_rank"
    body = {{query = {{match = {{title = "{{text}}"}}}}, size = "{{size}}"}}
    """)
    return call("run", "--golden", "golden.json", "--engine", "engine.toml", "--out", "o")


def _queries(request):
    return [
        {
            "id": entry["id"],
            "text": f"text of {entry['id']}",
            "judgments": [{"doc_id": r["_id"], "grade": r["rating"]} for r in entry["ratings"]],
        }
        for entry in request["requests"]
    ]


def test_a_recorded_answer_comes_through_with_its_hits_and_gives_the_engines_figure(  # noqa: PLR0917
    recorded, call, search, golden, engine, tmp_path
):
    request, answer = recorded
    search.answer = lambda _asked: answer
    done = _run(call, search, golden, engine, _queries(request))
    assert done.code == 0, done.out + done.err
    posts = [asked for asked in search.asked if asked["method"] == "POST"]
    assert [asked["path"] for asked in posts] == ["/enwiki_rank/_rank_eval"]
    rows = [json.loads(x) for x in (tmp_path / "o" / "run-all.jsonl").read_text().splitlines()]
    for row in rows:
        hits = answer["details"][row["query_id"]]["hits"]
        assert [doc["id"] for doc in row["docs"]] == [hit["hit"]["_id"] for hit in hits]
    # precision at 5 with threshold 2, as recorded: the engine's own figure for the query
    (query,) = json.loads((tmp_path / "o" / "relevance.json").read_text())["runs"][0]["per_query"]
    assert query["p_at_k"] == answer["details"]["JFK_query"]["metric_score"] == 0.8


def test_what_the_engine_could_not_answer_is_a_failed_query(call, search, golden, engine):
    error = {"error": {"type": "index_not_found_exception", "reason": "no such index"}}
    search.answer = lambda _asked: {
        "metric_score": 0.5,
        "details": {"a": {"metric_score": 0.5, "unrated_docs": [], "hits": []}},
        "failures": {"b": error},
    }
    queries = [{"id": name, "text": name} for name in ("a", "b", "c")]
    done = _run(call, search, golden, engine, queries)
    assert done.code == 6
    assert "failed: b (as is): index_not_found_exception: no such index" in done.out
    assert "failed: c (as is): not in the answer" in done.out
