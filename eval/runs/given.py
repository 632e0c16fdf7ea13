"""Runs out of dictionaries in memory. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.ids import Ids
from relgate.eval.lists.notes import Notes
from relgate.eval.lists.types import Query
from relgate.eval.runs.order import in_order
from relgate.eval.runs.types import Ranking, Run
from relgate.rubrics.errors import InputError

__all__ = ["run_of_ranked", "run_of_scores"]


def run_of_ranked(ranked: Mapping[str, Sequence[str]], *, name: str) -> Run:
    """The run in `{query id: [document ids, best first]}`.

    Raises:
        InputError: an empty id.
    """
    docs, ids, counts = _copied(ranked)
    ranking = Ranking(ids, np.cumsum(counts) - counts, counts, given=docs)
    return Run(name, tuple(map(Query, ranked)), ranking)


def run_of_scores(scores: Mapping[str, Mapping[str, float]], *, name: str) -> Run:
    """The run in `{query id: {document id: score}}`, each query's documents by falling score.

    Equal scores keep the order of the dictionary, which is noted.

    Raises:
        InputError: an empty id, or a score that is no finite number.
    """
    docs, ids, counts = _copied(scores)
    values = chain.from_iterable(own.values() for own in scores.values())
    places = np.fromiter(values, np.float64, len(ids))
    if not np.isfinite(places).all():
        at = int(np.flatnonzero(~np.isfinite(places))[0])
        raise InputError(
            f"score {places[at]} of document {ids[at]!r} is not finite",
            mend="mend the score: it gives the order",
        )
    starts, notes = np.cumsum(counts) - counts, Notes()
    queries: tuple[Query, ...] = tuple(map(Query, scores))
    ordered, tied = in_order(ids, -places, starts, counts)
    at_tied: list[int] = tied.tolist()
    for query in at_tied:
        notes.add("queries have equal scores; they keep the order given", queries[query].id)
    given = docs if ordered is ids else None
    ranking = Ranking(ordered, starts, counts, distinct=True, given=given)
    return Run(name, queries, ranking, notes=notes.lines())


def _copied(
    docs: Mapping[str, Collection[str]],
) -> tuple[tuple[tuple[str, ...], ...] | None, Ids, NDArray[np.int64]]:
    """(each query's documents where all are in ASCII, all of them, how many each has)."""
    held: list[tuple[str, ...]] = []
    sound, plain = "" not in docs, True
    for given in docs.values():  # a query at a time: its texts are looked at while at hand
        own = tuple(given)
        held.append(own)
        sound = sound and "" not in given
        plain = plain and "".join(own).isascii()
    if not sound:
        raise InputError("empty query or document id", mend="fill it in, or drop the row")
    counts = np.fromiter(map(len, held), np.int64, len(held))
    ids = Ids.later(int(counts.sum()), lambda: tuple(chain.from_iterable(held)))
    return tuple(held) if plain else None, ids, counts
