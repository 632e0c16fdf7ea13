"""What the judge was asked, in the groups in which it was asked. I/O.

A request holds several documents, and which ones depends on what was in the cache at that moment.
The groups are therefore kept: a later look asks the judge for the very same ones, whatever came
into the cache since, and so finds the requests that were sent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from relgate.cache.keys import text_hash
from relgate.judge.types import Candidate
from relgate.rubrics.errors import PlatformError

__all__ = ["Units"]


class Units:
    """The groups of a job: a file of JSON lines, and an index in memory.

    Args:
        path: the file; what a crash left unfinished at its end is cut off.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._index: dict[bytes, tuple[int, int]] = {}
        self._places: list[tuple[int, int]] = []
        self._fresh: list[bytes] = []
        self._size = 0
        if path.exists():
            self._load()

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self._places)))

    def place(self, query: str, candidate: Candidate) -> tuple[int, int] | None:
        """(group, row in it) of a document; None when it is in none."""
        return self._index.get(_digest(query, candidate.text))

    def add(self, query: str, candidates: Sequence[Candidate]) -> int:
        """A new group, on disk after the next `seal`."""
        row = {"query": query, "candidates": [[c.id, c.text] for c in candidates]}
        line = json.dumps(row, separators=(",", ":")).encode() + b"\n"
        self._enter(query, [c.text for c in candidates], len(line))
        self._fresh.append(line)
        return len(self._places) - 1

    def get(self, number: int) -> tuple[str, list[Candidate]]:
        """A group's query and documents."""
        begin, length = self._places[number]
        late = number - (len(self._places) - len(self._fresh))
        if late >= 0:
            return _unit(self._fresh[late])
        with self._path.open("rb") as file:
            file.seek(begin)
            return _unit(file.read(length))

    def seal(self) -> None:
        """Writes new groups to the disk.

        Raises:
            PlatformError: they cannot be written.
        """
        if not self._fresh:
            return
        try:
            with self._path.open("ab") as file:
                file.writelines(self._fresh)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise PlatformError(f"{self._path}: cannot be written: {error.strerror}") from error
        self._fresh = []

    def _load(self) -> None:
        with self._path.open("rb+") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                query, candidates = _unit(line)
                self._enter(query, [c.text for c in candidates], len(line))
            file.truncate(self._size)

    def _enter(self, query: str, texts: Sequence[str], length: int) -> None:
        number = len(self._places)
        for row, text in enumerate(texts):
            self._index.setdefault(_digest(query, text), (number, row))
        self._places.append((self._size, length))
        self._size += length


def _unit(line: bytes) -> tuple[str, list[Candidate]]:
    row = json.loads(line)
    return row["query"], [Candidate(doc_id, text) for doc_id, text in row["candidates"]]


def _digest(query: str, text: str) -> bytes:
    return bytes.fromhex(text_hash(f"{len(query)}:{query}{text}"))[:16]
