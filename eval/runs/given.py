"""Runs out of dictionaries in memory. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, islice, repeat
from operator import contains

import numpy as np

from relgate.eval.lists.ids import Ids, in_nfc
from relgate.eval.lists.notes import Notes
from relgate.eval.lists.types import Query
from relgate.eval.runs.order import in_order
from relgate.eval.runs.types import Ranking, Run
from relgate.rubrics.errors import InputError

__all__ = ["run_of_ranked", "run_of_scores"]

_AT_ONCE = 64  # queries: their texts are looked at while they are in the processor's cache


def run_of_ranked(ranked: Mapping[str, Sequence[str]], *, name: str) -> Run:
    """The run in `{query id: [document ids, best first]}`.

    Raises:
        InputError: an empty id.
    """
    return Run(name, tuple(map(Query, ranked)), _copied(ranked, are_sets=False))


def run_of_scores(scores: Mapping[str, Mapping[str, float]], *, name: str) -> Run:
    """The run in `{query id: {document id: score}}`, each query's documents by falling score.

    Equal scores keep the order of the dictionary, which is noted.

    Raises:
        InputError: an empty id, or a score that is no finite number.
    """
    given = _copied(scores, are_sets=True)
    ids, starts, counts = given.ids, given.starts, given.counts
    values = chain.from_iterable(own.values() for own in scores.values())
    places = np.fromiter(values, np.float64, len(ids))
    if not np.isfinite(places).all():
        at = int(np.flatnonzero(~np.isfinite(places))[0])
        raise InputError(
            f"score {places[at]} of document {ids[at]!r} is not finite",
            mend="mend the score: it gives the order",
        )
    notes = Notes()
    queries: tuple[Query, ...] = tuple(map(Query, scores))
    np.negative(places, out=places)
    ordered, tied = in_order(ids, places, starts, counts)
    at_tied: list[int] = tied.tolist()
    for query in at_tied:
        notes.add("queries have equal scores; they keep the order given", queries[query].id)
    ranking = Ranking(ordered, starts, counts, distinct=given.distinct)
    return Run(name, queries, ranking, notes=notes.lines())


def _copied(docs: Mapping[str, Collection[str]], *, are_sets: bool) -> Ranking:
    """The documents in the order given, with what there is to know of their ids.

    Args:
        docs: {query id: document ids}.
        are_sets: no id can stand twice in one of the collections.

    Raises:
        InputError: an empty id.
    """
    counts = np.fromiter(map(len, docs.values()), np.int64, len(docs))
    texts = np.empty(int(counts.sum()), np.object_)
    sound, plain, distinct = "" not in docs, True, True
    left, done = iter(docs.values()), 0
    while part := list(islice(left, _AT_ONCE)):
        own = list(chain.from_iterable(part))
        texts[done : done + len(own)] = np.fromiter(own, np.object_, len(own))
        done += len(own)
        names = part if are_sets else list(map(set, part))
        distinct = distinct and sum(map(len, names)) == len(own)
        sound = sound and not any(map(contains, names, repeat("")))
        plain = plain and in_nfc(own)
    if not sound:
        raise InputError("empty query or document id", mend="fill it in, or drop the row")
    ids = Ids.over(texts, plain=plain)
    # Two texts may be one id, unless they are in NFC.
    return Ranking(ids, np.cumsum(counts) - counts, counts, distinct=distinct and plain)
