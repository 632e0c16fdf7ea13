"""From files and from memory to figures, against pytrec_eval and SciPy; bounds of a review.

CPU seconds, medians of interleaved rounds; "x" is the peer's time over ours. Sizes are S (200
queries x 10 documents), M (2,000 x 100) and, in `large`, L. Every figure of a round is of the same
data.
"""

from __future__ import annotations

import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytrec_eval
from large import large
from pyarrow import parquet
from scipy.stats import permutation_test
from told import ROUNDS, cpu, tell, versus

from relgate.eval.bounds.pool import make_pool
from relgate.eval.bounds.query import delta_bounds
from relgate.eval.lists.given import list_of_grades
from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import SCALES, JudgmentList
from relgate.eval.lists.write import write_list
from relgate.eval.metrics.align import align
from relgate.eval.metrics.compare import sign_flip_p
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.metrics.score import score_runs
from relgate.eval.runs.given import run_of_ranked, run_of_scores
from relgate.eval.runs.read import read_run
from relgate.eval.runs.types import Run
from relgate.eval.runs.write import write_run

MEASURES = {"ndcg_cut_10", "recip_rank", "P_10", "recall_100"}
Grades = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


def _data(queries: int, depth: int) -> tuple[Grades, Scores]:
    rng = random.Random(7)
    grades: Grades = {}
    scores: Scores = {}
    for q in range(queries):
        own = [f"doc{rng.randrange(10**7)}" for _ in range(35)]
        grades[f"q{q}"] = {doc: rng.randrange(4) for doc in own}
        others = [f"doc{rng.randrange(10**7)}" for _ in range(depth)]
        ranked = rng.sample([*dict.fromkeys([*own[: depth // 2], *others])], depth)
        scores[f"q{q}"] = {doc: float(depth - rank) for rank, doc in enumerate(ranked)}
    return grades, scores


def _write(folder: Path, grades: Grades, scores: Scores) -> tuple[Path, Path]:
    qrels, run = folder / "qrels.txt", folder / "run.trec"
    qrels.write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, own in grades.items() for d, g in own.items()), "utf-8"
    )
    run.write_text(
        "".join(
            f"{q} Q0 {doc} {rank} {score} r\n"
            for q, own in scores.items()
            for rank, (doc, score) in enumerate(own.items(), start=1)
        ),
        "utf-8",
    )
    return qrels, run


def _score_files(qrels: Path, run: Path) -> object:
    judgments = read_list(qrels, scale=SCALES["0-3"]).judgments
    read = read_run(run, name="run")
    return score_runs(judgments, [read], align(judgments, [read]), Conventions.trec_eval(100))


def _as_parquet(qrels: Path, run: Path) -> tuple[Path, Path]:
    lists, runs = qrels.with_suffix(".parquet"), run.with_suffix(".parquet")
    write_list(lists, read_list(qrels, scale=SCALES["0-3"]).judgments, format="parquet")
    write_run(runs, read_run(run, name="run"), format="parquet")
    return lists, runs


def _peer_parquet(lists: Path, runs: Path) -> object:
    grades: Grades = {}
    scores: Scores = {}
    table = parquet.read_table(lists)
    query = "query_id" if "query_id" in table.column_names else "query"
    for q, doc, grade in zip(
        *(table.column(name).to_pylist() for name in (query, "doc_id", "grade")), strict=True
    ):
        grades.setdefault(q, {})[doc] = grade
    table = parquet.read_table(runs)
    query = "query_id" if "query_id" in table.column_names else "query"
    for q, doc, rank in zip(
        *(table.column(name).to_pylist() for name in (query, "doc_id", "rank")), strict=True
    ):
        scores.setdefault(q, {})[doc] = -float(rank)
    return pytrec_eval.RelevanceEvaluator(grades, MEASURES).evaluate(scores)


def _peer_files(qrels: Path, run: Path) -> object:
    with qrels.open() as a, run.open() as b:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(a), MEASURES)
        return evaluator.evaluate(pytrec_eval.parse_run(b))


_PROCESS_PEER = (
    "import sys, pytrec_eval as p\n"
    "e = p.RelevanceEvaluator(p.parse_qrel(open(sys.argv[1])), {'ndcg_cut_10'})\n"
    "r = e.evaluate(p.parse_run(open(sys.argv[2])))\n"
    "print(sum(x['ndcg_cut_10'] for x in r.values()) / len(r))\n"
)


def _process(qrels: Path, run: Path) -> None:
    """CPU seconds of whole processes, on compiled byte code: the first round compiles it."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def process(*command: str | Path) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], check=True, capture_output=True, env=env)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    words = ["-m", "relgate.eval", "score", "--judgments", qrels, "--run", run, "--quiet"]
    commands = {"ours": words, "peer": ["-c", _PROCESS_PEER, qrels, run]}
    commands |= {"numpy": ["-c", "import numpy"]}
    rounds = [{name: process(*c) for name, c in commands.items()} for _ in range(ROUNDS + 1)][1:]
    ours, peer, numpy = (statistics.median(r[name] for r in rounds) for name in commands)
    tell("G5 whole process, 200 queries from TREC files", ours, peer, "pytrec_eval", 1)
    print(f"   of it numpy's import, the floor: {numpy:.4f} s")


def _files() -> None:
    with tempfile.TemporaryDirectory() as name:
        for size, queries, depth, goal in (("S", 200, 10, None), ("M", 2_000, 100, 3)):
            folder = Path(name) / size
            folder.mkdir()
            qrels, run = _write(folder, *_data(queries, depth))
            versus(
                f"G2 TREC files to scores, {size} ({queries:,} x {depth})",
                lambda q=qrels, r=run: _score_files(q, r),
                lambda q=qrels, r=run: _peer_files(q, r),
                "pytrec_eval, parse + evaluate",
                goal,
            )
            if size == "S":
                _process(qrels, run)
                continue
            lists, runs = _as_parquet(qrels, run)
            versus(
                f"Parquet files to scores, {size}",
                lambda q=lists, r=runs: _score_files(q, r),
                lambda q=lists, r=runs: _peer_parquet(q, r),
                "pyarrow columns + pytrec_eval",
            )


def _built(grades: Grades, scores: Scores) -> tuple[JudgmentList, Run]:
    return list_of_grades(grades, scale=SCALES["0-3"]), run_of_scores(scores, name="r")


def _score(judgments: JudgmentList, run: Run) -> object:
    axis = align(judgments, [run])
    return score_runs(judgments, [run], axis, Conventions.trec_eval(100))


def _score_dicts(grades: Grades, scores: Scores) -> object:
    return _score(*_built(grades, scores))


def _memory() -> None:
    for size, queries, depth in (("S", 200, 10), ("M", 2_000, 100), ("L", 50_000, 100)):
        grades, scores = _data(queries, depth)
        versus(
            f"G1 dicts to scores, {size}",
            lambda g=grades, s=scores: _score_dicts(g, s),
            lambda g=grades, s=scores: pytrec_eval.RelevanceEvaluator(g, MEASURES).evaluate(s),
            "pytrec_eval, build + evaluate",
            2,
        )
        if size == "M":
            _prepared(grades, scores)
        if size == "L":
            ranked = {query: list(own) for query, own in scores.items()}
            versus(
                f"G1 ranked lists to scores, {size}",
                lambda g=grades, r=ranked: _score(
                    list_of_grades(g, scale=SCALES["0-3"]), run_of_ranked(r, name="r")
                ),
                lambda g=grades, s=scores: pytrec_eval.RelevanceEvaluator(g, MEASURES).evaluate(s),
                "pytrec_eval, build + evaluate",
                3,
            )


def _prepared(grades: Grades, scores: Scores) -> None:
    """A second run on judgments that stand ready, as each side holds a run."""
    judgments, run = _built(grades, scores)
    evaluator = pytrec_eval.RelevanceEvaluator(grades, MEASURES)
    versus(
        "G4 a run in memory on prepared judgments, M",
        lambda: _score(judgments, run),
        lambda: evaluator.evaluate(scores),
        "pytrec_eval, evaluator built",
        2,
    )
    versus(
        "   the same, the run made of its dict as well",
        lambda: _score(judgments, run_of_scores(scores, name="r")),
        lambda: evaluator.evaluate(scores),
        "pytrec_eval, evaluator built",
    )


def _chance() -> None:
    deltas = np.random.default_rng(3).normal(0.005, 0.12, 2_000)
    versus(
        "G11 sign-flip p, 2,000 queries x 10,000 flips",
        lambda: sign_flip_p(deltas),
        lambda: permutation_test(
            (deltas,),
            lambda x, axis: x.mean(axis=axis),
            permutation_type="samples",
            n_resamples=10_000,
            vectorized=True,
            batch=500,
        ),
        "scipy permutation_test",
        50,
    )


def _bounds() -> None:
    rng = random.Random(5)
    pools = []
    for _ in range(200):
        docs = [f"d{i}" for i in range(30)]
        grades = {doc: rng.randrange(4) for doc in docs[:10]}
        before, after = rng.sample(docs, 10), rng.sample(docs, 10)
        pools.append(make_pool(grades, before, after, Conventions(), max_grade=3))
    unrated = statistics.mean(len(pool.docs) for pool in pools)
    seconds = statistics.median(
        cpu(lambda: [delta_bounds(pool, Conventions()) for pool in pools]) for _ in range(ROUNDS)
    )
    print(
        f"exact delta bounds of a query, {unrated:.0f} unrated on 4 levels: "
        f"{seconds / len(pools) * 1e6:.0f} us CPU"
    )


def ranking() -> None:
    """Prints all of them."""
    _files()
    large()
    _memory()
    _chance()
    _bounds()


if __name__ == "__main__":
    ranking()
