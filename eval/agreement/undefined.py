"""Why a figure of a confusion table is undefined, in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relgate.eval.agreement.confusion import floor_table
from relgate.eval.agreement.intervals import Figure

__all__ = ["with_reasons"]

_ON_SCALE = frozenset({"kappa", "kappa_linear", "kappa_quadratic"})


def with_reasons(
    figures: Mapping[str, Figure], table: ArrayLike, *, floor: int
) -> dict[str, Figure]:
    """The figures, each undefined point with the reason in `why`.

    Args:
        figures: by the names of `confusion.all_figures`.
        table: (K, K) counts that they were computed from.
        floor: least grade that counts as relevant.
    """
    t = np.asarray(table)
    b = floor_table(t, floor=floor)
    return {
        name: replace(figure, why=_why(name, t, b)) if figure.point is None else _drawn(figure)
        for name, figure in figures.items()
    }


def _drawn(figure: Figure) -> Figure:
    if figure.low is None and figure.why is None:
        return replace(figure, why="it is undefined in every draw")
    return figure


def _why(name: str, table: NDArray[np.generic], binary: NDArray[np.float64]) -> str:
    if not binary.sum():
        return "no pair has both a label and a grade"
    if name in _ON_SCALE:
        (grade,) = np.flatnonzero(np.asarray(table, float).sum(axis=1))
        return f"people used one grade only, {grade}"
    side = "at or above" if binary[1].sum() else "below"
    return {
        "floor_kappa": f"people put every label {side} the floor",
        "precision": "the judge calls nothing relevant",
        "recall": "people call nothing relevant",
        "specificity": "people call everything relevant",
        "f1": "neither people nor the judge call anything relevant",
        "f1_gain": "neither people nor the judge call anything relevant",
    }[name]
