"""Figures of a judgment list: classes, depth, coverage of a run. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from relgate.eval.lists.types import JudgmentList, Source, match_key
from relgate.eval.runs.types import Run

__all__ = ["Coverage", "ListStats", "coverage_of", "list_stats"]


@dataclass(frozen=True, slots=True)
class ListStats:
    """What a list holds.

    Attributes:
        judgments: how many pairs.
        queries: how many queries.
        documents: how many distinct documents.
        grades: {grade: pairs}, every grade of the scale.
        sources: {source: pairs}.
        depth: least, median and most judgments a query.
        no_relevant: queries whose best grade is 0, or that have no judgment.
    """

    judgments: int
    queries: int
    documents: int
    grades: Mapping[int, int]
    sources: Mapping[Source, int]
    depth: tuple[int, float, int]
    no_relevant: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a run's top k a list has rated.

    Attributes:
        run: its name.
        k: the depth.
        rated: rated documents within it.
        returned: documents within it, of queries whose hits are known.
        queries_unjudged: queries of the run that the list does not judge.
        queries_missing: judged queries that the run lacks.
    """

    run: str
    k: int
    rated: int
    returned: int
    queries_unjudged: tuple[str, ...]
    queries_missing: tuple[str, ...]


def list_stats(judgments: JudgmentList) -> ListStats:
    """The figures of a list."""
    depth = np.bincount(judgments.query, minlength=len(judgments.queries))
    best = np.zeros(len(judgments.queries), np.int16)
    np.maximum.at(best, judgments.query, judgments.grade)
    n_grades = judgments.scale.max_grade + 1
    counts: list[int] = np.bincount(judgments.grade, minlength=n_grades).tolist()
    return ListStats(
        judgments=len(judgments),
        queries=len(judgments.queries),
        documents=len({match_key(doc_id) for doc_id in judgments.doc_id}),
        grades=dict(enumerate(counts)),
        sources=judgments.counts_by_source(),
        depth=(int(depth.min()), float(np.median(depth)), int(depth.max())),
        no_relevant=int((best == 0).sum()),
    )


def coverage_of(judgments: JudgmentList, run: Run, *, k: int) -> Coverage:
    """How much of a run's top k the list has rated; queries meet by id, else by text.

    Args:
        judgments: the list.
        run: the run; a document given twice counts once.
        k: the depth, 1 and up.
    """
    grades = judgments.grades_by_query()
    places = {match_key(q.text): n for n, q in enumerate(judgments.queries) if q.text is not None}
    places |= {match_key(q.id): n for n, q in enumerate(judgments.queries)}
    tally: Counter[str] = Counter()
    met: set[int] = set()
    unjudged: list[str] = []
    for query, docs in zip(run.queries, run.docs, strict=True):
        place = places.get(match_key(query.id), places.get(match_key(query.text or "")))
        if place is not None:
            met.add(place)
        if place is None or not grades[place]:
            unjudged.append(query.shown)
        top = list(dict.fromkeys(match_key(doc_id) for doc_id in docs or ()))[:k]
        tally["returned"] += len(top)
        tally["rated"] += 0 if place is None else sum(doc_id in grades[place] for doc_id in top)
    missing = [q.shown for n, q in enumerate(judgments.queries) if n not in met and grades[n]]
    return Coverage(run.name, k, tally["rated"], tally["returned"], tuple(unjudged), tuple(missing))
