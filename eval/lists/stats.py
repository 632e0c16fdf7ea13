"""Figures of a judgment list: classes, depth, agreement of its raters, coverage of a run. Pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from relgate.eval.agreement.confusion import accuracy, confusion_table, kappa
from relgate.eval.lists.raters import Conflict
from relgate.eval.lists.types import JudgmentList, Source, match_key
from relgate.eval.runs.types import Run

__all__ = ["Agreement", "Coverage", "ListStats", "coverage_of", "list_stats", "rater_agreement"]


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
class Agreement:
    """Two raters on the pairs that both graded; a figure is None where it is undefined."""

    one: str
    two: str
    pairs: int
    same: float
    kappa: float | None
    quadratic_kappa: float | None


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


def rater_agreement(votes: tuple[Conflict, ...], *, n_grades: int) -> tuple[Agreement, ...]:
    """Cohen's kappa of every two raters who graded the same pairs, most pairs first.

    Args:
        votes: the pairs with several grades; grades without a rater are passed over.
        n_grades: how many grades the scale has.
    """
    both: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for pair in votes:
        named = sorted({v.rater: v.grade for v in pair.votes if v.rater is not None}.items())
        for (one, a), (two, b) in combinations(named, 2):
            both[one, two].append((a, b))
    found = [_agreement(one, two, grades, n_grades) for (one, two), grades in both.items()]
    return tuple(sorted(found, key=lambda figure: -figure.pairs))


def _agreement(one: str, two: str, grades: list[tuple[int, int]], n_grades: int) -> Agreement:
    a, b = zip(*grades, strict=True)
    table = confusion_table(a, b, n_grades=n_grades)
    figures = [float(kappa(table)), float(kappa(table, weights="quadratic"))]
    nominal, quadratic = (None if math.isnan(figure) else figure for figure in figures)
    return Agreement(one, two, len(grades), float(accuracy(table)), nominal, quadratic)


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
