"""What a run has answered so far, a line an answer, so that a run that was stopped goes on. I/O."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from relgate.eval.harness.types import Answer, Hit

__all__ = ["Journal", "journal_key"]


def journal_key(parts: Mapping[str, Any]) -> str:
    """What a journal is of: another golden set, engine or stage is another journal."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Journal:
    """Answers kept in a file beside the run.

    A line that is cut short (the process was killed) is passed over; failures are asked again.

    Args:
        path: the file; another key in it means that it is of another run, and is begun anew.
        key: from `journal_key`.
    """

    def __init__(self, path: Path, key: str) -> None:
        self.path = path
        self._key = key
        self.answers = self._read()
        self._file: IO[str] | None = None

    def _read(self) -> dict[str, Answer]:
        if not self.path.is_file():
            return {}
        lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        if not lines or lines[0] != _head(self._key):
            return {}
        found = (_answer(line) for line in lines[1:])
        return {answer.query_id: answer for answer in found if answer is not None}

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        kept = [_head(self._key), *map(_line, self.answers.values())]
        self._file = self.path.open("w", encoding="utf-8")
        self._file.write("\n".join(kept) + "\n")
        self._file.flush()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, answer: Answer) -> None:
        """Keeps an answer; a failure is kept in memory alone."""
        self.answers[answer.query_id] = answer
        if self._file is not None and answer.failure is None:
            self._file.write(_line(answer) + "\n")
            self._file.flush()


def _head(key: str) -> str:
    return json.dumps({"journal": key})


def _line(answer: Answer) -> str:
    return json.dumps(
        {
            "query_id": answer.query_id,
            "latency_ms": answer.latency_ms,
            "tries": answer.tries,
            "about": dict(answer.about),
            "hits": [[hit.doc_id, hit.score, hit.title] for hit in answer.hits],
        },
        ensure_ascii=False,
    )


def _answer(line: str) -> Answer | None:
    try:
        value = json.loads(line)
        hits = tuple(Hit(*hit) for hit in value.pop("hits"))
        return Answer(**value, hits=hits)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
