"""Keeps the labels that shape a judge apart from those that measure it. Pure.

Labels used to write or tune a rubric, or shown to a judge as examples, may not calibrate it. The
split is by query, since two documents of one query are not independent, and by the query's text
alone: it needs no file, and a list that grows moves no query from one part to the other.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from relgate.eval.lists.types import JudgmentList, Query, Source
from relgate.judge.types import Candidate, Example
from relgate.rubrics import Rubric
from relgate.rubrics.errors import HonestyError, InputError, UsageError

__all__ = [
    "NOTHING_DECLARED",
    "SALT",
    "TUNING_SHARE",
    "Hygiene",
    "Part",
    "check_hygiene",
    "few_shot_examples",
    "kept_apart",
    "split_hash",
    "split_of",
    "take_part",
]

Part = Literal["tuning", "calibration"]
"""`tuning` queries may shape a judge, `calibration` queries may measure it."""

TUNING_SHARE = 0.2
SALT = "relgate-split-1"

_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Hygiene:
    """What was kept apart from the labels that measure a judge.

    Attributes:
        tuning_queries: queries that shaped the judge, as far as declared: shown as examples, or
            used to write its rubric.
        tuning_hash: hex SHA-256 of them; None where none is declared.
        split_hash: of the split that the labels were taken from; None where all were taken.
        left_out: labels of the split's tuning part.
    """

    tuning_queries: int = 0
    tuning_hash: str | None = None
    split_hash: str | None = None
    left_out: int = 0


NOTHING_DECLARED = Hygiene()
"""No tuning query is known, and no split was made."""


def kept_apart(
    labels: JudgmentList, tuning: Iterable[Query], *, split: bool
) -> tuple[JudgmentList, Hygiene]:
    """The labels that may measure a judge, and the record of what was kept apart.

    Queries are the same when their texts are, and by id where one of the two has no text.

    Args:
        labels: all labels.
        tuning: the queries that shaped the judge.
        split: leave out the labels of the tuning part first.

    Raises:
        HonestyError: a query of `tuning` is among the labels that are left.
    """
    shaping = list(tuning)
    texts, ids = {_key(q.shown) for q in shaping}, {_key(q.id) for q in shaping}
    bare = {_key(q.id) for q in shaping if q.text is None}
    kept = take_part(labels, "calibration") if split else labels
    measuring: list[Query] = [kept.queries[int(i)] for i in np.unique(kept.query)]
    both = [
        q.shown
        for q in measuring
        if _key(q.shown) in texts or _key(q.id) in bare or (q.text is None and _key(q.id) in ids)
    ]
    check_hygiene(both, both)
    return kept, Hygiene(
        tuning_queries=len(texts),
        tuning_hash=_digest(*sorted(texts)).hex() if texts else None,
        split_hash=split_hash(q.shown for q in labels.queries) if split else None,
        left_out=len(labels) - len(kept),
    )


def split_of(query: str, *, tuning_share: float = TUNING_SHARE, salt: str = SALT) -> Part:
    """The part that a query belongs to, by a hash of its text.

    Texts are compared in NFC, without regard to case and blanks: `Red  shoes` tells a judge all
    about `red shoes`.

    Args:
        query: the query's text.
        tuning_share: the expected share of tuning queries, 0 to 1. Raising it moves queries from
            calibration to tuning and none back.
        salt: another salt is another split.

    Raises:
        UsageError: a share that is no number from 0 to 1.
    """
    if not 0 <= tuning_share <= 1:
        raise UsageError(f"tuning_share is {tuning_share}; it must be from 0 to 1")
    at = int.from_bytes(_digest(salt, _key(query))[:8]) / 2**64
    return "tuning" if at < tuning_share else "calibration"


def take_part(
    judgments: JudgmentList,
    part: Part,
    *,
    tuning_share: float = TUNING_SHARE,
    salt: str = SALT,
) -> JudgmentList:
    """The judgments of one part's queries; the other queries stay listed, without rows.

    Raises:
        UsageError: as `split_of`.
    """
    ours = np.array(
        [
            split_of(q.shown, tuning_share=tuning_share, salt=salt) == part
            for q in judgments.queries
        ],
        bool,
    )
    return judgments.take(ours[judgments.query])


def split_hash(
    queries: Iterable[str], *, tuning_share: float = TUNING_SHARE, salt: str = SALT
) -> str:
    """Hex SHA-256 over which part each of `queries` is in, to be kept with a calibration.

    Order, repeats, and how a text is composed do not matter.

    Raises:
        UsageError: as `split_of`.
    """
    parts = {_key(q): split_of(q, tuning_share=tuning_share, salt=salt) for q in queries}
    return _digest(*(text for key in sorted(parts) for text in (key, parts[key]))).hex()


def check_hygiene(example_queries: Iterable[str], calibration_queries: Iterable[str]) -> None:
    """Refuses a calibration on queries that shaped the judge.

    Args:
        example_queries: of the examples shown to the judge, or used to write its rubric.
        calibration_queries: of the labels that would measure it.

    Raises:
        HonestyError: a query is among both.
    """
    shaping = {_key(query) for query in example_queries}
    both = {_key(q): q for q in calibration_queries if _key(q) in shaping}
    if both:
        shown = ", ".join(repr(both[key]) for key in sorted(both)[:_SHOWN])
        more = f" and {len(both) - _SHOWN} more" if len(both) > _SHOWN else ""
        raise HonestyError(
            f"{len(both)} calibration quer{'y is' if len(both) == 1 else 'ies are'} among those "
            f"that shaped the judge, as examples or tuning labels: {shown}{more}; a judge that was "
            "shown the answer agrees with it: tune on the tuning part, calibrate on the other"
        )


@dataclass(frozen=True, slots=True)
class _Pick:
    """A labelled pair that may be an example; the order of `lot` is the seed's."""

    example: Example
    grade: int
    rank: int
    lot: bytes


def few_shot_examples(
    judgments: JudgmentList,
    candidate_of: Callable[[str], Candidate | None],
    *,
    rubric: Rubric,
    per_grade: int,
    seed: int,
    tuning_share: float = TUNING_SHARE,
    salt: str = SALT,
) -> tuple[Example, ...]:
    """Labelled pairs of tuning queries to show to a judge, `per_grade` of each grade.

    People's labels come before those of a rule or an import; a judge's are never used. Among
    equals a query that has no example yet comes first, then the lot. The order of the list does
    not matter. The result's own order is by lot, so that grades do not stand in a row.

    Args:
        judgments: the labels.
        candidate_of: the text of a document, or None where it has none.
        rubric: names the grades.
        per_grade: examples of each grade, 1 or more. A grade gets fewer when the tuning queries
            have no more: count the result's labels.
        seed: another seed draws another lot.
        tuning_share: as `split_of`.
        salt: as `split_of`.

    Raises:
        UsageError: `per_grade` below 1, a rubric of another scale, or as `split_of`.
        InputError: no usable pair at all.
    """
    if per_grade < 1:
        raise UsageError(f"per_grade is {per_grade}; it must be 1 or more")
    if rubric.max_grade != judgments.scale.max_grade:
        raise UsageError(
            f"rubric {rubric.tag} grades 0 to {rubric.max_grade}, and the list is on scale "
            f"{judgments.scale.name}"
        )
    tuning = take_part(judgments, "tuning", tuning_share=tuning_share, salt=salt)
    picks = _picks(tuning, candidate_of, rubric, seed)
    if not picks:
        raise InputError(
            "no tuning query has a label by people, a rule or an import on a document with a text",
            mend="label more queries, or raise the tuning share",
        )
    chosen = _spread(picks, per_grade)
    return tuple(pick.example for pick in sorted(chosen, key=lambda pick: pick.lot))


def _picks(
    tuning: JudgmentList,
    candidate_of: Callable[[str], Candidate | None],
    rubric: Rubric,
    seed: int,
) -> list[_Pick]:
    picks: list[_Pick] = []
    for row in tuning.rows():
        if row.provenance.source is Source.JUDGE:
            continue
        candidate = candidate_of(row.doc_id)
        if candidate is None or not candidate.text.strip():
            continue
        query = row.query.shown
        label = rubric.label_for_grade(row.grade).code
        lot = _digest(str(seed), _key(query), candidate.text, row.doc_id)
        example = Example(query, candidate.text, label)
        picks.append(_Pick(example, row.grade, row.provenance.source.rank, lot))
    return picks


def _spread(picks: list[_Pick], per_grade: int) -> list[_Pick]:
    """At most `per_grade` of each grade; the rarest grade first, as it has the least choice."""
    sizes = Counter(pick.grade for pick in picks)
    uses: Counter[str] = Counter()
    chosen: list[_Pick] = []
    for grade in sorted(sizes, key=lambda grade: (sizes[grade], grade)):
        left = [pick for pick in picks if pick.grade == grade]
        for _ in range(min(per_grade, len(left))):
            best = min(left, key=lambda p: (-p.rank, uses[_key(p.example.query)], p.lot))
            left.remove(best)
            uses[_key(best.example.query)] += 1
            chosen.append(best)
    return chosen


def _key(query: str) -> str:
    folded = unicodedata.normalize("NFC", query).casefold()
    return unicodedata.normalize("NFC", " ".join(folded.split()))


def _digest(*parts: str) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8) + data)
    return digest.digest()
