"""What a judge's grade is worth by people's, and where nobody has looked. Pure.

The expected gain of each judge's grade comes from the confusion table, smoothed so that it never
falls as the judge's grade rises (pooled adjacent violators, weighted by labels). The idea of both,
map and support, is of CJE (cimo-labs/cje): a calibration says nothing of grades it has not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relgate.eval.agreement.confusion import ratio

__all__ = [
    "FOLDS",
    "GainError",
    "GradeGain",
    "Support",
    "expected_gains",
    "gain_error",
    "support_of",
]

FOLDS = 5
"""Parts of the queries; the map of each comes from the others."""

LEAST_LABELS = 10
"""A judge's grade with fewer labels has no support."""
LEAST_SHARE = 0.05
"""A share of a system's grades that matters."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GradeGain:
    """What people say where the judge says `grade`.

    Attributes:
        grade: the judge's.
        labels: compared pairs with it.
        nominal: the gain that the grade is given.
        mean: people's mean gain there; None without a label.
        expected: the same, smoothed to be monotone; None without any label at all.
    """

    grade: int
    labels: int
    nominal: float
    mean: float | None
    expected: float | None


def expected_gains(table: ArrayLike, gains: Sequence[float]) -> tuple[GradeGain, ...]:
    """The expected gain of each judge's grade.

    Args:
        table: (K, K) counts, rows people, columns judge.
        gains: the gain of each grade, rising.
    """
    t, own = np.asarray(table, float), np.asarray(gains, float)
    labels = t.sum(axis=0)
    means = ratio(own @ t, labels)
    smooth = _monotone(means, labels)
    return tuple(
        GradeGain(g, int(labels[g]), float(own[g]), _known(means[g]), _known(smooth[g]))
        for g in range(len(own))
    )


@dataclass(frozen=True, slots=True)
class GainError:
    """How far people's gain is from what the judge's grade foretells, on queries not fitted to.

    Attributes:
        expected: root mean square, of the map fitted on the other folds.
        nominal: root mean square, of the gain that the grade is given.
    """

    expected: float
    nominal: float


def gain_error(tables: ArrayLike, gains: Sequence[float], *, seed: int = 0) -> GainError | None:
    """The map's error out of fold, by query; None for fewer queries than folds.

    Args:
        tables: (Q, K, K) counts, one table a query, rows people, columns judge.
        gains: the gain of each grade, rising.
        seed: of the folds.
    """
    t, own = np.asarray(tables, float), np.asarray(gains, float)
    if len(t) < FOLDS:
        return None
    fold = np.random.default_rng(seed).permutation(len(t)) % FOLDS
    squares = 0.0
    for part in range(FOLDS):
        rest = t[fold != part].sum(axis=0)
        labels = rest.sum(axis=0)
        foretold = _monotone(ratio(own @ rest, labels), labels)
        squares += float((t[fold == part].sum(axis=0) * (own[:, None] - foretold) ** 2).sum())
    whole = t.sum(axis=0)
    n = float(whole.sum())
    nominal = float((whole * (own[:, None] - own) ** 2).sum())
    return GainError((squares / n) ** 0.5, (nominal / n) ** 0.5)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _monotone(means: Floats, weights: Floats) -> Floats:
    """Never falling, nearest by weighted squares; a grade without labels takes its neighbours'."""
    blocks: list[tuple[float, float, int]] = []  # sum, weight, grades
    for mean, weight in zip(means.tolist(), weights.tolist(), strict=True):
        if not weight:
            continue
        total, heavy, width = mean * weight, weight, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / heavy:
            last = blocks.pop()
            total, heavy, width = total + last[0], heavy + last[1], width + last[2]
        blocks.append((total, heavy, width))
    if not blocks:
        return np.full(len(means), np.nan)
    known = np.flatnonzero(weights)
    values = np.repeat([b[0] / b[1] for b in blocks], [b[2] for b in blocks])
    smooth: Floats = np.interp(np.arange(len(means)), known, values)
    return smooth


@dataclass(frozen=True, slots=True)
class Support:
    """A judge's grade that a system gets and that hardly a label has.

    Attributes:
        grade: the judge's grade.
        share: share of the system's judged documents with it, 0..1.
        labels: compared pairs with it.
    """

    grade: int
    share: float
    labels: int


def support_of(labelled: ArrayLike, system: ArrayLike) -> tuple[Support, ...]:
    """Grades outside the labelled range: at least 5 % of the system's, fewer than 10 labels.

    Args:
        labelled: (K,) compared pairs by the judge's grade.
        system: (K,) a system's judged documents by the judge's grade.
    """
    known, seen = np.asarray(labelled, float), np.asarray(system, float)
    share = ratio(seen, np.full(len(seen), seen.sum()))
    return tuple(
        Support(g, float(share[g]), int(known[g]))
        for g in range(len(seen))
        if share[g] >= LEAST_SHARE and known[g] < LEAST_LABELS
    )
