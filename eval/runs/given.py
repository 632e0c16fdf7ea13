"""Runs out of dictionaries in memory. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

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
    ids = Ids.of(tuple(chain.from_iterable(ranked.values())))
    counts = np.fromiter(map(len, ranked.values()), np.int64, len(ranked))
    _need_ids(ranked, *ranked.values())
    return Run(name, tuple(map(Query, ranked)), Ranking(ids, np.cumsum(counts) - counts, counts))


def run_of_scores(scores: Mapping[str, Mapping[str, float]], *, name: str) -> Run:
    """The run in `{query id: {document id: score}}`, each query's documents by falling score.

    Equal scores keep the order of the dictionary, which is noted.

    Raises:
        InputError: an empty id, or a score that is no finite number.
    """
    ids = Ids.of(tuple(chain.from_iterable(scores.values())))
    counts = np.fromiter(map(len, scores.values()), np.int64, len(scores))
    _need_ids(scores, *scores.values())
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
    ids, tied = in_order(ids, -places, starts, counts)
    at_tied: list[int] = tied.tolist()
    for query in at_tied:
        notes.add("queries have equal scores; they keep the order given", queries[query].id)
    docs = Ranking(ids, starts, counts, distinct=True)
    return Run(name, queries, docs, notes=notes.lines())


def _need_ids(*columns: Mapping[str, object] | Sequence[str]) -> None:
    if any("" in column for column in columns):
        raise InputError("empty query or document id", mend="fill it in, or drop the row")
