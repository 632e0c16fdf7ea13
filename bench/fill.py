"""A fill of many pairs by a judge that takes 50 ms a call: wall beside the floor, peak memory.

    python bench/fill.py [PAIRS] [CALLS AT ONCE]

One process, a model that only sleeps, a real cache on the disk. The floor is what the calls alone
would take: ceil(calls / at once) * 50 ms. Memory is told beside a process that holds the pairs and
the judgments and does nothing else. By itself: a million pairs take minutes.
"""

from __future__ import annotations

import asyncio
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from told import peak_mb

from relgate.cache.judge import CachedJudge
from relgate.cache.keys import text_hash
from relgate.cache.store import open_store
from relgate.eval.gaps.fill import fill_gaps
from relgate.eval.gaps.find import QueryGaps
from relgate.eval.lists.types import Judgment, Provenance, Query, Source
from relgate.judge.engine import CallPolicy
from relgate.judge.llm import make_llm_judge
from relgate.judge.sync import run_sync
from relgate.judge.types import Candidate, GenerateReply, GenerateRequest

LATENCY_S = 0.05
BATCH = 10
DOCS = 20
LABELS = "ESCI"
AT = "2026-01-01T00:00:00+00:00"


def inputs(pairs: int) -> tuple[list[QueryGaps], dict[str, Candidate]]:
    texts = (
        f"title: product {i}; brand: maker {i % 97}; price: {i % 500}.00" for i in range(pairs)
    )
    candidates = {f"d{i}": Candidate(f"d{i}", text) for i, text in enumerate(texts)}
    docs = list(candidates)
    gaps = [
        QueryGaps(Query(f"query {start}"), tuple(docs[start : start + DOCS]), DOCS)
        for start in range(0, pairs, DOCS)
    ]
    return gaps, candidates


def bare(pairs: int) -> None:
    """What goes in and what comes out, and nothing between."""
    gaps, candidates = inputs(pairs)
    stamp = Provenance(source=Source.JUDGE, judged_at=AT)
    rows = tuple(
        Judgment(gap.query, doc, 3, stamp, f"near enough {doc}", text_hash(candidates[doc].text))
        for gap in gaps
        for doc in gap.doc_ids
    )
    print(json.dumps({"graded": len(rows), "peak_mb": peak_mb()}))


def fill(pairs: int, at_once: int) -> None:
    gaps, candidates = inputs(pairs)

    async def generate(request: GenerateRequest) -> GenerateReply:
        await asyncio.sleep(LATENCY_S)
        asked = request.prompt.count("title: ")
        rows = [
            {"id": str(i), "esci": LABELS[i % 4], "reason": f"near enough d{i:06}"}
            for i in range(1, asked + 1)
        ]
        return GenerateReply(text=json.dumps({"grades": rows}))

    judge = make_llm_judge(
        generate, model="m", batch_size=BATCH, policy=CallPolicy(concurrency=at_once)
    )
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "cache")
        wall, cpu = time.perf_counter(), time.process_time()
        filling = fill_gaps(
            CachedJudge(judge, store), gaps, candidates.get, judged_at=AT, at_once=at_once
        )
        done = run_sync(filling)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        store.close()
    calls = judge.engine.stats.calls
    print(
        json.dumps(
            {
                "graded": len(done.judgments), "calls": calls, "wall_s": wall, "cpu_s": cpu,
                "floor_s": math.ceil(calls / at_once) * LATENCY_S, "peak_mb": peak_mb(),
            }
        )
    )  # fmt: skip


def child(*words: object) -> dict[str, float]:
    command = [sys.executable, __file__, *map(str, words)]
    found: dict[str, float] = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
    return found


def compare(pairs: int, at_once: int) -> None:
    for some in (pairs // 4, pairs):
        alone, filled = child("bare", some), child("fill", some, at_once)
        over = filled["peak_mb"] - alone["peak_mb"]
        print(
            f"fill {filled['graded']:,} pairs, {filled['calls']:,} calls of {LATENCY_S * 1e3:.0f} "
            f"ms, {at_once} at once: {filled['wall_s']:.0f} s wall, "
            f"{filled['wall_s'] / filled['floor_s']:.1f}x the floor of {filled['floor_s']:.1f} s, "
            f"{filled['cpu_s']:.0f} s CPU ({filled['cpu_s'] / some * 1e6:.0f} us a pair, at most "
            f"{some / filled['cpu_s']:,.0f} pairs/s a core); peak {filled['peak_mb']:.0f} MB, "
            f"{over:+.0f} MB over pairs and judgments alone",
            flush=True,
        )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["bare", pairs]:
            bare(int(pairs))
        case ["fill", pairs, at_once]:
            fill(int(pairs), int(at_once))
        case _:
            given = [int(word) for word in sys.argv[1:]]
            compare(*(given + [1_000_000, 512][len(given) :]))
