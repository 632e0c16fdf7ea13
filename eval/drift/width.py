"""Whether a golden set is large enough for its budget: the interval of its mean. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, isfinite

import numpy as np

from relgate.eval.drift.budgets import Budgets
from relgate.eval.drift.means import core
from relgate.eval.drift.types import Artifact, Measured, Signal
from relgate.eval.lists.check import Finding
from relgate.eval.metrics.compare import bootstrap_interval

__all__ = ["width_notes"]


def width_notes(artifact: Artifact, budgets: Budgets, *, seed: int = 0) -> tuple[Finding, ...]:
    """A note for each combination of stages whose mean nDCG is known less well than its budget.

    The 95 % bootstrap interval over core queries is held against the hard budget; a query without
    an ideal is in no mean. Fewer than two queries have no interval, and are noted too. An interval
    narrows with the root of the number of queries: so many would do.

    Args:
        artifact: what a run over the set measured.
        budgets: the limits; the hard one of nDCG counts.
        seed: of the bootstrap.
    """
    limit = budgets.of(Signal.NDCG).hard
    return tuple(note for run in artifact.runs for note in _notes(run, limit, seed))


def _notes(run: Measured, limit: float, seed: int) -> Iterator[Finding]:
    values = np.array([q.ndcg for q in core(run.queries) if q.ndcg is not None], np.float64)
    where = f" ({run.words})" if run.stages else ""
    n = len(values)
    if not np.isfinite(values).all():
        yield _note(f"core queries{where}, some with an nDCG that is no number: no interval", n, ())
        return
    low, high = bootstrap_interval(values, seed=seed)
    if not isfinite(high - low):
        yield _note(f"core queries with an nDCG{where}: too few for an interval", n, ())
    elif high - low > limit:
        needed = ceil(n * ((high - low) / limit) ** 2) if limit else None
        more = () if needed is None else (f"some {needed:,} queries would narrow it so far",)
        yield _note(
            f"core queries, whose mean nDCG{where} lies within {low:.3f} to {high:.3f}: wider than "
            f"the hard budget of {limit:g}; revisit the size",
            n,
            more,
        )


def _note(what: str, n: int, examples: tuple[str, ...]) -> Finding:
    return Finding("interval", what, n, examples, fault=False)
