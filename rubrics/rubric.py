"""A rubric: what each grade means, as a file with a content hash. Pure but for `load_rubric`.

A rubric file is Markdown: a TOML head between two `+++` lines, then the system text to the
letter. `version` is `<tag>@<sha256(system text)[:8]>`, so that an edited rubric is another judge.
"""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from relgate.rubrics.errors import InputError

__all__ = ["ESCI_JUDGE_SYSTEM", "Label", "Rubric", "builtin_names", "load_rubric", "parse_rubric"]

_FENCE = "+++"
_BUILTIN = ("esci-v1",)


@dataclass(frozen=True, slots=True)
class Label:
    """One answer a judge may give.

    Attributes:
        code: what the judge writes (`E`); compared without regard to case.
        name: the word for it (`Exact`); accepted in a reply in place of the code.
        grade: the relevance grade, 0 (irrelevant) and up.
    """

    code: str
    name: str
    grade: int


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
        """Hex SHA-256 of the system text."""
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


def parse_rubric(text: str, *, path: str | Path | None = None) -> Rubric:
    """A rubric from the text of its file.

    Raises:
        InputError: no head, a head that is not TOML, a missing or odd key, an empty system text.
    """
    parts = text.split(f"{_FENCE}\n", 2)
    if len(parts) != 3 or parts[0].strip():  # noqa: PLR2004 - before, head, body
        raise InputError(
            "no TOML head between two '+++' lines",
            path=path,
            line=1,
            mend="start the file with '+++', the head, '+++', then the system text",
        )
    try:
        head: dict[str, Any] = tomllib.loads(parts[1])
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"the head is not TOML: {error}", path=path, mend="mend the head"
        ) from error
    system = parts[2].strip()
    if not system:
        raise InputError("the system text is empty", path=path, mend="write it below the head")
    try:
        labels = tuple(
            Label(code=str(row["code"]), name=str(row["name"]), grade=int(row["grade"]))
            for row in head["labels"]
        )
        rubric = Rubric(
            tag=str(head["tag"]),
            system=system,
            labels=tuple(sorted(labels, key=lambda label: -label.grade)),
            floor=int(head["floor"]),
            label_field=str(head["label_field"]),
            label_noun=str(head["label_noun"]),
            candidate_noun=str(head["candidate_noun"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"the head lacks or misstates {error}",
            path=path,
            mend="it needs tag, floor, label_field, label_noun, candidate_noun, and [[labels]] "
            "with code, name and grade",
        ) from error
    _check(rubric, path)
    return rubric


def _check(rubric: Rubric, path: str | Path | None) -> None:
    grades = sorted(label.grade for label in rubric.labels)
    names = [x.casefold() for label in rubric.labels for x in {label.code, label.name}]
    if len(grades) < 2 or grades != list(range(len(grades))):  # noqa: PLR2004 - two answers or more
        raise InputError(
            f"grades are {grades}, not 0, 1, 2 ...", path=path, mend="give each label its own grade"
        )
    if len(set(names)) != len(names):
        raise InputError("two labels share a code or a name", path=path, mend="make them distinct")
    if not 0 < rubric.floor <= grades[-1]:
        raise InputError(
            f"floor {rubric.floor} is not a grade above 0", path=path, mend="see [[labels]]"
        )


def builtin_names() -> tuple[str, ...]:
    """The tags of the rubrics that ship with relgate."""
    return _BUILTIN


def load_rubric(name_or_path: str | Path = "esci-v1") -> Rubric:
    """A rubric by built-in tag or by path.

    Raises:
        InputError: no such rubric, or its file is malformed.
    """
    if str(name_or_path) in _BUILTIN:
        text = resources.files("relgate.rubrics").joinpath(f"{name_or_path}.md").read_text("utf-8")
        return parse_rubric(text, path=f"{name_or_path}.md")
    path = Path(name_or_path)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"no rubric {str(name_or_path)!r} ({type(error).__name__})",
            mend=f"name a file, or one of: {', '.join(_BUILTIN)}",
        ) from error
    return parse_rubric(text, path=path)


ESCI_JUDGE_SYSTEM: str = load_rubric("esci-v1").system
"""The system text of the ESCI rubric, to the letter."""
