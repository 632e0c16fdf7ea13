"""A cache as JSON lines: carried from one machine to another, checked on the way in. I/O.

A line is a stored row with its key in front and its checksum at the end, so that import(export(x))
is x. The checksum finds damage; it is no signature: import only what you would believe.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from pydantic import ValidationError

from relgate.cache.base import Store
from relgate.cache.rows import StoredRow, encode_row
from relgate.rubrics.errors import InputError

__all__ = ["Imported", "export_rows", "import_rows"]

_KEY: Final = re.compile("[0-9a-f]{64}")
_AT_ONCE: Final = 1_000
_MAX_LINE_CHARS: Final = 100_000  # a row has a few hundred


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did.

    Attributes:
        stored: grades that were not there.
        there: grades that were there already, and stay as they are.
    """

    stored: int
    there: int


def export_rows(rows: Iterable[tuple[str, StoredRow]], file: BinaryIO) -> int:
    """Write `rows` as JSON lines in UTF-8; how many."""
    count = 0
    for key, row in rows:
        file.write(f'{{"key":"{key}",{encode_row(row, key=key)[1:]}\n'.encode())
        count += 1
    return count


def import_rows(path: str | Path, store: Store) -> Imported:
    """Store the rows of a file of `export_rows`; what is there already is not replaced.

    All lines are checked before the first is stored.

    Raises:
        InputError: the file cannot be read, or a line is no whole row of ours; nothing is stored.
        CacheUnavailableError: the rows could not be stored.
    """
    for _ in _read(path):
        pass
    stored = there = 0
    for chunk in _chunks(_read(path)):
        known = store.get_many(chunk)
        new = {key: text for key, text in chunk.items() if key not in known}
        stored += store.put_many(new)
        there += len(known)
    return Imported(stored=stored, there=there)


def _chunks(rows: Iterable[tuple[str, str]]) -> Iterator[dict[str, str]]:
    chunk: dict[str, str] = {}
    for key, text in rows:
        chunk[key] = text
        if len(chunk) == _AT_ONCE:
            yield chunk
            chunk = {}
    if chunk:
        yield chunk


def _read(path: str | Path) -> Iterator[tuple[str, str]]:
    try:
        with Path(path).open(encoding="utf-8") as file:
            number = 0
            while line := file.readline(_MAX_LINE_CHARS):
                number += 1
                if line.strip():
                    yield _row(line, path, number)
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "not UTF-8 text"
        raise InputError(f"cannot be read: {said}", path=path) from error


def _row(line: str, path: str | Path, number: int) -> tuple[str, str]:
    """The key and the text to store of one line.

    The row is written anew and must come out with the same checksum; so spaces and the order of
    fields, which other tools change, do not matter.
    """
    try:
        fields = json.loads(line)
        key, checksum = fields.pop("key"), fields.pop("checksum")
        row = StoredRow.model_validate(fields)
    except (ValueError, RecursionError, KeyError, AttributeError, TypeError, ValidationError):
        raise _fault("no cached grade", path, number) from None
    if not isinstance(key, str) or _KEY.fullmatch(key) is None:
        raise _fault("its key is no key of a grade", path, number)
    text = encode_row(row, key=key)
    if not text.endswith(f',"checksum":"{checksum}"}}'):
        raise _fault("its checksum does not fit: the line was altered", path, number)
    return key, text


def _fault(what: str, path: str | Path, number: int) -> InputError:
    return InputError(what, path=path, line=number, mend="export the cache again")
