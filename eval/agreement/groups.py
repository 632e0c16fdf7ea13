"""Agreement by stratum and by locale, and leniency by people's grade. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from relgate.eval.agreement.confusion import query_tables
from relgate.eval.agreement.intervals import Figure, figures_with_intervals, intervals_of
from relgate.eval.agreement.pairs import GradedPairs
from relgate.eval.agreement.undefined import with_reasons
from relgate.eval.lists.types import Query

__all__ = [
    "NOT_STATED",
    "Group",
    "GroupAgreement",
    "GroupsOf",
    "Leniency",
    "answered_figures",
    "by_grade",
    "by_group",
    "no_groups",
    "tables_of",
]

Floats = NDArray[np.float64]

NOT_STATED = "(not stated)"
"""The group of queries that the table says nothing of, where it does of others."""


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """A stratum or a locale."""

    kind: Literal["stratum", "locale"]
    name: str


GroupsOf = Callable[[Query], Sequence[Group]]
"""The groups that a query is in: at most one of a kind."""


def no_groups(_query: Query) -> Sequence[Group]:
    """No group for any query."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAgreement:
    """Agreement on the queries of one group.

    Attributes:
        group: which.
        n: compared pairs.
        n_asked: pairs that the judge was asked about.
        n_queries: queries among the n pairs.
        n_relevant: compared pairs that people put at or above the floor.
        figures: as those of the whole calibration.
    """

    group: Group
    n: int
    n_asked: int
    n_queries: int
    n_relevant: int
    figures: dict[str, Figure]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leniency:
    """How the judge grades what people gave one grade.

    At the ends of the scale a judge can err one way only, so read the middle grades first.

    Attributes:
        grade: people's.
        n: compared pairs with it.
        shift: mean of the judge's grade less people's, in grades; above 0 is lenient.
        lower: share graded lower than people, 0..1.
        same: share graded alike.
        higher: share graded higher.
    """

    grade: int
    n: int
    shift: Figure
    lower: Figure
    same: Figure
    higher: Figure


def tables_of(pairs: GradedPairs, *, n_grades: int) -> NDArray[np.int64]:
    """One (K, K) table for each query with a graded pair, in the order of the queries."""
    graded = pairs.graded
    used, query = np.unique(pairs.query[graded], return_inverse=True)
    return query_tables(
        query, pairs.human[graded], pairs.judge[graded], n_queries=len(used), n_grades=n_grades
    )


def answered_figures(pairs: GradedPairs, *, seed: int, resamples: int) -> dict[str, Figure]:
    """`coverage` and `error_rate` of the asked pairs, with intervals over the asked queries."""
    _, query = np.unique(pairs.query, return_inverse=True)
    sums = np.column_stack([np.bincount(query), np.bincount(query, pairs.graded)])

    def score(cells: Floats) -> dict[str, Floats]:
        share = cells[..., 1] / cells[..., 0]
        return {"coverage": share, "error_rate": 1 - share}

    return intervals_of(sums, score, seed=seed, resamples=resamples)


def by_group(
    pairs: GradedPairs,
    groups_of: GroupsOf,
    *,
    n_grades: int,
    floor: int,
    seed: int,
    resamples: int,
) -> tuple[GroupAgreement, ...]:
    """Agreement in each stratum, then in each locale, by name; groups without a label left out."""
    asked = np.bincount(pairs.query, minlength=len(pairs.queries)) > 0
    return tuple(
        _agreement(
            group,
            pairs.take(inside[pairs.query]),
            n_grades=n_grades,
            floor=floor,
            seed=seed,
            resamples=resamples,
        )
        for group, inside in _members(pairs.queries, groups_of)
        if (inside & asked).any()
    )


def _members(
    queries: Sequence[Query], groups_of: GroupsOf
) -> list[tuple[Group, NDArray[np.bool_]]]:
    """Each group with the mask of its queries; the rest of a kind last."""
    said = [tuple(groups_of(query)) for query in queries]
    groups = sorted({group for of_query in said for group in of_query})
    found: list[tuple[Group, NDArray[np.bool_]]] = []
    for kind in ("stratum", "locale"):
        ours = [group for group in groups if group.kind == kind]
        masks = [np.array([group in of_query for of_query in said], bool) for group in ours]
        found += zip(ours, masks, strict=True)
        rest = ~np.any(masks, axis=0) if masks else np.zeros(len(queries), bool)
        if rest.any():
            found.append((Group(kind, NOT_STATED), rest))
    return found


def _agreement(
    group: Group, pairs: GradedPairs, *, n_grades: int, floor: int, seed: int, resamples: int
) -> GroupAgreement:
    tables = tables_of(pairs, n_grades=n_grades)
    figures = figures_with_intervals(tables, floor=floor, seed=seed, resamples=resamples)
    table = tables.sum(axis=0)
    return GroupAgreement(
        group=group,
        n=int(table.sum()),
        n_asked=len(pairs),
        n_queries=len(tables),
        n_relevant=int(table[floor:].sum()),
        figures=with_reasons(figures, table, floor=floor),
    )


def by_grade(tables: NDArray[np.int64], *, seed: int, resamples: int) -> tuple[Leniency, ...]:
    """Leniency at each of people's grades.

    Args:
        tables: (Q, K, K), one table a query.
        seed: of the resampling.
        resamples: draws of the resampling.
    """
    n_grades = tables.shape[-1]
    scale = np.arange(n_grades, dtype=np.int64)
    gap: NDArray[np.int64] = scale - scale[:, None]  # judge less people
    found: list[Leniency] = []
    for grade in range(n_grades):
        rows, off = tables[:, grade, :], gap[grade]
        sums = np.column_stack([
            rows.sum(axis=-1), rows @ off,
            *(rows @ side for side in (off < 0, off == 0, off > 0)),
        ]).astype(float)  # fmt: skip
        figures = intervals_of(sums[sums[:, 0] > 0], _shares, seed=seed, resamples=resamples)
        why = f"people gave no compared pair the grade {grade}"
        n = int(rows.sum())
        shown = figures if n else {name: Figure(None, why=why) for name in figures}
        found.append(Leniency(grade=grade, n=n, **shown))
    return tuple(found)


def _shares(sums: Floats) -> dict[str, Floats]:
    n = sums[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        values = [sums[..., i] / n for i in range(1, 5)]
    return dict(zip(("shift", "lower", "same", "higher"), values, strict=True))
