"""Agreement of two and more raters with gaps: Krippendorff's alpha, AC1, AC2, Fleiss, Conger. Pure.

A unit is a pair that several raters graded. All figures are functions of sums over units, so that
thousands of resampled sums are scored at once. An undefined figure is NaN, never 0: it is so when
no unit has two grades, or when all grades are alike (there is no chance to correct for).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relgate.eval.agreement.confusion import ratio

__all__ = [
    "LEVELS",
    "Measurement",
    "RaterShape",
    "agreement_weights",
    "coincidences",
    "flattened",
    "krippendorff_alpha",
    "pair_tables",
    "rater_figures",
    "rater_sums",
    "sums_by",
    "unit_counts",
]

Measurement = Literal["nominal", "ordinal", "interval", "ratio"]
"""What a distance between two grades means, see `krippendorff_alpha`."""
LEVELS: tuple[Measurement, ...] = get_args(Measurement)

Floats = NDArray[np.float64]

_PAIRABLE = 2


def unit_counts(grades: ArrayLike, *, n_grades: int) -> NDArray[np.int64]:
    """How many raters gave each unit each grade, shape (U, K).

    Args:
        grades: (U, R), a row a unit, a column a rater; below 0 is no grade.
        n_grades: K, the size of the fixed label set.
    """
    g = np.asarray(grades, np.int64)
    unit, rater = np.nonzero(g >= 0)
    cell = unit * n_grades + g[unit, rater]
    counts: NDArray[np.int64] = np.bincount(cell, minlength=len(g) * n_grades)
    return counts.reshape(len(g), n_grades)


def pair_tables(counts: ArrayLike) -> Floats:
    """Each unit's ordered pairs of grades by different raters as shares, (..., K, K), symmetric.

    A unit with two or more grades sums to 1; one with fewer is 0 throughout.
    """
    c = np.asarray(counts, float)
    m = c.sum(axis=-1)
    pairs = c[..., :, None] * c[..., None, :] - c[..., :, None] * np.eye(c.shape[-1])
    shares: Floats = pairs / np.where(m >= _PAIRABLE, m * (m - 1), np.inf)[..., None, None]
    return shares


def coincidences(counts: ArrayLike) -> Floats:
    """As `pair_tables`, a unit of m grades by weight m: what alpha is made of.

    Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability".
    """
    c = np.asarray(counts, float)
    weighted: Floats = pair_tables(c) * c.sum(axis=-1)[..., None, None]
    return weighted


def krippendorff_alpha(coincidence: ArrayLike, *, level: Measurement) -> Floats:
    """Krippendorff's alpha, -1..1, of summed coincidences (..., K, K).

    Args:
        coincidence: as `coincidences`, summed over units; index i is the grade i.
        level: `nominal` (all differences alike), `ordinal` (by how many grades lie between),
            `interval` (squared distance), `ratio` (squared distance over squared sum).

    Undefined (NaN): no two grades in one unit, or all grades alike.
    """
    o = np.asarray(coincidence, float)
    n_k = o.sum(axis=-1)
    n = n_k.sum(axis=-1)
    distance = _distances(n_k, level)
    observed = (o * distance).sum(axis=(-1, -2))
    expected = (n_k[..., :, None] * n_k[..., None, :] * distance).sum(axis=(-1, -2))
    return 1 - ratio(observed * (n - 1), expected)


def _distances(n_k: Floats, level: Measurement) -> Floats:
    """Squared distances of every two grades, (K, K), or (..., K, K) for `ordinal`."""
    k = n_k.shape[-1]
    grade = np.arange(k, dtype=np.float64)
    gap, total = grade[:, None] - grade, grade[:, None] + grade
    match level:
        case "nominal":
            return 1 - np.eye(k)
        case "interval":
            return gap**2
        case "ratio":
            return np.where(total > 0, gap / np.where(total > 0, total, 1), 0.0) ** 2
        case "ordinal":
            middle = np.cumsum(n_k, axis=-1) - n_k / 2
            return (middle[..., :, None] - middle[..., None, :]) ** 2


@dataclass(frozen=True, slots=True)
class RaterShape:
    """How wide the sums of `rater_sums` are: K grades, R raters."""

    n_grades: int
    n_raters: int


def rater_sums(grades: ArrayLike, query: ArrayLike, *, n_queries: int, n_grades: int) -> Floats:
    """Per query, the sums that `rater_figures` scores; shape (Q, 2 K K + K + R K).

    Args:
        grades: (U, R), below 0 is no grade.
        query: (U,), 0..n_queries-1.
        n_queries: Q.
        n_grades: K.
    """
    g = np.asarray(grades, np.int64)
    counts = unit_counts(g, n_grades=n_grades).astype(float)
    columns = (
        coincidences(counts),
        pair_tables(counts),
        ratio(counts, np.maximum(counts.sum(axis=1), 1)[:, None]),
        (g[:, :, None] == np.arange(n_grades)).astype(float),
    )
    return sums_by(np.asarray(query, np.int64), flattened(*columns), n_queries)


def flattened(*columns: Floats) -> Floats:
    """Arrays with one leading axis as one table of columns, (U, M); U may be 0."""
    wide = [c.reshape(len(c), int(np.prod(c.shape[1:]))) for c in columns]
    return np.concatenate(wide, axis=1)


def sums_by(query: NDArray[np.int64], columns: Floats, n_queries: int) -> Floats:
    """Rows summed by query, shape (n_queries, M)."""
    found = [np.bincount(query, column, minlength=n_queries).astype(float) for column in columns.T]
    return np.column_stack(found) if found else np.zeros((n_queries, 0))


def rater_figures(sums: Floats, shape: RaterShape) -> dict[str, Floats]:
    """Every figure of several raters by name, each of the leading shape of (..., M) sums.

    `alpha_*` (Krippendorff 2011), `same` (share of pairs of raters that agree), `ac1`,
    `ac2_ordinal`, `ac2_quadratic` (Gwet 2014), `fleiss` (1971), `conger` (1980, Cohen's kappa for
    several raters), `brennan_prediger` (1981).
    """
    k, square = shape.n_grades, shape.n_grades**2
    cuts = np.cumsum([square, square, k])
    coincidence, pairs, share, own = np.split(sums, cuts, axis=-1)
    lead = sums.shape[:-1]
    tables = pairs.reshape(*lead, k, k)
    share = ratio(share, share.sum(axis=-1)[..., None])
    own = own.reshape(*lead, shape.n_raters, k)
    alphas = {
        f"alpha_{level}": krippendorff_alpha(coincidence.reshape(*lead, k, k), level=level)
        for level in LEVELS
    }
    return alphas | _by_chance(tables, share, own)


def _by_chance(tables: Floats, share: Floats, own: Floats) -> dict[str, Floats]:
    """The figures of the form (observed - chance) / (1 - chance)."""
    k = share.shape[-1]
    same = np.eye(k)
    spread: Floats = (share * (1 - share)).sum(axis=-1)

    def figure(weights: Floats, chance: Floats) -> Floats:
        observed = ratio((tables * weights).sum(axis=(-1, -2)), tables.sum(axis=(-1, -2)))
        return ratio(observed - chance, 1 - chance)

    def gwet(weights: Floats) -> Floats:
        return figure(weights, float(weights.sum()) / (k * (k - 1)) * spread)

    even = np.full(spread.shape, 1 / k)
    return {
        "same": figure(same, np.zeros(spread.shape)),
        "ac1": gwet(same),
        "ac2_ordinal": gwet(agreement_weights(k, "ordinal")),
        "ac2_quadratic": gwet(agreement_weights(k, "quadratic")),
        "fleiss": figure(same, 1 - spread),
        "conger": figure(same, _conger_chance(own)),
        "brennan_prediger": figure(same, even),
    }


def _conger_chance(own: Floats) -> Floats:
    """Chance that two different raters agree, each by its own shares; (..., R, K) counts."""
    by_rater = ratio(own, own.sum(axis=-1)[..., None])
    rated = own.sum(axis=-1) > 0
    by_rater = np.where(rated[..., None], by_rater, 0.0)
    r = rated.sum(axis=-1)
    total = by_rater.sum(axis=-2)
    pairs = (total**2).sum(axis=-1) - (by_rater**2).sum(axis=(-1, -2))
    return ratio(pairs, r * (r - 1))


def agreement_weights(n_grades: int, kind: Literal["ordinal", "quadratic"]) -> Floats:
    """How far two grades agree, (K, K), 1 on the diagonal, 0 for the two ends of the scale.

    `quadratic` is 1 less the squared distance; `ordinal` is 1 less the pairs of grades between the
    two, ends counted, d(d+1)/2 of distance d (Gwet 2014).
    """
    gap = np.abs(np.arange(n_grades)[:, None] - np.arange(n_grades)).astype(float)
    cost = gap**2 if kind == "quadratic" else gap * (gap + 1) / 2
    weights: Floats = 1 - cost / cost.max()
    return weights
