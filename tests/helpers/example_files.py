"""The bundled example as the files that the documentation speaks of. All of it is example data."""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

from relgate.eval.demo.example import Example, write_example

INDEX = "shop"
K = 10


def rank_eval_files(folder: Path) -> None:
    """`request.json`, `before.json`, `after.json`: what a team with Elasticsearch holds.

    The responses have the shape of Elasticsearch 7 and later. Scores are by Elasticsearch's own
    convention for `dcg` with `normalize`: the ideal is cut at the number of hits, and an unrated
    document counts as 0.
    """
    example = write_example(folder)
    ratings, texts = _ratings(example), _texts(example)
    metric = {"dcg": {"k": K, "normalize": True}}
    requests = [
        {
            "id": query,
            "request": {"query": {"match": {"title": texts[query]}}},
            "ratings": [{"_index": INDEX, "_id": d, "rating": g} for d, g in rated.items()],
        }
        for query, rated in ratings.items()
    ]
    _write(folder / "request.json", {"requests": requests, "metric": metric})
    for name, run in (("before", example.before), ("after", example.after)):
        _write(folder / f"{name}.json", _response(run, ratings, _titles(example)))


def _response(
    run: Path, ratings: dict[str, dict[str, int]], titles: dict[str, str]
) -> dict[str, Any]:
    details = {}
    for row in _lines(run):
        rated = ratings.get(row["query_id"], {})
        docs = row["docs"][:K]
        details[row["query_id"]] = {
            "metric_score": _ndcg(docs, rated),
            "unrated_docs": [{"_index": INDEX, "_id": d} for d in docs if d not in rated],
            "hits": [
                {
                    "hit": {
                        "_index": INDEX, "_id": doc, "_score": float(K - rank),
                        "_source": {"title": titles[doc]},
                    },
                    "rating": rated.get(doc),
                }
                for rank, doc in enumerate(docs)
            ],
        }  # fmt: skip
    scores = [one["metric_score"] for one in details.values()]
    return {"metric_score": sum(scores) / len(scores), "details": details, "failures": {}}


def _ndcg(docs: list[str], rated: dict[str, int]) -> float:
    def dcg(grades: list[int]) -> float:
        return sum((2**g - 1) / math.log2(i + 2) for i, g in enumerate(grades))

    ideal = dcg(sorted(rated.values(), reverse=True)[: len(docs)])
    return dcg([rated.get(d, 0) for d in docs]) / ideal if ideal else 0.0


def _ratings(example: Example) -> dict[str, dict[str, int]]:
    out: defaultdict[str, dict[str, int]] = defaultdict(dict)
    with example.judgments.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            out[row["query_id"]][row["doc_id"]] = int(row["grade"])
    return out


def _texts(example: Example) -> dict[str, str]:
    with example.queries.open(encoding="utf-8", newline="") as file:
        return {row["query_id"]: row["query"] for row in csv.DictReader(file)}


def _titles(example: Example) -> dict[str, str]:
    return {row["id"]: row["title"] for row in _lines(example.catalogue)}


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), "utf-8")
