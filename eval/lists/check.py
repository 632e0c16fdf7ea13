"""What is wrong or odd in a judgment list, as findings. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from relgate.eval.lists.grades_used import GradesUsed, no_zero, two_grades
from relgate.eval.lists.notes import oddities
from relgate.eval.lists.sink import ListFile
from relgate.eval.lists.types import JudgmentList

__all__ = ["Finding", "check_list", "near_form"]

_SHOWN = 5
_NOT_WORD = re.compile(r"[\W_]+")
_ZEROS = re.compile(r"0*(?=[0-9])")


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of thing found in a list.

    Attributes:
        kind: its name, for machines.
        what: what it is, for people.
        count: how many.
        examples: the first of them.
        fault: whether it is a fault to mend; else it is worth knowing.
    """

    kind: str
    what: str
    count: int
    examples: tuple[str, ...]
    fault: bool = True


def check_list(file: ListFile) -> tuple[Finding, ...]:
    """All findings of a list that was read with a policy that settles conflicts; faults first."""
    judgments = file.judgments
    texts = [q.text for q in judgments.queries if q.text is not None and q.text != q.id]
    names = dict.fromkeys([*(q.id for q in judgments.queries), *texts, *judgments.doc_id])
    used = GradesUsed.of(judgments)
    found = [
        _finding("conflicts", "pair(s) with two grades", [c.shown for c in file.conflicts]),
        *_odd(names),
        _finding(
            "leading-zeros", "group(s) of ids that differ in leading zeros only",
            _groups(dict.fromkeys(judgments.doc_id), _without_zeros),
        ),
        _finding(
            "near-equal-queries", "group(s) of queries alike but for case, blanks or marks",
            _groups(dict.fromkeys(q.shown for q in judgments.queries), near_form),
        ),
        _one_grade(judgments),
        _said("no-zero", no_zero(used)),
        _said("two-grades", two_grades(used)),
        Finding("repeats", "row(s) that say again what another said", file.repeats, ()),
        Finding("outranked", "row(s) overruled by people", file.outranked, (), fault=False),
        Finding("unlabelled", "pair(s) without a grade", file.unlabelled, (), fault=False),
        _bare(judgments),
    ]  # fmt: skip
    return tuple(sorted((f for f in found if f.count), key=lambda finding: not finding.fault))


def near_form(text: str) -> str:
    """A query without regard to case, width, blanks and marks; the order of words counts."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _NOT_WORD.sub(" ", folded).strip() or folded


def _without_zeros(doc_id: str) -> str:
    return _ZEROS.sub("", doc_id, count=1)


def _finding(kind: str, what: str, examples: Sequence[str]) -> Finding:
    return Finding(kind, what, len(examples), tuple(examples[:_SHOWN]))


def _groups(names: Iterable[str], form: Callable[[str], str]) -> list[str]:
    """The names that share a form, a text a group."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(form(name), []).append(name)
    return [", ".join(map(repr, group)) for group in groups.values() if len(group) > 1]


def _odd(names: Iterable[str]) -> list[Finding]:
    found: dict[str, list[str]] = {}
    for name in names:
        for what in oddities(name):
            found.setdefault(what, []).append(repr(name))
    return [
        _finding(what.replace(" ", "-"), f"text(s) with a fault: {what}", examples)
        for what, examples in found.items()
    ]


def _one_grade(judgments: JudgmentList) -> Finding:
    grades = set(judgments.grade.tolist())
    same = len(judgments) > 1 and len(grades) == 1
    return Finding("one-grade", f"grade(s) only: every pair has {grades}", int(same), ())


def _said(kind: str, said: str | None) -> Finding:
    return Finding(kind, said or "", int(said is not None), (), fault=False)


def _bare(judgments: JudgmentList) -> Finding:
    judged = set(judgments.query.tolist())
    bare = [repr(q.shown) for place, q in enumerate(judgments.queries) if place not in judged]
    return Finding(
        "bare", "queries without a judgment", len(bare), tuple(bare[:_SHOWN]), fault=False
    )
