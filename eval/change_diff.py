"""Reads the types of change from a unified diff, git's form or plain. I/O."""

from __future__ import annotations

from pathlib import Path

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, PatchedFile, PatchSet

from relgate.eval.detect.detect import DiffFile, DiffHunk, DiffLine, Found, detect
from relgate.eval.files import read_text
from relgate.rubrics.errors import InputError

__all__ = ["read_diff"]

_MEND = "make it with: git diff main...HEAD > pr.diff"


def read_diff(path: Path) -> Found:
    """What a diff changes, by type.

    Raises:
        InputError: it cannot be read, is no unified diff, or is cut short.
    """
    text = read_text(path)
    try:
        patch = PatchSet(text)
    except UnidiffParseError as error:
        why = " ".join(str(error).split())[:200]
        raise InputError(f"no whole unified diff: {why}", path=path, mend=_MEND) from None
    if not patch:
        raise InputError("no unified diff in it", path=path, mend=_MEND)
    return detect(_file(file) for file in patch)


def _file(file: PatchedFile) -> DiffFile:
    return DiffFile(str(file.path), tuple(_hunk(hunk) for hunk in file))


def _hunk(hunk: Hunk) -> DiffHunk:
    return DiffHunk(
        tuple(
            DiffLine(str(line.value).rstrip("\r\n"), str(line.line_type), number)
            for line in hunk
            if (number := line.target_line_no or line.source_line_no) is not None
        )
    )
