"""How far a judge's figures scatter with few labels: the measured table of statistics 2.4.

Each row draws that many labels from the public tables of a GPT-4o judge. The reference gives two
digits of a simulation of its own; the tolerance is half a digit, and four standard errors of the
difference of two such simulations (its number of draws taken as 2,000). The ends at 20 labels are
left out: there the values are few and far from normal, so that no tolerance follows.
"""

from __future__ import annotations

import numpy as np
import pytest
from dl19 import DL19, DL20

from relgate.eval.agreement.confusion import f1, floor_table, kappa

DRAWS, THEIRS, ROUNDED = 8_000, 2_000, 0.005
SPREAD = (1 / DRAWS + 1 / THEIRS) ** 0.5


def drawn(table, labels):
    shares = np.array(table, float).ravel() / np.sum(table)
    return np.random.default_rng(labels).multinomial(labels, shares, DRAWS).reshape(-1, 4, 4)


def ends_of(values):
    """2.5 and 97.5 percentiles, and the error of such an end for near-normal values."""
    known = values[np.isfinite(values)]
    # sqrt(q (1 - q) / n) over the normal density there, 0.0584 / sd
    return np.percentile(known, [2.5, 97.5]), (0.025 * 0.975) ** 0.5 / 0.0584 * known.std()


@pytest.mark.parametrize(
    ("labels", "quadratic", "binary", "f1_ends"),
    [
        (50, (0.35, 0.79), (0.08, 0.77), (0.18, 0.80)),
        (100, (0.43, 0.73), (0.22, 0.68), (0.32, 0.74)),
        (200, (0.48, 0.69), (0.30, 0.62), (0.40, 0.68)),
        (400, (0.52, 0.67), (0.34, 0.57), (0.44, 0.65)),
        (1600, (0.56, 0.63), (0.40, 0.52), (0.50, 0.60)),
    ],
)
def test_figures_of_few_labels_scatter_as_the_reference_measured(
    labels, quadratic, binary, f1_ends
):
    dl19, dl20 = drawn(DL19, labels), floor_table(drawn(DL20, labels), floor=2)
    for values, told in (
        (kappa(dl19, weights="quadratic"), quadratic),
        (kappa(dl20), binary),
        (f1(dl20), f1_ends),
    ):
        ends, error = ends_of(values)
        assert ends == pytest.approx(told, abs=ROUNDED + 4 * error * SPREAD)


@pytest.mark.parametrize(
    ("labels", "dl19", "dl20"),
    [
        (5, 0.33, 0.22),
        (20, 0.20, 0.15),
        (50, 0.08, 0.04),
        (100, 0.013, 0.004),
        (200, 0.001, 0.0),
        (400, 0.0, 0.0),
        (1600, 0.0, 0.0),
    ],
)
def test_a_bar_of_f1_080_is_passed_by_luck_as_often_as_the_reference_measured(labels, dl19, dl20):
    """The judges' true F1 is 0.65 and 0.55; an undefined F1 passes nothing."""
    for table, told in ((DL19, dl19), (DL20, dl20)):
        passed = float((f1(floor_table(drawn(table, labels), floor=2)) >= 0.80).mean())
        share = max(told, 1 / THEIRS)
        error = (share * (1 - share)) ** 0.5 * SPREAD
        assert passed == pytest.approx(told, abs=ROUNDED + 4 * error)
