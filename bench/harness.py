"""What the harness costs beside the search itself: the embedded engine on real products.

Run by `make bench` where the folder with real data is; also by itself.
"""

from __future__ import annotations

import csv
import gzip
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from relgate.eval.demo.engine import Engine as FullText
from relgate.eval.harness.replay import ReplaySettings, replay
from relgate.eval.harness.types import Call, Hit, Reply

QUERIES = 2_000
ROUNDS = 3
DEPTH = 20
DATA = Path(os.environ.get("RELGATE_SHARED", Path(__file__).resolve().parents[2] / "shared"))


class Direct:
    """The engine with nothing of ours but the reply around its ids."""

    def __init__(self, index: FullText) -> None:
        self.index = index

    def search(self, call: Call) -> Reply:
        return Reply(tuple(Hit(i) for i in self.index.search(call.text, call.size)))

    def about(self) -> dict[str, str]:
        return {}

    def close(self) -> None:
        self.index.close()


def _seconds(work: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def harness() -> None:
    """Prints CPU and wall seconds of 2,000 searches, bare and through the harness."""
    path = DATA / "data" / "crowdflower" / "train.csv.gz"
    if not path.is_file():
        print("harness: no shared data, not measured")
        return
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    products = [
        {"id": r["id"], "title": r["product_title"], "description": r["product_description"]}
        for r in rows
    ]
    texts = list(dict.fromkeys(row["query"] for row in rows))
    calls = [Call(f"q{i}", texts[i % len(texts)], DEPTH) for i in range(QUERIES)]
    index = FullText(products, any_thread=True)
    engine = Direct(index)
    settings = ReplaySettings(concurrency=1, timeout_s=60.0)

    def bare() -> None:
        for call in calls:
            engine.search(call)

    def through() -> None:
        answered = sum(len(answer.hits) > 0 for answer in replay(engine, calls, settings))
        if answered < QUERIES * 0.9:
            raise SystemExit(f"harness: only {answered} of {QUERIES} searches found anything")

    found = [(_seconds(bare), _seconds(through)) for _ in range(ROUNDS)]
    bare_cpu, our_cpu = (statistics.median(f[side][1] for f in found) for side in (0, 1))
    bare_wall, our_wall = (statistics.median(f[side][0] for f in found) for side in (0, 1))
    print(
        f"harness over {QUERIES:,} searches of {len(products):,} products: CPU {our_cpu:.3f} s, "
        f"bare {bare_cpu:.3f} s ({our_cpu / bare_cpu - 1:+.1%}, hoped for < +10 %); wall "
        f"{our_wall:.3f} s, bare {bare_wall:.3f} s"
    )
    engine.close()


if __name__ == "__main__":
    harness()
