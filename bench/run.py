"""Ratios of relgate against a peer in the same run, CPU seconds; nothing here can fail a build.

Each figure is the median of interleaved rounds, and each goal is told as reached or not. `make
bench` prints them.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from harness import harness
from intervals import intervals
from lists import lists
from metrics import ranking
from sklearn.metrics import cohen_kappa_score
from told import ROUNDS, cpu, versus

from relgate.eval.agreement.confusion import confusion_table, kappa
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Source
from relgate.eval.metrics.align import align
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.metrics.score import score_run
from relgate.eval.runs.types import Run
from relgate.judge.engine import CallEngine, CallPolicy
from relgate.judge.parse import parse_reply
from relgate.judge.types import GenerateReply, GenerateRequest
from relgate.rubrics import load_rubric


def plain_ndcg(grades: dict[str, dict[str, int]], ranked: dict[str, list[str]], k: int) -> float:
    """The guide's own loop."""
    total = 0.0
    for query, docs in ranked.items():
        own = grades[query]

        def dcg(rels: list[int]) -> float:
            return sum((2**r - 1) / math.log2(i + 2) for i, r in enumerate(rels[:k]))

        ideal = dcg(sorted(own.values(), reverse=True))
        total += dcg([own.get(d, 0) for d in docs]) / ideal if ideal else 0.0
    return total / len(ranked)


def metrics() -> None:
    rng = random.Random(1)
    grades = {
        f"q{q}": {f"d{rng.randrange(10_000)}": rng.randrange(4) for _ in range(35)}
        for q in range(2_000)
    }
    ranked = {
        q: rng.sample(list(own), 20) + [f"x{i}" for i in range(80)] for q, own in grades.items()
    }
    builder = ListBuilder(SCALES["0-3"])
    for q, own in grades.items():
        for doc, grade in own.items():
            builder.add(Query(q), doc, grade, Provenance(Source.HUMAN))
    judgments = builder.build()
    run = Run("r", tuple(Query(q) for q in ranked), tuple(tuple(d) for d in ranked.values()))
    axis = align(judgments, [run])
    versus(
        "score 2,000 queries x 100 (six metrics)",
        lambda: score_run(judgments, run, axis, 0, Conventions()),
        lambda: plain_ndcg(grades, ranked, 10),
        "plain loop, NDCG only",
    )


def agreement() -> None:
    rng = np.random.default_rng(1)
    human, judge = rng.integers(0, 4, 100_000), rng.integers(0, 4, 100_000)
    versus(
        "quadratic kappa of 100,000 labels",
        lambda: kappa(confusion_table(human, judge, n_grades=4), weights="quadratic"),
        lambda: cohen_kappa_score(human, judge, labels=[0, 1, 2, 3], weights="quadratic"),
        "scikit-learn",
    )


async def dispatch_once(calls: int, at_once: int, latency_s: float) -> tuple[float, float]:
    """(wall as a ratio to the floor, CPU microseconds a call)."""
    request = GenerateRequest(system="s" * 600, prompt="p" * 2_000, schema={})
    reply = GenerateReply(text="ok")

    async def generate(_: GenerateRequest) -> GenerateReply:
        await asyncio.sleep(latency_s)
        return reply

    engine = CallEngine(generate, CallPolicy(concurrency=at_once))
    pending = iter(range(calls))

    async def worker() -> None:
        for _ in pending:
            await engine.call(request, 10)

    wall, begin = time.perf_counter(), time.process_time()
    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(worker())
    floor = math.ceil(calls / at_once) * latency_s
    return (time.perf_counter() - wall) / floor, (time.process_time() - begin) / calls * 1e6


def dispatch() -> None:
    for calls, at_once, latency_s in ((2_000, 64, 0.05), (10_000, 512, 0.05), (4_096, 512, 0.8)):
        rounds = [asyncio.run(dispatch_once(calls, at_once, latency_s)) for _ in range(ROUNDS)]
        ratio = statistics.median(r for r, _ in rounds)
        us = statistics.median(u for _, u in rounds)
        print(
            f"dispatch: {calls:,} calls, {at_once} at once, {latency_s * 1e3:.0f} ms: "
            f"{ratio:.3f}x the floor, {us:.0f} us CPU a call"
        )


def parsing() -> None:
    rows = [{"id": str(i), "esci": "S", "reason": "near enough"} for i in range(1, 11)]
    reply = GenerateReply(text="```json\n" + json.dumps({"grades": rows}) + "\n```")
    refs = [str(i) for i in range(1, 11)]
    rubric = load_rubric()
    seconds = cpu(lambda: [parse_reply(reply, refs, rubric) for _ in range(2_000)])
    print(f"parse a reply of 10 rows: {seconds / 2_000 * 1e6:.0f} us CPU")


def startup() -> None:
    def wall(*command: str) -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin

    helps = [wall("-m", "relgate.eval", "--help") for _ in range(5)]
    bare = [wall("-c", "pass") for _ in range(5)]
    judge = [wall("-c", "import relgate.judge") for _ in range(5)]
    print(f"relgate --help: {min(helps):.3f} s wall (bare interpreter {min(bare):.3f} s)")
    print(f"import relgate.judge: {min(judge):.3f} s wall")


def cache() -> None:
    subprocess.run([sys.executable, Path(__file__).with_name("cache.py")], check=True)


if __name__ == "__main__":
    metrics()
    cache()
    agreement()
    intervals()
    dispatch()
    parsing()
    startup()
    lists()
    ranking()
    harness()
