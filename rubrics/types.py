"""What a rubric is: labels, grades, a system text, examples for people. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

__all__ = ["Label", "LabelExample", "Rubric"]


@dataclass(frozen=True, slots=True)
class LabelExample:
    """A pair that shows people what a label means. Never sent to a model.

    Attributes:
        query: the query.
        text: the candidate's text.
        why: why it has this label; for a negative example, which label it has instead.
    """

    query: str
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Label:
    """One answer a judge may give.

    Attributes:
        code: what the judge writes (`E`); compared without regard to case.
        name: the word for it (`Exact`); accepted in a reply in place of the code.
        grade: the relevance grade, 0 (irrelevant) and up.
        positive: pairs that have this label.
        negative: pairs that look as if they had it, and have another.
    """

    code: str
    name: str
    grade: int
    positive: tuple[LabelExample, ...] = ()
    negative: tuple[LabelExample, ...] = ()


@dataclass(frozen=True, slots=True)
class Rubric:
    """What a judge is told, and the answers it may give.

    Attributes:
        tag: the name that people give the methodology, `esci-v1`.
        system: the system text sent to the model, to the letter.
        labels: best grade first.
        floor: the least grade that counts as relevant.
        label_field: the name of the label's field in the reply schema.
        label_noun: what the prompt calls a label, `ESCI class`.
        candidate_noun: what the prompt calls the things judged, `products`.
    """

    tag: str
    system: str
    labels: tuple[Label, ...]
    floor: int
    label_field: str
    label_noun: str
    candidate_noun: str

    @property
    def sha256(self) -> str:
        """Hex SHA-256 of the system text; examples, which no model sees, are not in it."""
        return hashlib.sha256(self.system.encode()).hexdigest()

    @property
    def version(self) -> str:
        """`<tag>@<first 8 hex digits of the hash>`; part of every cache key."""
        return f"{self.tag}@{self.sha256[:8]}"

    @property
    def max_grade(self) -> int:
        """The best grade on this rubric's scale."""
        return max(label.grade for label in self.labels)

    @property
    def worst(self) -> Label:
        """The label of grade 0, which a failed row shows so that search goes on."""
        return min(self.labels, key=lambda label: label.grade)

    def label_of(self, text: str) -> Label | None:
        """The label that `text` names by code or by word, or None.

        Case, outer blanks and final punctuation do not matter.
        """
        key = text.strip().rstrip(".,;:!").strip().casefold()
        for label in self.labels:
            if key in (label.code.casefold(), label.name.casefold()):
                return label
        return None

    def label_for_grade(self, grade: int) -> Label:
        """The label of `grade`. Raises KeyError for a grade off the scale."""
        for label in self.labels:
            if label.grade == grade:
                return label
        raise KeyError(grade)
