"""A seeded draw of queries. Pure."""

from __future__ import annotations

import numpy as np

__all__ = ["draw_rows"]


def draw_rows(n: int, size: int | None, seed: int) -> list[int]:
    """Rows of a sample without replacement, in file order; all of them where `size` is no less.

    Args:
        n: how many there are.
        size: how many to draw; None for all.
        seed: of the draw; the same seed draws the same rows.
    """
    if size is None or size >= n:
        return list(range(n))
    drawn: list[int] = np.random.default_rng(seed).choice(n, size, replace=False).tolist()
    return sorted(drawn)
