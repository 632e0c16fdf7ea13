"""What changed between two rubrics, and what that costs: grades, certificates. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff

from relgate.rubrics.types import LabelExample, Rubric

__all__ = ["RubricDiff", "diff_rubrics"]

# One sentence or clause a line, its blanks kept: a rubric is often a single long line.
_CLAUSE = re.compile(r".+?(?:[.;:!?](?:[ \t]+|(?=\n)|$)|(?=\n)|$)|\n")


@dataclass(frozen=True, slots=True)
class RubricDiff:
    r"""What changed from one rubric to another.

    Attributes:
        before: version of the first.
        after: version of the second.
        system: unified diff of the system texts, a clause a line, an end of line shown as `\n`.
        head: what else a judge would be told or allowed differently, a sentence each.
        floor: (before, after) where the floor changed, else None.
        examples: what changed for people, a sentence each.
    """

    before: str
    after: str
    system: tuple[str, ...]
    head: tuple[str, ...]
    floor: tuple[int, int] | None
    examples: tuple[str, ...]

    @property
    def version_changes(self) -> bool:
        """Whether the judge's version is another: tag or system text changed."""
        return self.before != self.after

    @property
    def grades_kept(self) -> bool:
        """Whether paid grades in a cache and calibration certificates still fit.

        Both are kept by the judge's version and by its fingerprint, which holds the labels, the
        reply's field and the prompt's nouns. The floor is in neither: it decides what a
        calibration measured, not what the judge answers.
        """
        return not self.version_changes and not self.head

    @property
    def empty(self) -> bool:
        """Whether nothing changed at all."""
        return self.grades_kept and self.floor is None and not self.examples


def diff_rubrics(before: Rubric, after: Rubric) -> RubricDiff:
    """What changed from `before` to `after`."""
    lines = unified_diff(
        _CLAUSE.findall(before.system),
        _CLAUSE.findall(after.system),
        fromfile=before.version,
        tofile=after.version,
        lineterm="",
    )
    return RubricDiff(
        before=before.version,
        after=after.version,
        system=tuple(line.replace("\n", "\\n") for line in lines),
        head=(*_head(before, after), *_labels(before, after)),
        floor=None if before.floor == after.floor else (before.floor, after.floor),
        examples=tuple(_examples(before, after)),
    )


def _head(before: Rubric, after: Rubric) -> Iterator[str]:
    for name in ("label_field", "label_noun", "candidate_noun"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield f"{name}: {old!r} -> {new!r}"


def _labels(before: Rubric, after: Rubric) -> Iterator[str]:
    old, new = ({label.code: label for label in x.labels} for x in (before, after))
    for code in dict.fromkeys((*old, *new)):
        if code not in new:
            yield f"label {code!r} ({old[code].name}, grade {old[code].grade}) removed"
        elif code not in old:
            yield f"label {code!r} ({new[code].name}, grade {new[code].grade}) added"
        else:
            for name in ("name", "grade"):
                was, now = getattr(old[code], name), getattr(new[code], name)
                if was != now:
                    yield f"label {code!r} {name}: {was!r} -> {now!r}"


def _examples(before: Rubric, after: Rubric) -> Iterator[str]:
    old, new = ({label.code: label for label in x.labels} for x in (before, after))
    for code in (code for code in old if code in new):  # another's come and go with their label
        a, b = old[code], new[code]
        for kind, was, now in (
            ("positive", a.positive, b.positive),
            ("negative", a.negative, b.negative),
        ):
            yield from (f"label {code!r}: {kind} {x}" for x in _moved(was, now))


def _moved(was: tuple[LabelExample, ...], now: tuple[LabelExample, ...]) -> Iterator[str]:
    for mark, these, others in (("removed", was, now), ("added", now, was)):
        for example in these:
            if example not in others:
                yield f"example {mark}: {example.query!r}, {example.text!r} ({example.why})"
