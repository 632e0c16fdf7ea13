"""Reported kappa, precision, recall and F1, by scikit-learn. Pure.

The one module of this folder that imports scikit-learn, and only when called (it takes about a
second). Intervals need thousands of tables and use the closed forms of `confusion`; the tests
hold both equal to 1e-12.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relgate.eval.agreement.confusion import Weighting, floor_table

__all__ = ["reported_figures", "sk_kappa", "sk_precision_recall_f1"]


def sk_kappa(table: ArrayLike, *, weights: Weighting = "none") -> float:
    """Cohen's kappa of one (K, K) table of counts, with the label set fixed to 0..K-1.

    NaN without pairs, or when people used one grade only (scikit-learn itself answers 0 there).
    """
    t = np.asarray(table, float)
    if (t.sum(axis=1) > 0).sum() < 2:  # noqa: PLR2004 - one class of human labels
        return math.nan
    human, judge, counts = _cells(t)
    score = _metrics().cohen_kappa_score(
        human,
        judge,
        labels=list(range(len(t))),
        weights=None if weights == "none" else weights,
        sample_weight=counts,
    )
    return float(score)


def sk_precision_recall_f1(table: ArrayLike, *, floor: int) -> tuple[float, float, float]:
    """Precision, recall and F1 of "grade >= floor" from one (K, K) table; NaN where undefined."""
    binary = floor_table(table, floor=floor)
    if not binary.sum():
        return math.nan, math.nan, math.nan
    human, judge, counts = _cells(binary)
    scores = _metrics().precision_recall_fscore_support(
        human,
        judge,
        labels=[0, 1],
        average="binary",
        pos_label=1,
        sample_weight=counts,
        zero_division=np.nan,
    )
    return float(scores[0]), float(scores[1]), float(scores[2])


def reported_figures(table: ArrayLike, *, floor: int) -> dict[str, float]:
    """The figures that a report takes from scikit-learn, by the names of `all_figures`."""
    precision, recall, f1 = sk_precision_recall_f1(table, floor=floor)
    return {
        "kappa": sk_kappa(table),
        "kappa_linear": sk_kappa(table, weights="linear"),
        "kappa_quadratic": sk_kappa(table, weights="quadratic"),
        "precision": precision,
        "recall": recall,
        "f1": f1,
    }


def _metrics() -> Any:  # noqa: ANN401 - the library has no types
    import sklearn.metrics as metrics  # noqa: PLC0415, PLR0402 - a second to import  # pyright: ignore[reportMissingTypeStubs]

    return metrics


def _cells(
    table: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """The filled cells as columns: human grade, judge grade, count."""
    human, judge = np.nonzero(table)
    return human, judge, table[human, judge]
