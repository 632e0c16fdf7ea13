"""What is wrong or odd in a judgment list, as findings. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from relgate.eval.lists.grades_used import GradesUsed, no_zero, two_grades
from relgate.eval.lists.notes import oddities
from relgate.eval.lists.sink import ListFile
from relgate.eval.lists.summary import ListSummary
from relgate.eval.lists.types import JudgmentList

__all__ = ["SHOWN", "Checked", "Finding", "HeldNames", "Names", "check_list", "near_form"]

SHOWN = 5
"""How many examples a finding has at most."""

_NOT_WORD = re.compile(r"[\W_]+")
_CONFLICTS, _BARE = "conflicts", "bare"
_ZEROS, _NEAR = "leading-zeros", "near-equal-queries"
_LEADING_ZEROS = re.compile(r"0*(?=[0-9])")


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


class Names(Protocol):
    """Takes names by kind, and tells which of them are alike or how many there are."""

    def add(self, kind: str, names: Iterable[tuple[str, str]]) -> None:
        """Takes (form, name) pairs; a name may come more than once."""
        ...

    def alike(self, kind: str) -> tuple[int, tuple[str, ...]]:
        """How many forms have several names, and the names of the first `SHOWN` forms."""
        ...

    def all(self, kind: str) -> tuple[int, tuple[str, ...]]:
        """How many names there are, and the first `SHOWN` of them."""
        ...


class HeldNames:
    """Names in memory, told in the order in which they came."""

    def __init__(self) -> None:
        self._firsts: dict[str, dict[str, str]] = {}
        self._more: dict[str, dict[str, dict[str, None]]] = {}  # most forms have one name

    def add(self, kind: str, names: Iterable[tuple[str, str]]) -> None:
        """As in `Names`."""
        firsts, more = self._firsts.setdefault(kind, {}), self._more.setdefault(kind, {})
        for form, name in names:
            first = firsts.setdefault(form, name)
            if first != name:
                more.setdefault(form, {first: None})[name] = None

    def alike(self, kind: str) -> tuple[int, tuple[str, ...]]:
        """As in `Names`."""
        more = self._more[kind]
        groups = [more[form] for form in self._firsts[kind] if form in more]
        return len(groups), tuple(", ".join(map(repr, names)) for names in groups[:SHOWN])

    def all(self, kind: str) -> tuple[int, tuple[str, ...]]:
        """As in `Names`."""
        more = self._more[kind]
        names = [n for form, name in self._firsts[kind].items() for n in more.get(form, (name,))]
        return len(names), tuple(map(repr, names[:SHOWN]))


class Checked:
    """Looks at a list, or at parts of it that have no query in common.

    Args:
        names: gathers the names, which parts may share.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._odd: dict[str, None] = {}
        self._summary: ListSummary | None = None
        self._firsts: dict[str, tuple[str, ...]] = {}
        self._counts: dict[str, int] = {}

    def add(self, file: ListFile) -> None:
        """Takes in a list that was read with a policy that settles conflicts."""
        judgments = file.judgments
        own = ListSummary.of(file)
        self._summary = own if self._summary is None else self._summary + own
        texts = [q.text for q in judgments.queries if q.text is not None and q.text != q.id]
        docs = dict.fromkeys(judgments.doc_id)
        self._look(dict.fromkeys([*(q.id for q in judgments.queries), *texts, *docs]))
        self._names.add(_ZEROS, ((_without_zeros(doc_id), doc_id) for doc_id in docs))
        shown = dict.fromkeys(q.shown for q in judgments.queries)
        self._names.add(_NEAR, ((near_form(query), query) for query in shown))
        self._count(_CONFLICTS, [conflict.shown for conflict in file.conflicts])
        self._count(_BARE, _bare(judgments))

    def _look(self, names: Iterable[str]) -> None:
        for name in names:
            for what in oddities(name):
                self._odd[what] = None
                self._names.add(what, [(name, name)])

    def _count(self, kind: str, found: list[str]) -> None:
        self._counts[kind] = self._counts.get(kind, 0) + len(found)
        self._firsts[kind] = (*self._firsts.get(kind, ()), *found)[:SHOWN]

    def findings(self) -> tuple[Finding, ...]:
        """All findings; faults first."""
        if self._summary is None:
            return ()
        summary = self._summary
        found = [
            self._counted(_CONFLICTS, "pair(s) with two grades"),
            *map(self._of_kind, self._odd),
            self._alike(_ZEROS, "group(s) of ids that differ in leading zeros only"),
            self._alike(_NEAR, "group(s) of queries alike but for case, blanks or marks"),
            _one_grade(summary.grades),
            _said("no-zero", no_zero(summary.grades)),
            _said("two-grades", two_grades(summary.grades)),
            Finding("repeats", "row(s) that say again what another said", summary.repeats, ()),
            Finding("outranked", "row(s) overruled by people", summary.outranked, (), fault=False),
            Finding("unlabelled", "pair(s) without a grade", summary.unlabelled, (), fault=False),
            self._counted(_BARE, "queries without a judgment", fault=False),
        ]
        return tuple(sorted((f for f in found if f.count), key=lambda finding: not finding.fault))

    def _of_kind(self, what: str) -> Finding:
        count, examples = self._names.all(what)
        kind, said = what.replace(" ", "-"), f"text(s) with a fault: {what}"
        return Finding(kind, said, count, examples)

    def _alike(self, kind: str, what: str) -> Finding:
        count, examples = self._names.alike(kind)
        return Finding(kind, what, count, examples)

    def _counted(self, kind: str, what: str, *, fault: bool = True) -> Finding:
        return Finding(kind, what, self._counts[kind], self._firsts[kind], fault)


def check_list(file: ListFile) -> tuple[Finding, ...]:
    """All findings of a list that was read with a policy that settles conflicts; faults first."""
    checked = Checked(HeldNames())
    checked.add(file)
    return checked.findings()


def near_form(text: str) -> str:
    """A query without regard to case, width, blanks and marks; the order of words counts."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _NOT_WORD.sub(" ", folded).strip() or folded


def _without_zeros(doc_id: str) -> str:
    return _LEADING_ZEROS.sub("", doc_id, count=1)


def _one_grade(grades: GradesUsed) -> Finding:
    used = {int(grade) for grade in grades.counts.nonzero()[0]}
    same = int(grades.counts.sum()) > 1 and len(used) == 1
    return Finding("one-grade", f"grade(s) only: every pair has {used}", int(same), ())


def _said(kind: str, said: str | None) -> Finding:
    return Finding(kind, said or "", int(said is not None), (), fault=False)


def _bare(judgments: JudgmentList) -> list[str]:
    judged = set(judgments.query.tolist())
    return [repr(q.shown) for place, q in enumerate(judgments.queries) if place not in judged]
