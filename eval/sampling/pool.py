"""Which pairs may be labelled: what the runs returned, and what an older list found good. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from relgate.eval.lists.types import JudgmentList, Query, Source, match_key
from relgate.eval.metrics.align import Axis
from relgate.eval.queries import QueryRow, QueryTable
from relgate.eval.runs.types import Run

__all__ = ["POOL_DEPTH", "Pool", "PoolPair", "Stratum", "pool_pairs"]

POOL_DEPTH = 20
"""How deep each run goes into the pool, as the labelling workflow has it."""


@dataclass(frozen=True, slots=True, order=True)
class Stratum:
    """A group of queries that gets its own share of a budget.

    Attributes:
        name: the group that the query table states; empty where it states none.
        head: whether these are head queries.
    """

    name: str = ""
    head: bool = False


@dataclass(frozen=True, slots=True)
class PoolPair:
    """A pair that may be labelled. It does not know who returned it, or where."""

    query: Query
    doc_id: str
    stratum: Stratum


@dataclass(frozen=True, slots=True)
class Pool:
    """The pairs that may be labelled, and what was left out of them.

    Attributes:
        pairs: in the order of the axis, each query's by document id.
        from_runs: of all distinct pairs, those that a run returned within the depth.
        known_good: those that only an older list brings in.
        human_rated: pairs left out because a person graded them.
        no_text: pairs left out because there is nothing to show of the document.
        no_documents: queries for which no run lists a document.
    """

    pairs: tuple[PoolPair, ...]
    from_runs: int
    known_good: int
    human_rated: int
    no_text: int
    no_documents: int


def pool_pairs(
    judgments: JudgmentList,
    runs: Sequence[Run],
    axis: Axis,
    *,
    older: Sequence[tuple[JudgmentList, Axis]] = (),
    has_text: Callable[[str], bool],
    table: QueryTable | None = None,
    depth: int = POOL_DEPTH,
    floor: int = 2,
) -> Pool:
    """The union of each run's first `depth` documents and of the good ones of older lists.

    Only queries of the runs are pooled. Documents with a grade at the floor or above are good,
    whoever gave it; those of `judgments` itself count too.

    Args:
        judgments: the list in force: what people graded there is not asked again.
        runs: the runs.
        axis: of that list and those runs.
        older: further lists, each on an axis with the same runs.
        has_text: whether something of a document can be shown.
        table: strata and heads, or None.
        depth: documents of each run, 1 and up.
        floor: least good grade.
    """
    people = _docs(judgments, axis, lambda row: row[1] is Source.HUMAN)
    good = [
        _docs(listed, on, lambda row: row[0] >= floor) for listed, on in ((judgments, axis), *older)
    ]
    pairs: list[PoolPair] = []
    returned_n = known_n = rated_n = textless_n = empty_n = 0
    for at in range(_of_runs(axis)):
        returned = _returned(runs, axis, at, depth)
        docs = dict(returned)
        for side in good:
            for key, doc in side.get(at, {}).items():
                docs.setdefault(key, doc)
        returned_n += len(returned)
        known_n += len(docs) - len(returned)
        empty_n += not returned
        query = _query(axis, judgments, at)
        stratum = _stratum(query, table)
        for key in sorted(docs):
            if key in people.get(at, {}):
                rated_n += 1
            elif not has_text(docs[key]):
                textless_n += 1
            else:
                pairs.append(PoolPair(query, docs[key], stratum))
    return Pool(tuple(pairs), returned_n, known_n, rated_n, textless_n, empty_n)


def _of_runs(axis: Axis) -> int:
    """The queries of the runs stand first on an axis, the same on each axis of the same runs."""
    in_a_run = [at for at in range(len(axis)) if any(index[at] >= 0 for index in axis.run_index)]
    return len(in_a_run)


def _returned(runs: Sequence[Run], axis: Axis, at: int, depth: int) -> dict[str, str]:
    docs: dict[str, str] = {}
    for run, index in zip(runs, axis.run_index, strict=True):
        found = run.docs[int(index[at])] if index[at] >= 0 else None
        for doc in list(dict.fromkeys(found or ()))[:depth]:
            docs.setdefault(match_key(doc), doc)
    return docs


def _docs(
    judgments: JudgmentList, axis: Axis, wanted: Callable[[tuple[int, Source]], bool]
) -> dict[int, dict[str, str]]:
    """{place on the axis: {match_key(doc id): doc id}} of the rows that are wanted."""
    place = {int(listed): at for at, listed in enumerate(axis.list_index) if listed >= 0}
    docs: dict[int, dict[str, str]] = {}
    index: list[int] = judgments.query.tolist()
    for q, row in zip(index, judgments.rows(), strict=True):
        if wanted((row.grade, row.provenance.source)):
            docs.setdefault(place[q], {})[match_key(row.doc_id)] = row.doc_id
    return docs


def _query(axis: Axis, judgments: JudgmentList, at: int) -> Query:
    """The list's own query where it has it, so that labels land there, with the best text known."""
    listed = int(axis.list_index[at])
    if listed < 0:
        return axis.queries[at]
    own = judgments.queries[listed]
    return own if own.text is not None else Query(own.id, axis.queries[at].text)


def _stratum(query: Query, table: QueryTable | None) -> Stratum:
    rows: Iterable[QueryRow | None] = (
        () if table is None else (table.by_key(query.id), table.by_key(query.shown))
    )
    row = next((row for row in rows if row is not None), None)
    return Stratum() if row is None else Stratum(row.stratum or "", row.head)
