"""Finds what is wrong with a rubric before a judge is paid to follow it. Pure.

An error makes the rubric unusable or its grades mean something else; a warning makes it worse
than it could be. Texts are searched for English phrasing only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from relgate.rubrics.types import Label, LabelExample, Rubric

__all__ = ["EXAMPLES_A_GRADE", "MAX_SYSTEM_CHARS", "Problem", "lint_rubric", "structure_problems"]

EXAMPLES_A_GRADE = 3
"""Positive, and negative, examples that each grade wants (golden-query guide)."""

MAX_SYSTEM_CHARS = 6_000
"""About two pages. The text is sent with every call, and people should be able to hold it."""

_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TAG_VERSION = re.compile(r"-v\d+$")
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}")
_TAKEN_FIELDS = frozenset({"id", "reason", "grades"})  # the reply schema's own

_ASKS = (  # an order: at the head of a sentence, or after a word that makes it one
    r"(?:^|[.;:!?\n]\s*|\b(?:must|should|please|always|only|you|to|then|and)\s+)"
    r"(?:answer|give|output|print|produce|reply|respond|return|write)\b"
)
_NOT_ENDED = r"(?:(?![.;:]\s).){0,80}?"  # the rest of the sentence, no further
_OTHER_FORMAT = re.compile(
    rf"{_ASKS}{_NOT_ENDED}\b(xml|yaml|csv|html|markdown|comma[- ]separated|tab[- ]separated"
    r"|(?:only|just|single|one) (?:a |an |the |single )*(?:number|digit|integer|word|letter|score)"
    r"|single line)\b",
    re.IGNORECASE | re.DOTALL,
)
_JSON_KEY = re.compile(r"[\"'“](\w{1,40})[\"'”]\s*:")
_MARKUP = re.compile(
    r"</?[A-Za-z_]\w{0,30}>|^\s*#{1,3}\s*final score\b", re.IGNORECASE | re.MULTILINE
)
_SCALE = re.compile(
    r"\b(?:scale|score|rate|rating|grade)s?\b(?:(?![.;:]\s).){0,40}?"
    r"\b(\d{1,3})\s*(?:-|\u2013|to|and|through)\s*(\d{1,3})\b",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a rubric.

    Attributes:
        severity: `error` or `warning`.
        message: what is wrong.
        mend: what to do about it.
    """

    severity: Literal["error", "warning"]
    message: str
    mend: str


def lint_rubric(rubric: Rubric) -> tuple[Problem, ...]:
    """What is wrong with `rubric`, errors first; empty for a clean one.

    A rubric whose structure is at fault gets no further check: the others rest on it.
    """
    found = list(structure_problems(rubric))
    if not found:
        found = [problem for check in _CHECKS for problem in check(rubric)]
    return tuple(sorted(found, key=lambda problem: problem.severity != "error"))


def structure_problems(rubric: Rubric) -> Iterator[Problem]:
    """What keeps a rubric from being used at all. `parse_rubric` raises the first."""
    yield from _unusable_labels(rubric)
    if not _TAG.fullmatch(rubric.tag):
        yield Problem(
            "error",
            f"tag {rubric.tag!r} is not letters, digits, '.', '_', '-'",
            "name it as in shoes-v1",
        )
    if not _FIELD.fullmatch(rubric.label_field) or rubric.label_field in _TAKEN_FIELDS:
        yield Problem(
            "error",
            f"label_field {rubric.label_field!r} cannot be a field of the reply",
            f"use a plain word other than {', '.join(sorted(_TAKEN_FIELDS))}",
        )
    if not rubric.system.strip():
        yield Problem("error", "the system text is empty", "write it below the head")


def _unusable_labels(rubric: Rubric) -> Iterator[Problem]:
    grades = sorted(label.grade for label in rubric.labels)
    if len(grades) < 2 or grades != list(range(len(grades))):  # noqa: PLR2004 - two answers or more
        yield Problem("error", f"grades are {grades}, not 0, 1, 2 ...", "give each its own grade")
    elif not 0 < rubric.floor <= grades[-1]:
        yield Problem("error", f"floor {rubric.floor} is not a grade above 0", "see [[labels]]")
    names = [x.casefold() for label in rubric.labels for x in {label.code, label.name}]
    if len(set(names)) != len(names):
        yield Problem("error", "two labels share a code or a name", "make them distinct")
    for name in ("code", "name"):
        if any(getattr(x, name) != getattr(x, name).strip(" .,;:!\t\n") for x in rubric.labels):
            yield Problem("error", f"a label's {name} has blanks or stops around it", "remove them")
    if not all(names):
        yield Problem("error", "a label has an empty code or name", "give each both")


def _tag(rubric: Rubric) -> Iterator[Problem]:
    if not _TAG_VERSION.search(rubric.tag):
        yield Problem(
            "warning",
            f"tag {rubric.tag!r} names no version of the methodology",
            f"end it in one: {rubric.tag}-v1",
        )


def _length(rubric: Rubric) -> Iterator[Problem]:
    if len(rubric.system) > MAX_SYSTEM_CHARS:
        yield Problem(
            "warning",
            f"the system text has {len(rubric.system):,} characters, more than "
            f"{MAX_SYSTEM_CHARS:,}, and is sent with every call",
            "shorten it; examples for people belong into the head",
        )


def _labels_told(rubric: Rubric) -> Iterator[Problem]:
    for label in rubric.labels:
        if not _mentions(rubric.system, label.code, any_case=len(label.code) > 1):
            yield Problem(
                "error",
                f"the system text does not say what label {label.code!r} means",
                f"name it there, as in '{label.code} ({label.name}) — ...'",
            )
        if not _mentions(rubric.system, label.name, any_case=True):
            yield Problem(
                "warning",
                f"the system text does not use the name {label.name!r} of label {label.code!r}",
                "use one word for one thing",
            )


def _mentions(text: str, word: str, *, any_case: bool) -> bool:
    flags = re.IGNORECASE if any_case else 0
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, flags) is not None


def _reply_format(rubric: Rubric) -> Iterator[Problem]:
    mend = f"leave the format out: the schema asks for id, {rubric.label_field} and reason"
    for found in (_OTHER_FORMAT.search(rubric.system), _MARKUP.search(rubric.system)):
        if found is not None:
            shown = " ".join(found.group().split())
            yield Problem("error", f"the system text asks for another reply: {shown!r}", mend)
    keys = dict.fromkeys(_JSON_KEY.findall(rubric.system))
    odd = [key for key in keys if key not in _TAKEN_FIELDS | {rubric.label_field}]
    if odd:
        shown = ", ".join(repr(key) for key in odd)
        yield Problem("error", f"the system text asks for fields {shown}, not in the reply", mend)


def _scale(rubric: Rubric) -> Iterator[Problem]:
    """A scale in words that is not the labels' own: `rate from 0 to 10` under grades 0 to 3."""
    numbers = sorted(int(x.code) for x in rubric.labels if x.code.isdecimal())
    ours = {(numbers[0], numbers[-1])} if numbers else {(0, rubric.max_grade)}
    for low, high in _SCALE.findall(rubric.system):
        pair = (min(int(low), int(high)), max(int(low), int(high)))
        if pair not in ours:
            codes = ", ".join(label.code for label in rubric.labels)
            yield Problem(
                "error",
                f"the system text speaks of a scale {low} to {high}, and the labels are {codes}",
                "make them agree",
            )


def _example_counts(rubric: Rubric) -> Iterator[Problem]:
    for label in rubric.labels:
        for kind, examples in (("positive", label.positive), ("negative", label.negative)):
            if len(set(examples)) < EXAMPLES_A_GRADE:
                yield Problem(
                    "warning",
                    f"grade {label.grade} ({label.name}) has {len(set(examples))} {kind} "
                    f"example(s), and people want {EXAMPLES_A_GRADE}",
                    "add what raters argued about",
                )


def _example_conflicts(rubric: Rubric) -> Iterator[Problem]:
    owner: dict[tuple[str, str], Label] = {}
    for label in rubric.labels:
        for example in label.positive:
            other = owner.setdefault(_pair(example), label)
            if other is not label:
                yield Problem(
                    "error",
                    f"the pair {example.query!r}, {example.text!r} is a positive example of both "
                    f"{other.name} and {label.name}",
                    "decide on one",
                )
        for example in label.negative:
            if _pair(example) in {_pair(x) for x in label.positive}:
                yield Problem(
                    "error",
                    f"the pair {example.query!r}, {example.text!r} is both a positive and a "
                    f"negative example of {label.name}",
                    "decide on one",
                )


def _pair(example: LabelExample) -> tuple[str, str]:
    query, text = (" ".join(x.casefold().split()) for x in (example.query, example.text))
    return query, text


_CHECKS: tuple[Callable[[Rubric], Iterator[Problem]], ...] = (
    _tag,
    _length,
    _labels_told,
    _reply_format,
    _scale,
    _example_counts,
    _example_conflicts,
)
