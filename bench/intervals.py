"""Goal G10: kappa against scikit-learn, and its interval over resampled queries. CPU seconds."""

from __future__ import annotations

import time

import numpy as np
from sklearn.metrics import cohen_kappa_score

from relgate.eval.agreement.confusion import kappa, query_tables
from relgate.eval.agreement.intervals import RESAMPLES, figures_with_intervals

PAIRS, QUERIES, LOOPS = 100_000, 5_000, 5


def intervals() -> None:
    rng = np.random.default_rng(0)
    q, h = rng.integers(0, QUERIES, PAIRS), rng.integers(0, 4, PAIRS)
    j = np.where(rng.random(PAIRS) < 0.7, h, rng.integers(0, 4, PAIRS))  # noqa: PLR2004
    off = abs(float(kappa(query_tables(q, h, j, n_queries=QUERIES, n_grades=4).sum(axis=0)))
              - float(cohen_kappa_score(h, j)))  # fmt: skip
    times = []
    for _ in range(5):
        begin = time.process_time()
        tables = query_tables(q, h, j, n_queries=QUERIES, n_grades=4)
        figures_with_intervals(tables, floor=2, seed=0)
        times.append(time.process_time() - begin)
    begin = time.process_time()
    for _ in range(LOOPS):
        at = rng.integers(0, PAIRS, PAIRS)
        cohen_kappa_score(h[at], j[at])
    loop = (time.process_time() - begin) / LOOPS * RESAMPLES
    print(f"kappa off scikit-learn by {off:.1e} (G10: 1e-12)")
    print(
        f"22 figures of 100,000 labels, 2,000 draws of 5,000 queries: {min(times) * 1e3:.0f} ms CPU"
        f" (G10: 200 ms); a scikit-learn loop of kappa alone, from {LOOPS} of 2,000: {loop:.0f} s,"
        f" {loop / min(times):.0f}x (G10: 500x)"
    )


if __name__ == "__main__":
    intervals()
