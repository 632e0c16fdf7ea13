"""Reads rubric files. `parse_rubric` is pure, the rest I/O.

A rubric file is Markdown: a TOML head between two `+++` lines, then the system text to the
letter. `version` is `<tag>@<sha256(system text)[:8]>`, so that an edited rubric is another judge.

    +++
    tag = "shoes-v1"
    floor = 1                         # least grade that counts as relevant
    label_field = "grade"             # the label's field in the reply
    label_noun = "grade"              # what the prompt calls a label
    candidate_noun = "products"       # and what it calls the things judged

    [[labels]]
    code = "1"
    name = "Fits"
    grade = 1
    positive = [{ query = "red shoes", text = "Red canvas shoe", why = "a shoe, and red" }]
    negative = [{ query = "red shoes", text = "Red socks", why = "Misses: no shoe" }]

    [[labels]]
    ...
    +++
    You are a judge of shoes. Classify ...

`positive` and `negative` are for people: `relgate rubric show` prints them for raters. They are not
sent to the model and are not in the version. A positive example has the label; a negative
one looks as if it had, and its `why` says which it has instead.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar, cast

from relgate.rubrics.errors import InputError
from relgate.rubrics.lint import structure_problems
from relgate.rubrics.types import Label, LabelExample, Rubric

__all__ = [
    "ESCI_JUDGE_SYSTEM",
    "PROJECT_FOLDER",
    "RubricSource",
    "builtin_names",
    "find_rubric",
    "load_rubric",
    "parse_rubric",
    "rubric_files",
]

PROJECT_FOLDER = "rubrics"
"""Where a project keeps rubrics of its own, each as `<tag>.md`."""

_FENCE = "+++\n"
_BUILTIN = ("esci-v1", "graded-v1", "binary-v1")
_HEAD_KEYS = ("tag", "floor", "label_field", "label_noun", "candidate_noun", "labels")
_LABEL_KEYS = ("code", "name", "grade", "positive", "negative")
_EXAMPLE_KEYS = ("query", "text", "why")

T = TypeVar("T", str, int)


@dataclass(frozen=True, slots=True)
class RubricSource:
    """A rubric's text before it is parsed.

    Attributes:
        place: the file, as a message names it.
        text: what it holds.
        builtin: whether it ships with relgate.
    """

    place: str
    text: str
    builtin: bool = False

    def parse(self) -> Rubric:
        """The rubric. Raises InputError as `parse_rubric`."""
        return parse_rubric(self.text, path=self.place)


def parse_rubric(text: str, *, path: str | Path | None = None) -> Rubric:
    """A rubric from the text of its file.

    Raises:
        InputError: no head, a head that is not TOML, a missing, unknown or odd key, or a rubric
            that cannot be used (`relgate.rubrics.lint.structure_problems`).
    """
    parts = text.removeprefix("\ufeff").replace("\r\n", "\n").split(_FENCE, 2)
    if len(parts) != 3 or parts[0].strip():  # noqa: PLR2004 - before, head, body
        raise InputError(
            "no TOML head between two '+++' lines",
            path=path,
            line=1,
            mend="start the file with '+++', the head, '+++', then the system text",
        )
    head = _toml(parts[1], first_line=parts[0].count("\n") + 2, path=path)
    try:
        rubric = _rubric(head, parts[2].strip())
    except InputError as error:
        raise InputError(error.what, path=path, mend=error.mend) from None
    for problem in structure_problems(rubric):
        raise InputError(problem.message, path=path, mend=problem.mend)
    return rubric


def _toml(head: str, *, first_line: int, path: str | Path | None) -> dict[str, Any]:
    try:
        return tomllib.loads(head)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        raise InputError(
            f"the head is not TOML: {str(error)[: place.start()] if place else error}",
            path=path,
            line=first_line + int(place[1]) - 1 if place else None,
            mend="mend the head",
        ) from None


def _rubric(head: dict[str, Any], system: str) -> Rubric:
    _refuse_unknown(head, _HEAD_KEYS, "the head")
    labels = [_label(row) for row in _tables(head, "labels", "the head")]
    return Rubric(
        tag=_value(head, "tag", str, "the head"),
        system=system,
        labels=tuple(sorted(labels, key=lambda label: -label.grade)),
        floor=_value(head, "floor", int, "the head"),
        label_field=_value(head, "label_field", str, "the head"),
        label_noun=_value(head, "label_noun", str, "the head"),
        candidate_noun=_value(head, "candidate_noun", str, "the head"),
    )


def _label(row: dict[str, Any]) -> Label:
    code = _value(row, "code", str, "a label")
    place = f"label {code!r}"
    _refuse_unknown(row, _LABEL_KEYS, place)
    return Label(
        code=code,
        name=_value(row, "name", str, place),
        grade=_value(row, "grade", int, place),
        positive=_examples(row, "positive", place),
        negative=_examples(row, "negative", place),
    )


def _examples(row: dict[str, Any], key: str, place: str) -> tuple[LabelExample, ...]:
    if key not in row:
        return ()
    inner = f"a {key} example of {place}"
    tables = _tables(row, key, place)
    for table in tables:
        _refuse_unknown(table, _EXAMPLE_KEYS, inner)
    return tuple(
        LabelExample(*(_value(table, name, str, inner) for name in _EXAMPLE_KEYS))
        for table in tables
    )


def _value(table: dict[str, Any], key: str, kind: type[T], place: str) -> T:
    value = table.get(key)
    wanted = "text" if kind is str else "a whole number"
    if key not in table:
        raise InputError(f"{place} lacks {key!r}", mend=f"add it: {wanted}")
    if not isinstance(value, kind) or isinstance(value, bool):  # true is an int to Python
        raise InputError(f"{key} of {place} is {value!r:.60}", mend=f"make it {wanted}")
    if isinstance(value, str) and not value.strip():
        raise InputError(f"{key} of {place} is empty", mend="write it")
    return value


def _tables(table: dict[str, Any], key: str, place: str) -> list[dict[str, Any]]:
    value: object = table.get(key)
    rows = cast("list[object]", value) if isinstance(value, list) else None
    if rows is None or not all(isinstance(row, dict) for row in rows):
        state = "lacks" if key not in table else "misstates"
        shape = (
            "[[labels]] with code, name and grade"
            if key == "labels"
            else "a list of { query, text, why }"
        )
        raise InputError(f"{place} {state} {key!r}", mend=f"make it {shape}")
    return cast("list[dict[str, Any]]", rows)


def _refuse_unknown(table: dict[str, Any], known: tuple[str, ...], place: str) -> None:
    for key in table:
        if key not in known:
            near = get_close_matches(key, known, 1)
            mend = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
            raise InputError(f"{place} has an unknown key {key!r}", mend=mend)


def builtin_names() -> tuple[str, ...]:
    """The tags of the rubrics that ship with relgate."""
    return _BUILTIN


def rubric_files(folder: str | Path) -> tuple[Path, ...]:
    """The rubric files of a folder, by name: every `*.md` but a README.

    Raises:
        InputError: the folder is none.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError("is no folder", path=folder, mend="name the folder of your rubrics")
    files = (file for file in folder.glob("*.md") if file.is_file())
    return tuple(sorted(file for file in files if file.stem.casefold() != "readme"))


def find_rubric(name_or_path: str | Path, *, folder: str | Path | None = None) -> RubricSource:
    """A rubric's text by built-in tag, by path, or by a tag of the project's own folder.

    Args:
        name_or_path: looked for in this order.
        folder: where tags are looked up, as `<folder>/<tag>.md`; by default `rubrics` beside what
            is named, so `shoes-v1` is `rubrics/shoes-v1.md`, and `shop/shoes-v1` is
            `shop/rubrics/shoes-v1.md`.

    Raises:
        InputError: no such rubric, or it cannot be read as text.
    """
    if str(name_or_path) in _BUILTIN:
        name = f"{name_or_path}.md"
        text = resources.files("relgate.rubrics").joinpath(name).read_text("utf-8")
        return RubricSource(name, text, builtin=True)
    path = Path(name_or_path)
    tagged = (
        Path(folder if folder is not None else path.parent / PROJECT_FOLDER) / f"{path.name}.md"
    )
    for candidate in (path, tagged):
        if _is_file(candidate):
            return RubricSource(str(candidate), _text(candidate))
    raise InputError(
        f"no rubric {str(name_or_path)!r}: no built-in tag, no file, no {tagged}",
        mend=f"name a file, or one of: {', '.join(_BUILTIN)}",
    )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # not to be looked into; a NUL character in the name
        return False


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text", path=path, mend="save it as UTF-8") from None
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", path=path, mend="give read permission"
        ) from None


def load_rubric(
    name_or_path: str | Path = "esci-v1", *, folder: str | Path | None = None
) -> Rubric:
    """A rubric by built-in tag, by path, or by a tag of the project's own folder.

    Args:
        name_or_path: as `find_rubric`.
        folder: as `find_rubric`.

    Raises:
        InputError: no such rubric, or its file is malformed.
    """
    return find_rubric(name_or_path, folder=folder).parse()


ESCI_JUDGE_SYSTEM: str = load_rubric("esci-v1").system
"""The system text of the ESCI rubric, to the letter."""
