"""What a judge's expected grades and spreads are worth against people's grades. Pure.

A judge over class probabilities gives an expected grade and a spread beside its grade; a panel
gives the spread of its votes. The probabilities themselves are not kept, so there is no Brier
score and no expected calibration error: those need the share that each grade had.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relgate.eval.agreement.confusion import kappa, query_tables
from relgate.eval.agreement.intervals import Figure, intervals_of
from relgate.eval.agreement.pairs import GradedPairs

__all__ = ["Expectation", "expectation_of", "rounded_grades"]

Floats = NDArray[np.float64]

_EDGE = 1e-9  # a distance equal to the spread counts as within it, whatever the last bit says


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What expected grades and spreads showed.

    Attributes:
        n_expected: compared pairs with an expected grade.
        n_spread: compared pairs with a spread.
        n_queries: queries among both; what is resampled.
        figures: with 95 % intervals over queries. Where there are expected grades:
            `expected_mae` (mean distance of the expected grade from people's, in grades),
            `grade_mae` (that of the grade itself, same pairs), `mae_gain` (the second less the
            first: above 0 the expectation is nearer), `expected_kappa_quadratic` (quadratic kappa
            of the expected grade rounded half up). Where there are spreads: `within_1_spread`,
            `within_2_spreads` (share of people's grades no further from the expected grade, or
            from the grade where none is expected, than 1 and 2 spreads) and `spread_ratio` (root
            of the mean squared distance over the mean squared spread: 1 for spreads of the size
            of the error, above 1 for a judge surer than it should be). A spread that is honest
            has 75 % or more within two, whatever the distribution (Chebyshev).
    """

    n_expected: int
    n_spread: int
    n_queries: int
    figures: Mapping[str, Figure]


def rounded_grades(expected: Floats, *, n_grades: int) -> NDArray[np.int64]:
    """Expected grades as grades: rounded half up, kept on the scale 0..n_grades-1."""
    return np.clip(np.floor(expected + 0.5), 0, n_grades - 1).astype(np.int64)


def expectation_of(
    pairs: GradedPairs, *, n_grades: int, seed: int, resamples: int
) -> Expectation | None:
    """The figures of expected grades and spreads; None when the judge gave neither.

    Args:
        pairs: failed grades are left out.
        n_grades: size of the scale.
        seed: of the resampling.
        resamples: draws of the resampling.
    """
    expected, spread = _column(pairs.expected, pairs), _column(pairs.spread, pairs)
    kept = np.isfinite(expected) | np.isfinite(spread)
    if not kept.any():
        return None
    used, query = np.unique(pairs.query[kept], return_inverse=True)
    human, grade = pairs.human[kept], pairs.judge[kept]
    expected, spread = expected[kept], spread[kept]
    sums = np.column_stack([
        _distance_sums(query, human, grade, expected),
        _spread_sums(query, human, np.where(np.isfinite(expected), expected, grade), spread),
        _rounded_cells(query, human, expected, n_queries=len(used), n_grades=n_grades),
    ])  # fmt: skip
    figures = intervals_of(sums, _score, seed=seed, resamples=resamples)
    n_expected, n_spread = int(sums[:, 0].sum()), int(sums[:, _DISTANCES].sum())
    known = {*(_OF_EXPECTED if n_expected else ()), *(_OF_SPREAD if n_spread else ())}
    return Expectation(
        n_expected=n_expected,
        n_spread=n_spread,
        n_queries=len(used),
        figures={name: figure for name, figure in figures.items() if name in known},
    )


_OF_EXPECTED = ("expected_mae", "grade_mae", "mae_gain", "expected_kappa_quadratic")
_OF_SPREAD = ("within_1_spread", "within_2_spreads", "spread_ratio")
_DISTANCES, _SPREADS = 3, 5  # columns of the two groups of sums, before the confusion cells


def _column(values: Floats | None, pairs: GradedPairs) -> Floats:
    """The values of graded pairs, NaN elsewhere."""
    known = np.full(len(pairs), np.nan) if values is None else np.asarray(values, float)
    return np.where(pairs.graded, known, np.nan)


def _by_query(query: NDArray[np.intp], *columns: Floats) -> Floats:
    """Each column summed by query, shape (Q, number of columns); NaN counts as nothing."""
    sums = [np.bincount(query, np.nan_to_num(column)).astype(float) for column in columns]
    return np.column_stack(sums)


def _distance_sums(
    query: NDArray[np.intp], human: NDArray[np.int64], grade: NDArray[np.int64], expected: Floats
) -> Floats:
    there = np.isfinite(expected).astype(float)
    return _by_query(query, there, np.abs(expected - human), there * np.abs(grade - human))


def _spread_sums(
    query: NDArray[np.intp], human: NDArray[np.int64], centre: Floats, spread: Floats
) -> Floats:
    there = np.isfinite(spread).astype(float)
    gap = np.abs(centre - human)
    within = [(gap <= times * spread + _EDGE).astype(float) for times in (1, 2)]
    return _by_query(query, there, *within, there * gap**2, spread**2)


def _rounded_cells(
    query: NDArray[np.intp],
    human: NDArray[np.int64],
    expected: Floats,
    *,
    n_queries: int,
    n_grades: int,
) -> Floats:
    at = np.isfinite(expected)
    rounded = rounded_grades(expected[at], n_grades=n_grades)
    tables = query_tables(
        query[at], human[at], rounded, n_queries=n_queries, n_grades=n_grades
    )  # fmt: skip
    return tables.reshape(n_queries, n_grades * n_grades).astype(float)


def _score(sums: Floats) -> dict[str, Floats]:
    """Figures of (..., M) sums in the order of `expectation_of`."""
    n, expected, grade = np.moveaxis(sums[..., :_DISTANCES], -1, 0)
    spreads = sums[..., _DISTANCES : _DISTANCES + _SPREADS]
    n_spread, within_1, within_2, squared, variance = np.moveaxis(spreads, -1, 0)
    cells = sums[..., _DISTANCES + _SPREADS :]
    side = round(cells.shape[-1] ** 0.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "expected_mae": expected / n,
            "grade_mae": grade / n,
            "mae_gain": (grade - expected) / n,
            "expected_kappa_quadratic": kappa(
                cells.reshape(*cells.shape[:-1], side, side), weights="quadratic"
            ),
            "within_1_spread": within_1 / n_spread,
            "within_2_spreads": within_2 / n_spread,
            "spread_ratio": np.sqrt(squared / variance),
        }
