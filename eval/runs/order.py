"""Puts the documents of a run in order. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.ids import Ids, distinct

__all__ = ["in_order"]


def in_order(
    ids: Ids, places: NDArray[np.float64], starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[Ids, NDArray[np.int64]]:
    """The ids with each query's by place, the least first, and which queries have equal places.

    Equal places keep the order given. Runs are nearly always written in order: only queries that
    are not are sorted.

    Args:
        ids: the documents of all queries.
        places: what orders them, shape as `ids`; finite.
        starts: per query, where its documents begin; shape (nq,).
        counts: per query, how many it has, 0 and up; shape (nq,).
    """
    first = np.zeros(len(places) + 1, np.bool_)
    first[starts] = True
    odd = np.flatnonzero(places[1:] <= places[:-1]) + 1  # mostly where the next query begins
    odd = odd[~first[odd]]
    equal = odd[places[odd] == places[odd - 1]]
    falls = odd[places[odd] < places[odd - 1]]
    queries = np.flatnonzero(counts)  # an empty one begins where the next does
    tied = {*queries[np.searchsorted(starts[queries], equal, side="right") - 1].tolist()}
    unsorted = distinct(queries[np.searchsorted(starts[queries], falls, side="right") - 1])
    if len(unsorted):
        order = np.arange(len(places))
        for at in unsorted.tolist():
            own = slice(int(starts[at]), int(starts[at] + counts[at]))
            order[own] = own.start + np.argsort(places[own], kind="stable")
            ordered = places[order[own]]
            if (ordered[1:] == ordered[:-1]).any():
                tied.add(at)
        ids = ids.take(order)
    return ids, np.array(sorted(tied), np.int64)
