"""From files and from memory to figures, against pytrec_eval and SciPy; bounds of a review.

CPU seconds, medians of three interleaved rounds; "x" is the peer's time over ours. Sizes are those
of S (200 queries x 10 documents) and M (2,000 x 100). Every figure of a round is of the same data.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytrec_eval
from pyarrow import parquet
from scipy.stats import permutation_test

from relgate.eval.bounds.pool import make_pool
from relgate.eval.bounds.query import delta_bounds
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import SCALES, JudgmentList, Provenance, Query, Source
from relgate.eval.lists.write import write_list
from relgate.eval.metrics.align import align
from relgate.eval.metrics.compare import sign_flip_p
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.metrics.score import score_runs
from relgate.eval.runs.read import read_run
from relgate.eval.runs.types import Run
from relgate.eval.runs.write import write_run

ROUNDS = 3
MEASURES = {"ndcg_cut_10", "recip_rank", "P_10", "recall_100"}
Grades = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


def _cpu(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _versus(
    name: str, ours: Callable[[], object], peer: Callable[[], object], peer_name: str
) -> None:
    mine, theirs = [], []
    for _ in range(ROUNDS):
        mine.append(_cpu(ours))
        theirs.append(_cpu(peer))
    a, b = statistics.median(mine), statistics.median(theirs)
    print(f"{name:<46} {a:8.4f} s   {peer_name:<28} {b:8.4f} s   {b / a:6.1f}x")


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
    def wall(*command: str | Path) -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, capture_output=True)
        return time.perf_counter() - begin

    words = ["-m", "relgate.eval", "score", "--judgments", qrels, "--run", run, "--quiet"]
    ours = min(wall(*words) for _ in range(5))
    peer = min(wall("-c", _PROCESS_PEER, qrels, run) for _ in range(5))
    print(
        f"whole process, 200 queries from TREC files: {ours:.3f} s wall, pytrec_eval {peer:.3f} s"
    )


def _files() -> None:
    with tempfile.TemporaryDirectory() as name:
        for size, queries, depth in (("S", 200, 10), ("M", 2_000, 100)):
            folder = Path(name) / size
            folder.mkdir()
            qrels, run = _write(folder, *_data(queries, depth))
            _versus(
                f"TREC files to scores, {size} ({queries:,} x {depth})",
                lambda q=qrels, r=run: _score_files(q, r),
                lambda q=qrels, r=run: _peer_files(q, r),
                "pytrec_eval, parse + evaluate",
            )
            if size == "S":
                _process(qrels, run)
                continue
            lists, runs = _as_parquet(qrels, run)
            _versus(
                f"Parquet files to scores, {size}",
                lambda q=lists, r=runs: _score_files(q, r),
                lambda q=lists, r=runs: _peer_parquet(q, r),
                "pyarrow columns + pytrec_eval",
            )


def _built(grades: Grades, scores: Scores) -> tuple[JudgmentList, Run]:
    builder = ListBuilder(SCALES["0-3"])
    for q, own in grades.items():
        query = Query(q)
        for doc, grade in own.items():
            builder.add(query, doc, grade, Provenance(Source.HUMAN))
    docs = tuple(tuple(sorted(own, key=own.__getitem__, reverse=True)) for own in scores.values())
    return builder.build(), Run("r", tuple(map(Query, scores)), docs)


def _score_dicts(grades: Grades, scores: Scores) -> object:
    judgments, run = _built(grades, scores)
    return score_runs(judgments, [run], align(judgments, [run]), Conventions.trec_eval(100))


def _memory() -> None:
    grades, scores = _data(2_000, 100)
    judgments, run = _built(grades, scores)
    axis = align(judgments, [run])
    _versus(
        "dicts to scores, M (list and run built anew)",
        lambda: _score_dicts(grades, scores),
        lambda: pytrec_eval.RelevanceEvaluator(grades, MEASURES).evaluate(scores),
        "pytrec_eval",
    )
    evaluator = pytrec_eval.RelevanceEvaluator(grades, MEASURES)
    _versus(
        "a run against a list in memory, M",
        lambda: score_runs(judgments, [run], axis, Conventions.trec_eval(100)),
        lambda: evaluator.evaluate(scores),
        "pytrec_eval, evaluator built",
    )


def _chance() -> None:
    deltas = np.random.default_rng(3).normal(0.005, 0.12, 2_000)
    _versus(
        "sign-flip p, 2,000 queries x 10,000 flips",
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
        _cpu(lambda: [delta_bounds(pool, Conventions()) for pool in pools]) for _ in range(ROUNDS)
    )
    print(
        f"exact delta bounds of a query, {unrated:.0f} unrated on 4 levels: "
        f"{seconds / len(pools) * 1e6:.0f} us CPU"
    )


def ranking() -> None:
    """Prints all of them."""
    _files()
    _memory()
    _chance()
    _bounds()


if __name__ == "__main__":
    ranking()
