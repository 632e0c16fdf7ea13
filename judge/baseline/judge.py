"""The baseline judge: grades without a key or a language model. Pure.

It learns from the user's own human labels and grades by words in common and attributes that agree
or conflict. It is the bar that an LLM must beat, and it is measured like one: `out_of_fold` is the
judge to calibrate, because it grades a label's query by a model that did not see that query.
No coefficients ship with relgate. Whether it can tell Complement from Substitute is untested: the
lists with human labels that it was measured on have grades in order of relevance only.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from relgate.judge.baseline.features import (
    FEATURE_NAMES,
    FEATURE_VERSION,
    Lexicon,
    feature_row,
    learn_lexicon,
)
from relgate.judge.baseline.model import LEARNER, OrdinalModel, fit_model
from relgate.judge.baseline.reason import reason_for
from relgate.judge.baseline.text import Document, fold, parse_document, parse_query
from relgate.judge.types import ERROR_REASON, Candidate, GradeError, JudgedHit
from relgate.rubrics import Rubric
from relgate.rubrics.errors import InputError

__all__ = ["MIN_LABELS", "MIN_QUERIES", "BaselineJudge", "LabelledPair"]

MIN_LABELS = 30
"""Fewer distinct labels than this teach nothing: there are more features than that."""
MIN_QUERIES = 5
"""Fewer distinct queries than this cannot be split into folds by query."""
_MIN_FOLDS = 2
_TAG = "baseline-lexical-v1"


@dataclass(frozen=True, slots=True, order=True)
class LabelledPair:
    """A human grade to learn from.

    Attributes:
        query: the query's text.
        text: the candidate's text, the same as the judge will see it.
        grade: the human grade on the rubric's scale.
    """

    query: str
    text: str
    grade: int


@dataclass(frozen=True, slots=True)
class _Fitted:
    """What one training set taught."""

    lexicon: Lexicon
    model: OrdinalModel

    @classmethod
    def learn(cls, labels: Sequence[LabelledPair], documents: Mapping[str, Document]) -> Self:
        lexicon = learn_lexicon([documents[text] for text in sorted({p.text for p in labels})])
        queries = {p.query: parse_query(p.query, names=lexicon.names) for p in labels}
        rows = [feature_row(queries[p.query], documents[p.text], lexicon) for p in labels]
        return cls(lexicon, fit_model(rows, [p.grade for p in labels]))


@dataclass(slots=True, kw_only=True, eq=False)
class BaselineJudge:
    """A judge learned from human labels; make one with `fit`.

    Attributes:
        version: `baseline-lexical-v1@<hash of the features and the learner>`.
        fingerprint: hash of features, learner, label set and rubric.
        model: None, there is no language model.
        family: `none`, which is separate from every model family.
        batch_size: how many candidates are worth sending at once.
        rubric: the scale that the labels are on.
        label_set_hash: hex SHA-256 of the distinct labels, in whatever order they came.
        n_labels: how many distinct labels were learned from.
        notes: what a reader should know: grades that cannot be given, labels that contradict.
    """

    version: str
    fingerprint: str
    rubric: Rubric
    label_set_hash: str
    n_labels: int
    notes: tuple[str, ...]
    model: str | None = None
    family: str | None = "none"
    batch_size: int = 256
    _labels: tuple[LabelledPair, ...] = field(repr=False)
    _full: _Fitted = field(repr=False)
    _fold_of: Mapping[str, int] = field(repr=False)
    _folds: tuple[_Fitted, ...] | None = field(default=None, repr=False)

    @classmethod
    def fit(
        cls, labels: Sequence[LabelledPair], rubric: Rubric, *, folds: int = 5, seed: int = 0
    ) -> Self:
        """Learn from human labels; their order and repetitions do not matter.

        Args:
            labels: human grades with the text that was graded.
            rubric: the scale of the grades.
            folds: how many folds by query `out_of_fold` uses; at most one a query.
            seed: draws the folds; the judge itself does not depend on it.

        Raises:
            InputError: fewer than 30 distinct labels, fewer than 5 distinct queries, one grade
                only, a grade off the rubric's scale, or fewer than 2 folds.
        """
        distinct = tuple(sorted(set(labels)))
        _check(distinct, rubric, folds)
        label_hash = _digest([[p.query, p.text, p.grade] for p in distinct])
        learner = [FEATURE_VERSION, FEATURE_NAMES, dict(LEARNER)]
        scale = [[label.code, label.grade] for label in rubric.labels]
        return cls(
            version=f"{_TAG}@{_digest(learner)[:8]}",
            fingerprint=_digest([_TAG, learner, label_hash, rubric.version, scale]),
            rubric=rubric,
            label_set_hash=label_hash,
            n_labels=len(distinct),
            notes=_notes(distinct, rubric),
            _labels=distinct,
            _full=_Fitted.learn(distinct, _parse(distinct)),
            _fold_of=_draw_folds(distinct, folds, seed),
        )

    def out_of_fold(self) -> Self:
        """The same judge for measuring: a labelled query is graded by a model that never saw it.

        Queries are the same when their folded text is. A query without labels gets the full model.
        Version and fingerprint are those of the judge, since it is that judge which is measured;
        so do not put a cache around it: a row that the full model wrote for a labelled pair would
        come back and flatter the measurement.
        """
        if self._folds is not None:
            return self
        fold_of = [self._fold_of[fold(p.query)] for p in self._labels]
        documents = _parse(self._labels)
        folds = tuple(
            _Fitted.learn(
                [p for p, at in zip(self._labels, fold_of, strict=True) if at != held_out],
                documents,
            )
            for held_out in range(max(fold_of) + 1)
        )
        return replace(self, _folds=folds)

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """One row a candidate, in their order. Never raises; nothing is awaited."""
        return self.grade_sync(query, candidates)

    def grade_sync(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """As `grade`, for callers without an event loop."""
        return [
            self._grade_one(query, candidate, len(candidates), position)
            for position, candidate in enumerate(candidates, start=1)
        ]

    def _grade_one(
        self, query: str, candidate: Candidate, batch_size: int, position: int
    ) -> JudgedHit:
        try:
            fitted = self._fitted_for(query)
            parsed = parse_query(query, names=fitted.lexicon.names)
            document = parse_document(candidate.text)
            label = self.rubric.label_for_grade(
                fitted.model.grade(feature_row(parsed, document, fitted.lexicon))
            )
            reason = reason_for(parsed, document, fitted.lexicon)
        except Exception as error:  # noqa: BLE001 - a judge never raises: the row says what failed
            worst = self.rubric.worst
            return JudgedHit(
                id=candidate.id,
                grade=worst.grade,
                esci=worst.code,
                reason=ERROR_REASON,
                error=GradeError.UNREADABLE,
                detail=f"{type(error).__name__} in the baseline judge",
                batch_size=batch_size,
                position=position,
            )
        return JudgedHit(
            id=candidate.id,
            grade=label.grade,
            esci=label.code,
            reason=reason,
            batch_size=batch_size,
            position=position,
        )

    def _fitted_for(self, query: str) -> _Fitted:
        held_out = self._fold_of.get(fold(query))
        if self._folds is None or held_out is None:
            return self._full
        return self._folds[held_out]


def _parse(labels: Sequence[LabelledPair]) -> dict[str, Document]:
    return {text: parse_document(text) for text in {p.text for p in labels}}


def _check(labels: Sequence[LabelledPair], rubric: Rubric, folds: int) -> None:
    needs = f"give at least {MIN_LABELS} human grades over {MIN_QUERIES} queries, of 2 grades"
    queries = {fold(p.query) for p in labels}
    known = {label.grade for label in rubric.labels}
    foreign = sorted({p.grade for p in labels} - known)
    if not labels:
        raise InputError("the baseline judge has no labels to learn from", mend=needs)
    if foreign:
        raise InputError(
            f"label grade {foreign[0]!r} is not on the scale of rubric {rubric.tag!r}",
            mend=f"map the labels to {min(known)} to {max(known)}",
        )
    if len(labels) < MIN_LABELS:
        raise InputError(f"the baseline judge has only {len(labels)} distinct labels", mend=needs)
    if len(queries) < MIN_QUERIES:
        raise InputError(f"the labels are of only {len(queries)} distinct queries", mend=needs)
    if len({p.grade for p in labels}) == 1:
        raise InputError(f"every label has grade {labels[0].grade}", mend=needs)
    if folds < _MIN_FOLDS:
        raise InputError(f"{folds} folds cannot hold a query out", mend="use 2 folds or more")


def _notes(labels: Sequence[LabelledPair], rubric: Rubric) -> tuple[str, ...]:
    seen = {p.grade for p in labels}
    absent = [label for label in rubric.labels if label.grade not in seen]
    notes = [
        f"no label has grade {label.grade} ({label.name}): the baseline judge cannot give it"
        for label in absent
    ]
    grades: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for p in labels:
        grades[p.query, p.text].add(p.grade)
    contrary = sum(len(found) > 1 for found in grades.values())
    if contrary:
        notes.append(f"{contrary} labelled pairs have more than one grade; all were learned from")
    return tuple(notes)


def _draw_folds(labels: Sequence[LabelledPair], folds: int, seed: int) -> dict[str, int]:
    """The fold of each folded query text, dealt out in the order of a seeded hash."""
    queries = sorted({fold(p.query) for p in labels}, key=lambda q: (_digest([seed, q]), q))
    return {query: i % folds for i, query in enumerate(queries)}


def _digest(value: object) -> str:
    """Hex SHA-256 of the canonical JSON of `value`."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
