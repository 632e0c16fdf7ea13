"""A file of past runs, a line a combination of stages. I/O for the file, pure for the rest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from pydantic import FiniteFloat, TypeAdapter, ValidationError

from relgate.eval.drift.document import outcome
from relgate.eval.drift.types import Outcome, Report, Signal
from relgate.eval.files import load_content, write_text_atomic
from relgate.eval.lists.jsontext import json_lines
from relgate.rubrics.errors import InputError

__all__ = ["Entry", "append", "entries_of", "read_history"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One combination of stages of one past run.

    Attributes:
        at: ISO 8601 time.
        sha: the commit, or None.
        golden_version: the set.
        stages: the combination in words.
        means: {signal: mean}; None where it was no finite number.
        outcome: what the whole run came to, all combinations together.
    """

    at: str
    sha: str | None
    golden_version: str
    stages: str
    means: dict[Signal, FiniteFloat | None]
    outcome: Outcome


def entries_of(report: Report, *, at: str, sha: str | None) -> list[Entry]:
    """What the history keeps of a report; a figure that is not finite is kept as null."""
    return [
        Entry(
            at=at,
            sha=sha,
            golden_version=report.current.golden_version,
            stages=run.words,
            means={signal: v if isfinite(v) else None for signal, v in run.means.items()},
            outcome=outcome(report),
        )
        for run in report.current.runs
    ]


def read_history(path: Path) -> list[Entry]:
    """Every entry of a history, oldest first; none where there is no file.

    Raises:
        InputError: a line that is no entry.
    """
    if not path.exists():
        return []
    adapter: TypeAdapter[Entry] = TypeAdapter(Entry)
    found: list[Entry] = []
    content = load_content(path, text_only=True)
    for line, row in json_lines(content.text, content.path):
        try:
            found.append(adapter.validate_python(row))
        except ValidationError as error:
            what = f"no entry of a history: {error.errors()[0]['msg']}"
            raise InputError(what, path=path, line=line, mend="remove the line") from None
    return found


def append(path: Path, entries: Sequence[Entry]) -> list[Entry]:
    """Adds entries to a history, and gives all of it.

    Raises:
        InputError: the file is no history.
    """
    every = [*read_history(path), *entries]
    write_text_atomic(path, "".join(f"{_line(asdict(entry))}\n" for entry in every))
    return every


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
