"""A judge's rate of "relevant", corrected by what it misses and makes up (Rogan & Gladen). Pure.

theta = (p + TNR - 1) / (TPR + TNR - 1), clipped to [0, 1]: for the share of relevant documents,
P@k and other rates, not for NDCG. Source: Rogan & Gladen 1978, Am. J. Epidemiology 107:71. Both
the labelled and the unlabelled part are resampled, by query: an interval of the labelled part
alone is too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relgate.eval.agreement.confusion import ratio, recall, specificity
from relgate.eval.agreement.intervals import (
    RESAMPLES,
    Figure,
    interval_of_draws,
    resampled_sums,
)

__all__ = ["LEAST_DENOMINATOR", "Rate", "corrected_rate", "rogan_gladen"]

LEAST_DENOMINATOR = 0.1
"""TPR + TNR - 1 must lie above this by its lower bound: below, the rate is divided by noise."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate as the judge sees it and as people would.

    Attributes:
        judged: share that the judge calls relevant in the unlabelled part, 0..1.
        corrected: with its 95 % interval; None throughout where `undefined` says why.
        sensitivity: TPR, share of people's relevant that the judge calls so.
        specificity: TNR, share of people's not relevant that the judge calls so.
        denominator: TPR + TNR - 1, with its interval.
        undefined: why there is no corrected rate, or None.
    """

    judged: Figure
    corrected: Figure
    sensitivity: Figure
    specificity: Figure
    denominator: Figure
    undefined: str | None


def rogan_gladen(judged: ArrayLike, sensitivity: ArrayLike, specificity: ArrayLike) -> Floats:
    """The corrected rate, 0..1; NaN where TPR + TNR <= 1 (a judge no better than chance)."""
    p, tpr, tnr = (np.asarray(x, float) for x in (judged, sensitivity, specificity))
    below = tpr + tnr - 1
    raw = ratio(p + tnr - 1, below)
    return np.where(below > 0, np.clip(raw, 0, 1), np.nan)


def corrected_rate(
    labelled: ArrayLike,
    unlabelled: ArrayLike,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Rate:
    """The rate of "relevant" in the unlabelled part, corrected.

    Args:
        labelled: (Q, 2, 2), a query's own table at the floor: rows people, columns judge.
        unlabelled: (P, 2), a query's own counts of the judge's "not relevant" and "relevant".
        seed: of the resampling of the queries of both parts, each apart.
        resamples: how many draws.
    """
    tables, counts = np.asarray(labelled, float), np.asarray(unlabelled, float)
    flat = tables.reshape(len(tables), 4)
    names = ("judged", "corrected", "sensitivity", "specificity", "denominator")
    points = _rates(flat.sum(axis=0), counts.sum(axis=0))
    parts = min(len(flat), len(counts))
    drawn = _rates(
        resampled_sums(flat, seed=seed, resamples=resamples if parts else 0),
        resampled_sums(counts, seed=seed + 1, resamples=resamples if parts else 0),
    )
    found = {n: interval_of_draws(float(points[n]), drawn[n], parts=parts) for n in names}
    why = _undefined(found)
    if why is not None:
        found["corrected"] = Figure(None)
    return Rate(**found, undefined=why)


def _rates(cells: Floats, counts: Floats) -> dict[str, Floats]:
    table = cells.reshape(*cells.shape[:-1], 2, 2)
    tpr, tnr = recall(table), specificity(table)
    judged = ratio(counts[..., 1], counts.sum(axis=-1))
    return {
        "judged": judged,
        "corrected": rogan_gladen(judged, tpr, tnr),
        "sensitivity": tpr,
        "specificity": tnr,
        "denominator": tpr + tnr - 1,
    }


def _undefined(found: dict[str, Figure]) -> str | None:
    below = found["denominator"]
    if found["judged"].point is None:
        return "undefined: no unlabelled pair that the judge graded"
    if below.point is None:
        return "undefined: people's labels are all on one side of the floor"
    if below.point <= 0:
        return f"undefined: TPR + TNR - 1 is {below.point:.3f}, the judge is no better than chance"
    if below.low is None:
        return "undefined: no interval (it takes two queries or more in both parts)"
    if below.low <= LEAST_DENOMINATOR:
        return (
            f"refused: TPR + TNR - 1 may be as low as {below.low:.3f}, not above "
            f"{LEAST_DENOMINATOR}: dividing by it would only spread noise"
        )
    return None
