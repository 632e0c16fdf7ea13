"""`relgate neighbours` and `review --exact`: from vectors to a verdict on recall."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

K = 5


@pytest.fixture
def index(tmp_path, call):
    """Vectors, their exact neighbours, and what a good and a bad index return."""
    rng = np.random.default_rng(11)
    queries, documents = rng.normal(size=(40, 8)), rng.normal(size=(300, 8))
    np.save("queries.npy", queries)
    np.save("documents.npy", documents)
    done = call(
        "neighbours", "--queries", "queries.npy", "--documents", "documents.npy",
        "--distance", "cosine", "--k", str(K), "--out", "exact.jsonl", "--json",
    )  # fmt: skip
    assert done.code == 0
    assert (done.json["queries"], done.json["documents"], done.json["with_ties"]) == (40, 300, 0)
    unit = documents / np.linalg.norm(documents, axis=1)[:, None]
    best = {str(i): [str(d) for d in np.argsort(-(unit @ q))[:K]] for i, q in enumerate(queries)}
    Path("good.json").write_text(json.dumps(best))
    also = {q: docs[::-1] for q, docs in best.items()}
    Path("also_good.json").write_text(json.dumps(also))
    Path("bad.json").write_text(json.dumps({q: [*docs[:-1], "none"] for q, docs in best.items()}))
    Path("latency.toml").write_text(
        'type = "hnsw-params"\nintent = "neutral"\n'
        "latency = { before = { p95 = 9.0, p99 = 20.0 }, after = { p95 = 9.0, p99 = 20.0 } }\n"
    )
    return tmp_path


def review(call, before, after, *more, change="latency.toml", exact="exact.jsonl"):
    return call(
        "review", "--before", before, "--after", after, "--exact", exact, "--k", str(K),
        "--change", change, *more, "--json",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("after", "verdict", "recall"),
    [("also_good.json", "APPROVE", 1.0), ("bad.json", "BLOCK", 0.8)],
)
@pytest.mark.usefixtures("index")
def test_recall_is_computed_here_and_decides(call, after, verdict, recall):
    done = review(call, "good.json", after)
    assert done.json["verdict"] == verdict
    found = done.json["aggregate"]["given"]
    assert (found["name"], found["before"], found["after"]) == ("recall@5 as given", 1.0, recall)
    assert done.json["inputs"]["exact neighbours after"].startswith("exact.jsonl, sha256 ")


@pytest.mark.usefixtures("index")
def test_a_sample_of_the_queries_is_enough_and_said(call):
    made = call(
        "neighbours", "--queries", "queries.npy", "--documents", "documents.npy",
        "--distance", "cosine", "--k", str(K), "--sample", "32", "--seed", "5",
        "--out", "sample.jsonl", "--quiet",
    )  # fmt: skip
    assert "32 of 40 queries" in made.out
    done = review(call, "good.json", "bad.json", exact="sample.jsonl")
    assert done.json["aggregate"]["given"]["n"] == 32
    assert any("8 of its 40 queries have no exact" in w for w in done.json["warnings"])


@pytest.mark.usefixtures("index")
def test_an_embedding_upgrade_needs_exact_neighbours_of_its_own(call):
    Path("embedding.toml").write_text(
        Path("latency.toml").read_text().replace("hnsw-params", "embedding-model")
        + 'ground_truth = { recomputed = true, source = "production sample" }\n'
    )
    shared = review(call, "good.json", "also_good.json", change="embedding.toml")
    assert shared.json["verdict"] == "REFUSE"
    assert "the same exact neighbours" in shared.json["headline"]
    new = Path("exact.jsonl").read_text().replace('"k": 5', '"k": 5, "model": "v2"')
    Path("exact_new.jsonl").write_text(new)
    own = review(
        call, "good.json", "also_good.json", change="embedding.toml",
        exact="exact.jsonl,exact_new.jsonl",
    )  # fmt: skip
    assert own.json["verdict"] == "APPROVE"


@pytest.mark.usefixtures("index")
def test_the_description_may_name_the_exact_neighbours(call):
    text = Path("latency.toml").read_text()
    for exact in ('exact = "exact.jsonl"\n',
                  'exact = { before = "exact.jsonl", after = "exact.jsonl" }\n'):  # fmt: skip
        Path("with_exact.toml").write_text(exact + text)
        done = call(
            "review", "--before", "good.json", "--after", "bad.json", "--k", str(K),
            "--change", "with_exact.toml", "--json",
        )  # fmt: skip
        assert done.json["aggregate"]["given"]["after"] == 0.8


@pytest.mark.usefixtures("index")
def test_a_run_of_any_format_may_be_the_exact_neighbours(call):
    done = review(call, "also_good.json", "bad.json", exact="good.json")
    assert done.json["aggregate"]["given"]["after"] == 0.8


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--k", "6"], "neighbours to depth 5, and recall is asked for at 6"),
        (["--exact", "good.json", "--k", "6"], "at most 5 neighbours a query"),
        (["--exact", "a,b,c"], "write FILE, or BEFORE,AFTER"),
        (["--exact", "gone.jsonl"], "gone.jsonl"),
        (["--judge", "baseline"], "nothing for a judge"),
    ],
)
@pytest.mark.usefixtures("index")
def test_what_cannot_be_measured_is_a_usage_error(call, flags, said):
    done = call(
        "review", "--before", "good.json", "--after", "bad.json", "--exact", "exact.jsonl",
        "--k", "5", *flags, "--quiet",
    )  # fmt: skip
    assert done.code == 2
    assert said in done.complaint


@pytest.mark.usefixtures("index")
def test_the_output_spares_its_inputs(call):
    done = call(
        "neighbours", "--queries", "queries.npy", "--documents", "documents.npy",
        "--distance", "dot", "--out", "queries.npy", "--quiet",
    )  # fmt: skip
    assert done.code == 2
    assert "written over" in done.complaint


@pytest.mark.parametrize("change", ["[1.0]", '"abc"'])
@pytest.mark.usefixtures("index")
def test_scores_that_do_not_fit_have_their_line(call, change):
    lines = Path("exact.jsonl").read_text().splitlines()
    row = json.loads(lines[1])
    row["scores"] = json.loads(change)
    Path("odd.jsonl").write_text("\n".join([lines[0], json.dumps(row), *lines[2:]]) + "\n")
    done = call(
        "review", "--before", "good.json", "--after", "bad.json", "--exact", "odd.jsonl",
        "--k", "5", "--quiet",
    )  # fmt: skip
    assert done.code == 2
    assert "odd.jsonl:2: scores are not one falling number" in done.complaint
