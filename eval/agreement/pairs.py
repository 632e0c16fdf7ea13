"""Pairs that people and a judge both looked at, as columns. Pure.

A failed grade stays in the columns as `UNGRADED`: counted in coverage, in no figure.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.types import JudgmentList, Query, Source, match_key
from relgate.judge.parts import shown_parts
from relgate.judge.types import GradeError, Judge
from relgate.rubrics.errors import InputError

__all__ = [
    "UNGRADED",
    "GradedPairs",
    "JudgeIdentity",
    "error_counts",
    "identity_of",
    "in_order",
    "label_set_hash",
    "made_by_people_or_rule",
    "match_grades",
    "recorded_judge",
    "source_counts",
]

UNGRADED = -1
"""The judge's grade of a pair that it failed to grade. An error is not Irrelevant."""

_SHOWN_IDS = 3


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """Which judge gave the grades; None where that is not known (recorded grades).

    Attributes:
        version: `<tag>@<hash>` of the rubric.
        fingerprint: hash of what else shapes an answer.
        model: the model asked for.
        family: its family.
        parts: hashes of the fingerprint's parts (see `relgate.judge.parts`), so that
            another judge's certificate can say which of them differs; empty where not known.
    """

    version: str | None = None
    fingerprint: str | None = None
    model: str | None = None
    family: str | None = None
    parts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, eq=False)
class GradedPairs:
    """One entry a pair that the judge was asked about.

    Attributes:
        query: per pair, index into `queries`.
        human: per pair, the label, 0 and up.
        judge: per pair, the judge's grade, or `UNGRADED`.
        queries: distinct queries.
        doc_ids: per pair.
        judge_reasons: per pair, or None when there are none.
        human_reasons: per pair, or None when there are none.
        errors: how many pairs failed, by kind.
        sources: how many of the labels each source made.
        without_text: labels not asked about, since the catalogue lacks their document.
        made_by_judge: labels not used, since a judge made them.
        expected: per pair, the grade expected under the judge's class probabilities, NaN where it
            gave none; None when it gave none at all.
        spread: per pair, standard deviation of the grade, likewise.
    """

    query: NDArray[np.int64]
    human: NDArray[np.int64]
    judge: NDArray[np.int64]
    queries: tuple[Query, ...]
    doc_ids: tuple[str, ...]
    judge_reasons: tuple[str | None, ...] | None = None
    human_reasons: tuple[str | None, ...] | None = None
    errors: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    sources: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    without_text: int = 0
    made_by_judge: int = 0
    expected: NDArray[np.float64] | None = None
    spread: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.doc_ids)

    @property
    def graded(self) -> NDArray[np.bool_]:
        """Per pair, whether the judge gave a grade."""
        graded: NDArray[np.bool_] = self.judge != UNGRADED
        return graded

    def take(self, keep: NDArray[np.bool_] | Sequence[int]) -> GradedPairs:
        """Some rows, by mask or by index in a new order; queries and counts stay as they are."""
        rows: list[int] = np.arange(len(self))[keep].tolist()

        def texts(column: tuple[str | None, ...] | None) -> tuple[str | None, ...] | None:
            return None if column is None else tuple(column[i] for i in rows)

        return replace(
            self,
            query=self.query[rows],
            human=self.human[rows],
            judge=self.judge[rows],
            doc_ids=tuple(self.doc_ids[i] for i in rows),
            judge_reasons=texts(self.judge_reasons),
            human_reasons=texts(self.human_reasons),
            expected=None if self.expected is None else self.expected[rows],
            spread=None if self.spread is None else self.spread[rows],
        )


def identity_of(judge: Judge) -> JudgeIdentity:
    """What a judge says of itself, with the parts of its fingerprint where it shows them."""
    parts = {str(name): part for name, part in (shown_parts(judge) or {}).items()}
    return JudgeIdentity(judge.version, judge.fingerprint, judge.model, judge.family, parts)


def in_order(pairs: GradedPairs) -> GradedPairs:
    """The pairs by query id and document id, the queries by id.

    Whatever is computed from them, resampling included, then does not depend on the order in which
    a file lists its labels.
    """
    names = [match_key(q.id) for q in pairs.queries]
    ranked = sorted(range(len(names)), key=lambda i: names[i])
    place = np.empty(len(names), np.int64)
    place[ranked] = np.arange(len(names))
    ranks: list[int] = place[pairs.query].tolist()
    rows = sorted(range(len(pairs)), key=lambda i: (ranks[i], match_key(pairs.doc_ids[i])))
    sorted_rows = pairs.take(rows)
    return replace(
        sorted_rows,
        query=place[sorted_rows.query],
        queries=tuple(pairs.queries[i] for i in ranked),
    )


def made_by_people_or_rule(labels: JudgmentList) -> JudgmentList:
    """The labels that a judge can be measured against: those that no judge made.

    Raises:
        InputError: none is left.
    """
    judged = np.array([o.source is Source.JUDGE for o in labels.origins], bool)
    kept = labels.take(~judged[labels.origin]) if judged.any() else labels
    if not len(kept):
        raise InputError(
            "the list holds no label that people made",
            mend="give a list with human labels; a judge cannot be measured against a judge",
        )
    return kept


def match_grades(human: JudgmentList, grades: JudgmentList) -> GradedPairs:
    """Human labels beside the grades that a judge once gave, by query id and document id.

    Every label counts as asked. One that `grades` lacks is a failed grade of kind `missing`: which
    pairs a file leaves out need not be chance. Recorded grades of pairs without a label are unused.

    Raises:
        InputError: the lists are on different scales, or share no pair.
    """
    if human.scale.max_grade != grades.scale.max_grade:
        raise InputError(
            f"the labels are on the scale {human.scale.name}, the grades on {grades.scale.name}",
            mend="bring both onto one scale",
        )
    labels = made_by_people_or_rule(human)
    rows = {match_key(q.id): i for i, q in enumerate(grades.queries)}
    by_query: list[dict[str, int]] = [{} for _ in grades.queries]
    for i, (q, doc_id) in enumerate(zip(grades.query.tolist(), grades.doc_id, strict=True)):
        by_query[int(q)][match_key(doc_id)] = i
    found = np.full(len(labels), UNGRADED)
    for i, (q, doc_id) in enumerate(zip(labels.query.tolist(), labels.doc_id, strict=True)):
        at = rows.get(match_key(labels.queries[int(q)].id))
        found[i] = UNGRADED if at is None else by_query[at].get(match_key(doc_id), UNGRADED)
    return _matched(labels, grades, found, made_by_judge=len(human) - len(labels))


def _matched(
    labels: JudgmentList, grades: JudgmentList, found: NDArray[np.int64], *, made_by_judge: int
) -> GradedPairs:
    hit = found != UNGRADED
    if not hit.any():
        raise InputError(
            "no labelled pair has a recorded grade: labels have "
            f"{_some_pairs(labels)}, grades have {_some_pairs(grades)}",
            mend="check that both use the same query and document ids",
        )
    judge = np.full(len(labels), UNGRADED)
    judge[hit] = grades.grade[found[hit]]
    reasons = grades.reason
    missing = int((~hit).sum())
    return GradedPairs(
        query=labels.query.astype(np.int64),
        human=labels.grade.astype(np.int64),
        judge=judge,
        queries=labels.queries,
        doc_ids=tuple(labels.doc_id),
        judge_reasons=None
        if reasons is None
        else tuple(None if i == UNGRADED else reasons[int(i)] for i in found),
        human_reasons=labels.reason,
        errors={GradeError.MISSING.value: missing} if missing else {},
        sources=source_counts(labels),
        made_by_judge=made_by_judge,
    )


def _some_pairs(rows: JudgmentList) -> str:
    shown = [
        f"({rows.queries[int(q)].id!r}, {doc_id!r})"
        for q, doc_id in zip(rows.query[:_SHOWN_IDS], rows.doc_id[:_SHOWN_IDS], strict=True)
    ]
    return ", ".join(shown) + (" ..." if len(rows) > _SHOWN_IDS else "") if shown else "no rows"


def recorded_judge(grades: JudgmentList) -> JudgeIdentity:
    """The judge that a list of recorded grades names, where all its rows agree on it."""
    used = {grades.origins[int(i)] for i in np.unique(grades.origin)}

    def only(values: set[str | None]) -> str | None:
        return values.pop() if len(values) == 1 else None

    return JudgeIdentity(
        version=only({o.judge_version for o in used}),
        fingerprint=only({o.fingerprint for o in used}),
        model=only({o.model for o in used}),
    )


def source_counts(labels: JudgmentList) -> dict[str, int]:
    """How many rows each source made, by its name, in the order of the names."""
    return dict(sorted((s.value, n) for s, n in labels.counts_by_source().items()))


def label_set_hash(pairs: GradedPairs) -> str:
    """Hex SHA-256 over the sorted (query id, document id, human grade) of all asked pairs.

    Ids are compared in NFC; the order of the list does not matter, nor what the judge said.
    """
    names = [match_key(q.id) for q in pairs.queries]
    rows = sorted(
        (names[int(q)], match_key(doc_id), int(grade))
        for q, doc_id, grade in zip(pairs.query, pairs.doc_ids, pairs.human, strict=True)
    )
    text = "\n".join(json.dumps(row, ensure_ascii=True) for row in rows)
    return hashlib.sha256(text.encode()).hexdigest()


def error_counts(kinds: list[GradeError | None]) -> dict[str, int]:
    """How many of `kinds` are each error, most frequent first, of equals by name."""
    counts = Counter(kind.value for kind in kinds if kind is not None)
    return dict(sorted(counts.items(), key=lambda count: (-count[1], count[0])))
