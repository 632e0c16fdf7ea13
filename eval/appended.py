"""A file that people's answers are added to, a JSON line each, on disk before it is said. I/O.

The first line says what the answers are of. A last line that was cut short (a kill, a full disk)
was never acknowledged: it is passed over by readers, and removed by the next writer.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Self

from relgate.eval.files import read_raw, sync_folder
from relgate.eval.lists.jsontext import Json, parse_json
from relgate.rubrics.errors import InputError, PlatformError, UsageError

__all__ = ["Answers", "AppendedFile", "read_answers"]

_MODE = 0o600  # names of people, and what they think

Row = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Answers:
    """What such a file holds.

    Attributes:
        path: the file.
        head: its first line.
        rows: (line number, row), in the order in which they were added.
        torn: bytes of a last line that was cut short, 0 for none.
    """

    path: Path
    head: Row
    rows: tuple[tuple[int, Row], ...]
    torn: int


def read_answers(path: Path, *, kind: str) -> Answers:
    """The answers of a file; it is not changed.

    Args:
        path: the file.
        kind: what its head must say it is.

    Raises:
        InputError: no such file, of another kind, or a whole line that is no JSON object.
    """
    whole, end, torn = read_raw(path).rpartition(b"\n")
    rows = [
        (number, _row(line, path, number))
        for number, line in enumerate((whole + end).split(b"\n"), start=1)
        if line.strip()
    ]
    if not rows or rows[0][1].get("kind") != kind:
        raise InputError(f"no file of {kind}", path=path, mend="check the path")
    return Answers(path, rows[0][1], tuple(rows[1:]), len(torn))


class AppendedFile:
    """The one writer of such a file.

    Args:
        path: the file; made when it is not there.
        head: what the answers are of, with its `kind`. A file with another head is refused.

    Raises:
        InputError: as `read_answers`, or the file has another head.
        UsageError: another process writes to it.
        PlatformError: the disk or the permissions are at fault.
    """

    def __init__(self, path: Path, head: Mapping[str, Any]) -> None:
        self.path = path
        self._lock = Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, _MODE)
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            self._claim()
            self.found = self._begin(dict(head))
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets another process write."""
        os.close(self._file)

    def add(self, row: Mapping[str, Any]) -> None:
        """Adds one line; it is on disk when this returns. Safe to call from several threads.

        Raises:
            PlatformError: it could not be written; nothing of it is left in the file.
        """
        line = _line(row)
        with self._lock:
            size = os.fstat(self._file).st_size
            try:
                self._write(line)
            except OSError as error:
                os.ftruncate(self._file, size)
                raise self._unwritable(error) from error

    def _claim(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"{self.path}: another relgate writes to it; stop that one, or name another file"
            ) from error

    def _begin(self, head: Row) -> Answers:
        first = _line(head)
        size = os.fstat(self._file).st_size
        if size < len(first) and first.startswith(self.path.read_bytes()):  # new, or never begun
            os.ftruncate(self._file, 0)
            self.add(head)
            sync_folder(self.path.parent)
        found = read_answers(self.path, kind=str(head["kind"]))
        if found.head != head:
            other = sorted(k for k in {*head, *found.head} if head.get(k) != found.head.get(k))
            raise InputError(
                f"it holds answers on other inputs: {', '.join(other)} differ",
                path=self.path,
                line=1,
                mend="name another file, or give the inputs it was made with",
            )
        if found.torn:
            os.ftruncate(self._file, os.fstat(self._file).st_size - found.torn)
        return found

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)

    def _unwritable(self, error: OSError) -> PlatformError:
        return PlatformError(f"{self.path}: cannot be written: {error.strerror or error}")


def _line(row: Mapping[str, Any]) -> bytes:
    return json.dumps(dict(row)).encode() + b"\n"


def _row(line: bytes, path: Path, number: int) -> Row:
    value = parse_json(line.decode(errors="replace"), path, line=number)
    if not isinstance(value, dict):
        raise InputError("no JSON object", path=path, line=number, mend="remove the line")
    return value
