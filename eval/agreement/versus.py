"""Many raters against one reference, group by group: the table of a prompt or model study. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relgate.eval.agreement.confusion import Floats, accuracy, floor_table, kappa, query_tables
from relgate.eval.agreement.intervals import RESAMPLES, Figure, intervals_of
from relgate.eval.agreement.multirater import flattened, krippendorff_alpha
from relgate.eval.agreement.pairs import UNGRADED
from relgate.rubrics.errors import UsageError

__all__ = ["Columns", "Versus", "versus_reference"]

_LEAST = 2


@dataclass(frozen=True, slots=True)
class Versus:
    """One rater against the reference.

    Attributes:
        rater: its name.
        group: the group of units, empty without groups.
        asked: units that the reference graded.
        n: those of them that the rater graded; the figures are of these.
        n_queries: queries among them.
        figures: `kappa`, `kappa_linear`, `kappa_quadratic`, `alpha_ordinal`, `same`, and
            `kappa_floor_g` of "grade >= g" for each g, with 95 % intervals over queries. A rater
            that grades relevant or not against a graded reference has the last kind alone.
        mean_rater: mean grade of the rater on the n units.
        mean_reference: that of the reference.
        undefined: why figures are undefined, or None.
    """

    rater: str
    group: str
    asked: int
    n: int
    n_queries: int
    figures: dict[str, Figure]
    mean_rater: float | None
    mean_reference: float | None
    undefined: str | None

    @property
    def coverage(self) -> float | None:
        """Share of the reference's units that the rater graded, 0..1."""
        return self.n / self.asked if self.asked else None


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """A reference and a rater on the same units.

    Attributes:
        reference: (U,) grades 0..n_reference-1, or `UNGRADED`.
        rater: (U,) grades 0..n_rater-1, or `UNGRADED`.
        query: (U,), what is resampled.
        n_reference: size of the reference's scale.
        n_rater: size of the rater's scale: the same, or 2.
    """

    reference: NDArray[np.int64]
    rater: NDArray[np.int64]
    query: NDArray[np.int64]
    n_reference: int
    n_rater: int


def versus_reference(
    columns: Columns,
    *,
    rater: str,
    group: str = "",
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Versus:
    """How far a rater agrees with the reference on the units that both graded.

    Raises:
        UsageError: scales of different sizes, and the rater's is not "relevant or not".
    """
    k, wide = columns.n_rater, columns.n_reference
    if k not in (wide, 2):
        raise UsageError(f"{rater} has {k} grades and the reference {wide}: use one scale")
    asked = columns.reference != UNGRADED
    both = asked & (columns.rater != UNGRADED)
    used, query = np.unique(columns.query[both], return_inverse=True)
    reference, own = columns.reference[both], columns.rater[both]
    tables = query_tables(query, reference, own, n_queries=len(used), n_grades=wide)
    figures = intervals_of(
        flattened(tables.astype(float)),
        lambda sums: _figures(sums, wide, k),
        seed=seed,
        resamples=resamples,
    )
    return Versus(
        rater=rater,
        group=group,
        asked=int(asked.sum()),
        n=int(both.sum()),
        n_queries=len(used),
        figures=figures,
        mean_rater=float(own.mean()) if len(own) else None,
        mean_reference=float(reference.mean()) if len(own) else None,
        undefined=_undefined(tables.sum(axis=0)),
    )


def _figures(sums: Floats, wide: int, k: int) -> dict[str, Floats]:
    t = sums.reshape(*sums.shape[:-1], wide, wide)
    if k != wide:
        return {f"kappa_floor_{g}": kappa(_binary(t, g)) for g in range(1, wide)}
    return {
        "kappa": kappa(t),
        "kappa_linear": kappa(t, weights="linear"),
        "kappa_quadratic": kappa(t, weights="quadratic"),
        "alpha_ordinal": krippendorff_alpha(t + t.swapaxes(-1, -2), level="ordinal"),
        "same": accuracy(t),
        **{f"kappa_floor_{g}": kappa(floor_table(t, floor=g)) for g in range(1, wide)},
    }


def _binary(t: Floats, floor: int) -> Floats:
    """Reference "grade >= floor" by a rater that says 0 or 1."""
    rows = (t[..., :floor, :2].sum(axis=-2), t[..., floor:, :2].sum(axis=-2))
    return np.stack(rows, axis=-2)


def _undefined(table: NDArray[np.int64]) -> str | None:
    if not table.sum():
        return "undefined: no pair that both graded"
    used = np.flatnonzero(table.sum(axis=1))
    if len(used) < _LEAST:
        return f"undefined: the reference has one grade only, {used[0]}"
    said = np.flatnonzero(table.sum(axis=0))
    if len(said) < _LEAST:
        return f"kappa is 0 whatever the agreement: the rater has one grade only, {said[0]}"
    return None
