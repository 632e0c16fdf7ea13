"""Published figures of real data. Files are parsed here: no reader can hide a fault."""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relgate.eval.lists.types import Query
from relgate.eval.metrics.align import Axis, align
from relgate.eval.metrics.compare import compare
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.overlap import overlap, require_overlap
from relgate.eval.metrics.score import score_run, score_runs
from relgate.eval.metrics.types import RunScores

# ---- trec_eval's own tests: test/out.test.aq and out.test.aqc of usnistgov/trec_eval ----


def trec_qrels(path: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in path.read_text("utf-8").splitlines():
        query, _, doc, grade = line.split()
        grades[query][doc] = int(grade)
    return grades


def trec_run(path: Path) -> dict[str, list[str]]:
    """In trec_eval's order: float32 score, then document id, both descending."""
    rows: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        query, _, doc, _, score = line.split()[:5]  # some lines end in junk
        rows[query].append((float(np.float32(score)), doc))
    return {query: [doc for _, doc in sorted(found)[::-1]] for query, found in rows.items()}


TEXT = {"runid", "relstring"}  # measures that are no number


def trec_expected(path: Path) -> dict[tuple[str, str], float]:
    rows = (line.split() for line in path.read_text("utf-8").splitlines())
    return {(name, query): float(v) for name, query, v in rows if name not in TEXT}


@pytest.fixture(scope="module")
def trec_scores(shared: Path, make_list: Any, make_run: Any) -> Any:
    folder = shared / "data" / "trec_eval_tests"

    def build(run_file: str, k: int) -> RunScores:
        judgments = make_list(trec_qrels(folder / "qrels.test"), scale="0-1")
        run = make_run(trec_run(folder / run_file))
        axis = align(judgments, [run])
        return score_run(judgments, run, axis, 0, Conventions.trec_eval(k))

    return build


MEASURES = [
    ("ndcg_cut_10", Metric.NDCG, 10),
    ("ndcg_cut_100", Metric.NDCG, 100),
    ("ndcg_cut_1000", Metric.NDCG, 1000),
    ("P_10", Metric.PRECISION, 10),
    ("P_100", Metric.PRECISION, 100),
    ("P_1000", Metric.PRECISION, 1000),
    ("recall_10", Metric.RECALL, 10),
    ("recall_100", Metric.RECALL, 100),
    ("success_10", Metric.HIT, 10),
    ("recip_rank", Metric.MRR, 1000),
]


@pytest.mark.parametrize(("measure", "metric", "k"), MEASURES)
@pytest.mark.parametrize(
    ("run_file", "expected_file"),
    [("results.test", "out.test.aq"), ("results.trunc", "out.test.aqc")],
)
def test_the_preset_gives_what_trec_eval_printed(
    shared: Path, trec_scores, *, run_file, expected_file, measure, metric, k
) -> None:
    expected = trec_expected(shared / "data" / "trec_eval_tests" / expected_file)
    scores = trec_scores(run_file, k)
    for query, value in zip(scores.queries, scores.values[metric].tolist(), strict=True):
        assert value == pytest.approx(expected[measure, query.id], abs=5.1e-5), query
    assert scores.mean(metric).value == pytest.approx(expected[measure, "all"], abs=5.1e-5)


def test_the_golden_files_hold_the_figures_of_their_readme(shared: Path) -> None:
    expected = trec_expected(shared / "data" / "trec_eval_tests" / "out.test.aq")
    shown = [expected["ndcg_cut_10", q] for q in ("301", "302", "303", "all")]
    assert shown == [0.1518, 0.7530, 0.0, 0.3016]
    assert (expected["P_10", "all"], expected["recip_rank", "all"]) == (0.3, 0.4064)


# ---- TREC DL 2021: 63 runs x 53 topics, nDCG@10 as their authors published it ----


def test_all_3339_published_ndcg_of_trec_dl21(shared: Path, make_list, make_run) -> None:
    folder = shared / "data"
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    with gzip.open(folder / "trec_dl_llm" / "pairs.tsv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["track"] == "dl21":
                grades[row["qid"]][row["docid"]] = int(row["human"])
    ranked: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    with gzip.open(folder / "trec_dl21_runs" / "runs_top50.tsv.gz", "rt", encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t")
        for row in sorted(rows, key=lambda row: int(row["rank"])):
            ranked[row["run"]][row["qid"]].append(row["docid"])
    judgments = make_list(grades)
    runs = [make_run(docs, name=name) for name, docs in ranked.items()]
    axis = align(judgments, runs)
    scored = score_runs(judgments, runs, axis, Conventions.trec_eval())
    found = {
        (s.name, query.id): value
        for s in scored
        for query, value in zip(s.queries, s.values[Metric.NDCG].tolist(), strict=True)
    }
    found |= {(s.name, "average"): s.mean(Metric.NDCG).value for s in scored}
    with (folder / "trec_dl21_runs" / "published_ndcg_cut10.csv").open(encoding="utf-8") as file:
        published = {(r["runid"], r["topic"]): float(r["ndcg10"]) for r in csv.DictReader(file)}
    assert len(published) == 3339 + 63
    assert {key: v for key, v in published.items() if not abs(found[key] - v) <= 5.1e-5} == {}


# ---- Quepid haystack: the figures of quepid_haystack/README.md, and of issue 2 ----


@pytest.fixture(scope="module")
def haystack(shared: Path, make_list: Any, make_run: Any) -> tuple[Any, list[Any], Axis]:
    folder = shared / "data" / "quepid_haystack" / "native"
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    with (folder / "quepid_basic_ratings.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            grades[row["query"]][row["docid"]] = int(row["rating"])
    runs = []
    for name in ("no-vector", "with-vector"):
        snapshot = json.loads((folder / f"quepid_snapshot_{name}.json").read_text("utf-8"))
        texts = {str(q["query_id"]): q["query_text"] for q in snapshot["queries"]}
        ranked = {
            Query(i, texts[i]): [doc["id"] for doc in docs if not doc["rated_only"]]
            for i, docs in snapshot["docs"].items()
        }
        runs.append(make_run(ranked, name=name))
    judgments = make_list(grades)
    return judgments, runs, align(judgments, runs)


def test_haystack_lists_keyed_by_text_meet_runs_keyed_by_number(haystack) -> None:
    judgments, runs, axis = haystack
    assert len(axis) == 135
    assert (axis.list_index >= 0).all()
    assert axis.queries[0] == Query("205277", "projector screen")
    found = overlap(judgments, runs, axis)
    assert (found.run_queries, found.judged_queries) == (135, 135)
    assert require_overlap(found) is None


@pytest.mark.parametrize(
    ("no_ideal", "n", "before_mean", "after_mean", "delta"),
    [("apart", 129, 0.5204, 0.5516, 0.0312), ("zero", 135, 0.4973, 0.5271, 0.0298)],
)
def test_haystack_ndcg(haystack, *, no_ideal, n, before_mean, after_mean, delta) -> None:
    judgments, runs, axis = haystack
    before, after = score_runs(judgments, runs, axis, Conventions(no_ideal=no_ideal))
    found = compare(before, after, Metric.NDCG)
    assert before.mean(Metric.NDCG).value == pytest.approx(before_mean, abs=5e-5)
    assert after.mean(Metric.NDCG).value == pytest.approx(after_mean, abs=5e-5)
    assert found.mean_delta == pytest.approx(delta, abs=5e-5)
    assert (found.n, int(before.judged.sum() - before.has_ideal.sum())) == (n, 6)
    assert (found.improved, found.worse, found.dropped) == (75, 54, 45)


def test_haystack_unrated(haystack) -> None:
    judgments, runs, axis = haystack
    before, after = score_runs(judgments, runs, axis, Conventions())
    assert (before.unrated.sum(), before.returned.sum()) == (370, 1274)
    assert (after.unrated.sum(), after.returned.sum()) == (480, 1350)
    assert after.mostly_unrated().sum() == 40
