"""The confusion table of people and judge, and every figure computed from it. Pure.

A table is (..., K, K): rows are the human grade, columns the judge's, cells are counts (or shares).
All functions work over the leading axes at once, which is how thousands of resampled tables are
scored. An undefined figure is NaN in these arrays, never 0; records turn NaN into None.

Kappa is undefined when the *people* used one grade only: no such sample can show agreement beyond
chance. A judge that always says one thing, against people who do not, has kappa exactly 0: that
is measured, it agrees no better than chance.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relgate.rubrics.errors import InputError

__all__ = [
    "Weighting",
    "ac1",
    "ac2",
    "accuracy",
    "all_figures",
    "always_relevant_f1",
    "bias_index",
    "confusion_table",
    "constant_table",
    "f1",
    "floor_table",
    "kappa",
    "mean_shift",
    "pabak",
    "precision",
    "prevalence_index",
    "query_tables",
    "ratio",
    "recall",
    "specificity",
    "weighted_kappa",
]

Weighting = Literal["none", "linear", "quadratic"]
"""How far apart two grades count: all alike, by distance, by squared distance."""

Floats = NDArray[np.float64]


def confusion_table(human: ArrayLike, judge: ArrayLike, *, n_grades: int) -> NDArray[np.int64]:
    """Counts of (human grade, judge grade), shape (n_grades, n_grades).

    Args:
        human: grades 0..n_grades-1.
        judge: grades of the same pairs, failed ones left out beforehand.
        n_grades: size of the fixed label set, so that an absent grade changes no weight.

    Raises:
        InputError: columns of different length, or a grade off the scale.
    """
    h, j = np.asarray(human, np.int64), np.asarray(judge, np.int64)
    tables = query_tables(np.zeros(len(h), np.int64), h, j, n_queries=1, n_grades=n_grades)
    return tables.reshape(n_grades, n_grades)


def query_tables(
    query: ArrayLike, human: ArrayLike, judge: ArrayLike, *, n_queries: int, n_grades: int
) -> NDArray[np.int64]:
    """One confusion table a query, shape (n_queries, n_grades, n_grades).

    Args:
        query: per pair, 0..n_queries-1.
        human: per pair, 0..n_grades-1.
        judge: per pair, 0..n_grades-1; failed grades left out beforehand.
        n_queries: how many tables.
        n_grades: size of the fixed label set.

    Raises:
        InputError: columns of different length, or a grade off the scale.
    """
    q, h, j = (np.asarray(x, np.int64) for x in (query, human, judge))
    if not len(q) == len(h) == len(j):
        raise InputError(f"{len(h)} human grades beside {len(j)} of the judge, {len(q)} queries")
    for who, grades in (("human", h), ("judge", j)):
        off = (grades < 0) | (grades >= n_grades)
        if off.any():
            raise InputError(
                f"{who} grade {int(grades[off][0])} is not on the scale 0 to {n_grades - 1}",
                mend="state the scale that both use, or map the grades onto one",
            )
    cells = n_grades * n_grades
    cell = q * cells + h * n_grades + j
    counts: NDArray[np.int64] = np.bincount(cell, minlength=n_queries * cells)
    return counts.reshape(n_queries, n_grades, n_grades)


def floor_table(table: ArrayLike, *, floor: int) -> Floats:
    """The (..., 2, 2) table of "relevant" (grade >= floor): index 0 is not relevant, 1 relevant."""
    t = np.asarray(table, float)
    halves = (slice(None, floor), slice(floor, None))
    rows = [[t[..., a, b].sum(axis=(-1, -2)) for b in halves] for a in halves]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def constant_table(table: ArrayLike, *, grade: int) -> Floats:
    """The table of a judge that always says `grade`, on the same labels."""
    t = np.asarray(table, float)
    out = np.zeros_like(t)
    out[..., grade] = t.sum(axis=-1)
    return out


def kappa(table: ArrayLike, *, weights: Weighting = "none") -> Floats:
    """Cohen's kappa, -1..1, over the table's full label set.

    Undefined (NaN): no pairs, or people used one grade only. Source: Cohen 1960, 1968.
    """
    gap = np.abs(_gaps(np.asarray(table).shape[-1]))
    # whole numbers: kappa does not depend on their scale, and counts times them stay exact
    choices = {"none": np.sign(gap), "linear": gap, "quadratic": gap**2}
    return weighted_kappa(table, choices[weights])


def weighted_kappa(table: ArrayLike, disagreement: ArrayLike) -> Floats:
    """Cohen's kappa with any disagreement weights: 1 - sum w p / sum w r c.

    Args:
        table: (..., K, K) counts or shares.
        disagreement: (K, K), 0 on the diagonal; [i, j] is the cost of human i, judge j.
    """
    t, w = np.asarray(table, float), np.asarray(disagreement, float)
    rows, cols, n = t.sum(axis=-1), t.sum(axis=-2), t.sum(axis=(-1, -2))
    observed = (t * w).sum(axis=(-1, -2)) * n
    expected = ((rows @ w) * cols).sum(axis=-1)
    varied = (rows > 0).sum(axis=-1) > 1
    return np.where(varied, 1 - ratio(observed, expected), np.nan)


def accuracy(table: ArrayLike) -> Floats:
    """Share of pairs with the same grade, 0..1; NaN without pairs."""
    t = np.asarray(table, float)
    return ratio(np.trace(t, axis1=-2, axis2=-1), t.sum(axis=(-1, -2)))


def ac1(table: ArrayLike) -> Floats:
    """Gwet's AC1, -1..1; NaN without pairs. Source: Gwet 2008.

    Resists the kappa paradox, but flatters a judge that says "irrelevant" to everything where
    most is irrelevant: shown beside kappa, never a bar.
    """
    return _gwet(table, np.eye(np.asarray(table).shape[-1]))


def ac2(table: ArrayLike) -> Floats:
    """Gwet's AC2 with quadratic weights, -1..1; NaN without pairs. Source: Gwet 2014."""
    k = np.asarray(table).shape[-1]
    return _gwet(table, 1 - (_gaps(k) / (k - 1)) ** 2)


def _gwet(table: ArrayLike, agreement: Floats) -> Floats:
    t = np.asarray(table, float)
    k, n = t.shape[-1], t.sum(axis=(-1, -2))
    observed = ratio((t * agreement).sum(axis=(-1, -2)), n)
    share = ratio(t.sum(axis=-1) + t.sum(axis=-2), 2 * n[..., None])
    expected = float(agreement.sum()) / (k * (k - 1)) * (share * (1 - share)).sum(axis=-1)
    return ratio(observed - expected, 1 - expected)


def precision(binary: ArrayLike) -> Floats:
    """Share of the judge's "relevant" that people call relevant; NaN if it never says so."""
    b = np.asarray(binary, float)
    return ratio(b[..., 1, 1], b[..., 0, 1] + b[..., 1, 1])


def recall(binary: ArrayLike) -> Floats:
    """Share of people's "relevant" that the judge calls relevant; NaN if people never say so."""
    b = np.asarray(binary, float)
    return ratio(b[..., 1, 1], b[..., 1, 0] + b[..., 1, 1])


def specificity(binary: ArrayLike) -> Floats:
    """Share of people's "not relevant" that the judge calls so (TNR); NaN if there is none."""
    b = np.asarray(binary, float)
    return ratio(b[..., 0, 0], b[..., 0, 0] + b[..., 0, 1])


def f1(binary: ArrayLike) -> Floats:
    """2 tp / (2 tp + fp + fn), 0..1; NaN when neither side calls anything relevant."""
    b = np.asarray(binary, float)
    return ratio(2 * b[..., 1, 1], 2 * b[..., 1, 1] + b[..., 0, 1] + b[..., 1, 0])


def always_relevant_f1(binary: ArrayLike) -> Floats:
    """F1 of the best constant judge, which calls everything relevant, on the same labels.

    With a share p of relevant labels it is 2p / (1 + p): 0.889 at p = 0.8. So F1 alone trusts a
    judge that has not read a word, and a judge must beat this figure.
    """
    return f1(constant_table(binary, grade=1))


def pabak(binary: ArrayLike) -> Floats:
    """Prevalence- and bias-adjusted kappa of a 2x2 table, 2 po - 1. Source: Byrt et al. 1993."""
    return 2 * accuracy(binary) - 1


def prevalence_index(binary: ArrayLike) -> Floats:
    """|both relevant - both not| / n of a 2x2 table, 0..1; above 0.6 kappa is hard to read."""
    b = np.asarray(binary, float)
    return ratio(np.abs(b[..., 0, 0] - b[..., 1, 1]), b.sum(axis=(-1, -2)))


def bias_index(binary: ArrayLike) -> Floats:
    """|only the judge relevant - only people relevant| / n of a 2x2 table, 0..1."""
    b = np.asarray(binary, float)
    return ratio(np.abs(b[..., 0, 1] - b[..., 1, 0]), b.sum(axis=(-1, -2)))


def mean_shift(table: ArrayLike) -> Floats:
    """Mean grade of the judge less that of people: above 0 is lenient. In grades."""
    t = np.asarray(table, float)
    return _mean_grade(t.sum(axis=-2)) - _mean_grade(t.sum(axis=-1))


def all_figures(table: ArrayLike, *, floor: int) -> dict[str, Floats]:
    """Every figure of a calibration by name, each with the table's leading shape.

    Names that start with `floor_` and `precision` to `bias_index` are of the 2x2 table at the
    floor; `f1_gain` is F1 less that of the judge that calls everything relevant.
    """
    t = np.asarray(table, float)
    b = floor_table(t, floor=floor)
    n = b.sum(axis=(-1, -2))
    return {
        "kappa": kappa(t),
        "kappa_linear": kappa(t, weights="linear"),
        "kappa_quadratic": kappa(t, weights="quadratic"),
        "accuracy": accuracy(t),
        "ac1": ac1(t),
        "ac2_quadratic": ac2(t),
        "mean_human": _mean_grade(t.sum(axis=-1)),
        "mean_judge": _mean_grade(t.sum(axis=-2)),
        "mean_shift": mean_shift(t),
        "precision": precision(b),
        "recall": recall(b),
        "specificity": specificity(b),
        "f1": f1(b),
        "f1_gain": f1(b) - always_relevant_f1(b),
        "floor_accuracy": accuracy(b),
        "floor_kappa": kappa(b),
        "floor_ac1": ac1(b),
        "pabak": pabak(b),
        "prevalence_index": prevalence_index(b),
        "bias_index": bias_index(b),
        "share_relevant_human": ratio(b[..., 1, :].sum(axis=-1), n),
        "share_relevant_judge": ratio(b[..., :, 1].sum(axis=-1), n),
    }


def _gaps(n_grades: int) -> Floats:
    """(K, K): row grade less column grade."""
    grades = np.arange(n_grades, dtype=np.float64)
    return grades[:, None] - grades[None, :]


def _mean_grade(counts: Floats) -> Floats:
    grades = np.arange(counts.shape[-1], dtype=np.float64)
    return ratio(counts @ grades, counts.sum(axis=-1))


def ratio(top: ArrayLike, bottom: ArrayLike) -> Floats:
    """`top / bottom`, NaN where the bottom is 0."""
    below = np.asarray(bottom, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Floats = np.asarray(top, float) / below
    return np.where(below != 0, ratio, np.nan)
