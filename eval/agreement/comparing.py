"""Several judges on the same labels: figures side by side and paired differences. Pure.

All figures are of the pairs that every judge graded, so that none gains by leaving out the hard
ones; its own coverage stands beside them. Differences are paired: each draw of the queries is the
same for all judges. They are not corrected for the number of comparisons, and the best of several
judges on these labels is flattered by having been picked on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from relgate.eval.agreement.confusion import all_figures, constant_table, query_tables
from relgate.eval.agreement.intervals import Figure, intervals_of
from relgate.eval.agreement.pairs import GradedPairs, JudgeIdentity, in_order
from relgate.eval.agreement.remarks import constant_judges
from relgate.eval.agreement.undefined import with_reasons
from relgate.eval.lists.types import Scale, match_key
from relgate.rubrics.errors import InputError

__all__ = [
    "COMPARED_FIGURES",
    "ComparedJudge",
    "Comparison",
    "Costs",
    "Difference",
    "Entry",
    "compare_judges",
]

Floats = NDArray[np.float64]
Kind = Literal["judge", "baseline", "constant"]

COMPARED_FIGURES = ("kappa_quadratic", "kappa", "f1", "mean_shift")
"""What judges are compared by, by the names of `all_figures`."""

_MUCH_LOST = 0.9
_FEW_QUERIES = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What grading took.

    Attributes:
        usd_per_thousand: US dollars a thousand pairs; None where no price is known.
        planned: the money is of a plan, since all grades came from the cache.
        seconds_per_thousand: of wall time a thousand pairs, as they were asked; None where
            nothing was asked.
    """

    usd_per_thousand: float | None = None
    planned: bool = False
    seconds_per_thousand: float | None = None


NO_COSTS = Costs()
UNNAMED = JudgeIdentity()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A judge to compare.

    Attributes:
        name: how the table calls it; no two alike.
        pairs: its grades of the labels.
        identity: which judge.
        kind: `baseline` for the one that needs no model.
        costs: what its grades took.
    """

    name: str
    pairs: GradedPairs
    identity: JudgeIdentity
    kind: Kind = "judge"
    costs: Costs = NO_COSTS


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedJudge:
    """A row of the comparison.

    Attributes:
        name: of the judge.
        kind: judge, baseline, or a constant that has read nothing.
        figures: by `COMPARED_FIGURES`, on the common pairs.
        identity: which judge.
        n_graded: pairs that it graded itself.
        n_asked: pairs that it was asked about.
        costs: what its grades took.
    """

    name: str
    kind: Kind
    figures: dict[str, Figure]
    identity: JudgeIdentity = UNNAMED
    n_graded: int | None = None
    n_asked: int | None = None
    costs: Costs = NO_COSTS

    @property
    def coverage(self) -> float | None:
        """Its own share of asked pairs with a grade; None for a constant."""
        return None if not self.n_asked or self.n_graded is None else self.n_graded / self.n_asked


@dataclass(frozen=True, slots=True)
class Difference:
    """`first` less `second`, by `COMPARED_FIGURES`, paired by query."""

    first: str
    second: str
    figures: dict[str, Figure]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Judges side by side.

    Attributes:
        judges: in the order given, then the constant judges.
        differences: of every two rows, the earlier less the later.
        n: pairs that every judge graded.
        n_queries: queries among them.
        n_labels: labels that any of them was asked about.
        warnings: what a reader must know, a sentence each.
        floor: least grade that counts as relevant.
        scale: name of the scale.
        seed: of the resampling.
        resamples: draws of the resampling.
    """

    judges: tuple[ComparedJudge, ...]
    differences: tuple[Difference, ...]
    n: int
    n_queries: int
    n_labels: int
    warnings: tuple[str, ...]
    floor: int
    scale: str
    seed: int
    resamples: int

    def against(self, name: str) -> Iterator[Difference]:
        """The differences of one judge to all others, with it in the first place or the second."""
        return (d for d in self.differences if name in {d.first, d.second})


def compare_judges(
    entries: Sequence[Entry], *, scale: Scale, floor: int, seed: int, resamples: int
) -> Comparison:
    """Figures of each judge on the pairs that all graded, and of constant judges.

    Args:
        entries: two judges or more on the same labels.
        scale: the scale of labels and grades.
        floor: least grade that counts as relevant.
        seed: of the resampling.
        resamples: draws of the resampling.

    Raises:
        InputError: no pair was graded by all.
    """
    common, n_labels = _common(entries)
    tables = [_tables(pairs, n_grades=scale.max_grade + 1) for pairs in common]
    lazy = constant_judges(tables[0].sum(axis=0), floor=floor)
    tables += [np.asarray(constant_table(tables[0], grade=c.grade), np.int64) for c in lazy]
    constants = [f"{c.name} (always {c.grade})" for c in lazy]
    found = _figures(tables, floor=floor, seed=seed, resamples=resamples)
    own = [
        with_reasons(found[i, None], table.sum(axis=0), floor=floor)
        for i, table in enumerate(tables)
    ]
    rows = [
        *map(_row, entries, own),
        *(
            ComparedJudge(name=name, kind="constant", figures=figures)
            for name, figures in zip(constants, own[len(entries) :], strict=True)
        ),
    ]
    n, n_queries = len(common[0]), len(tables[0])
    return Comparison(
        judges=tuple(rows),
        differences=tuple(
            Difference(rows[i].name, rows[j].name, found[i, j])
            for i, j in combinations(range(len(rows)), 2)
        ),
        n=n,
        n_queries=n_queries,
        n_labels=n_labels,
        warnings=tuple(_warnings(entries, n=n, n_queries=n_queries, n_labels=n_labels)),
        floor=floor,
        scale=scale.name,
        seed=seed,
        resamples=resamples,
    )


def _row(entry: Entry, figures: dict[str, Figure]) -> ComparedJudge:
    return ComparedJudge(
        name=entry.name,
        kind=entry.kind,
        figures=figures,
        identity=entry.identity,
        n_graded=int(entry.pairs.graded.sum()),
        n_asked=len(entry.pairs),
        costs=entry.costs,
    )


def _common(entries: Sequence[Entry]) -> tuple[list[GradedPairs], int]:
    """Each judge's grades of the pairs that all graded, in one order; and all labels in play."""
    ordered = [in_order(entry.pairs) for entry in entries]
    keys = [_keys(pairs) for pairs in ordered]
    graded = [
        {key for key, there in zip(own, pairs.graded.tolist(), strict=True) if there}
        for own, pairs in zip(keys, ordered, strict=True)
    ]
    common = graded[0].intersection(*graded[1:])
    if not common:
        counts = ", ".join(f"{e.name} {len(g):,}" for e, g in zip(entries, graded, strict=True))
        raise InputError(
            f"no pair was graded by all of the judges ({counts})",
            mend="leave out the judge that graded least, or check that the ids are the same",
        )
    kept = [
        pairs.take(np.array([key in common for key in own], bool))
        for pairs, own in zip(ordered, keys, strict=True)
    ]
    return kept, len({key for own in keys for key in own})


def _keys(pairs: GradedPairs) -> list[tuple[str, str]]:
    names = [match_key(query.id) for query in pairs.queries]
    return [
        (names[q], match_key(doc))
        for q, doc in zip(pairs.query.tolist(), pairs.doc_ids, strict=True)
    ]


def _tables(pairs: GradedPairs, *, n_grades: int) -> NDArray[np.int64]:
    used, query = np.unique(pairs.query, return_inverse=True)
    return query_tables(query, pairs.human, pairs.judge, n_queries=len(used), n_grades=n_grades)


def _figures(
    tables: Sequence[NDArray[np.int64]], *, floor: int, seed: int, resamples: int
) -> dict[tuple[int, int | None], dict[str, Figure]]:
    """{(judge, None): its figures, (judge, other): their differences}, from the same draws."""
    n_judges, k = len(tables), tables[0].shape[-1]
    sums = np.stack(tables, axis=1).reshape(len(tables[0]), n_judges * k * k)

    def score(cells: Floats) -> dict[str, Floats]:
        each = cells.reshape(*cells.shape[:-1], n_judges, k, k)
        values = {f: v for f, v in all_figures(each, floor=floor).items() if f in COMPARED_FIGURES}
        own = {f"{f} {i}": v[..., i] for f, v in values.items() for i in range(n_judges)}
        return own | {
            f"{f} {i} {j}": v[..., i] - v[..., j]
            for f, v in values.items()
            for i, j in combinations(range(n_judges), 2)
        }

    found: dict[tuple[int, int | None], dict[str, Figure]] = {}
    for name, figure in intervals_of(sums, score, seed=seed, resamples=resamples).items():
        label, first, *second = name.split(" ")
        key = (int(first), int(second[0]) if second else None)
        why = figure.why or ("undefined for one of the two" if figure.point is None else None)
        found.setdefault(key, {})[label] = replace(figure, why=why)
    return found


def _warnings(entries: Sequence[Entry], *, n: int, n_queries: int, n_labels: int) -> Iterator[str]:
    if n < _MUCH_LOST * n_labels:
        least = min(entries, key=lambda e: int(e.pairs.graded.sum()))
        yield (
            f"only {n:,} of {n_labels:,} labelled pairs were graded by all; {least.name} graded "
            f"least, {int(least.pairs.graded.sum()):,}"
        )
    if n_queries < _FEW_QUERIES:
        yield f"intervals from {n_queries} queries are likely too narrow"
    judges = sum(entry.kind == "judge" for entry in entries)
    if judges > 1:
        yield (
            f"the best of {judges} judges on these labels is flattered by having been picked on "
            "them: calibrate it on labels of other queries"
        )
    fingerprints = [e.identity.fingerprint for e in entries if e.identity.fingerprint is not None]
    if len(set(fingerprints)) < len(fingerprints):
        yield "two of the rows are the same judge, by fingerprint"
