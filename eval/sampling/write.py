"""Writes labelling sheets, and never over people's work. I/O."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from relgate.eval.files import read_text, write_text_atomic
from relgate.eval.sampling.sheet import SheetRow, sheet_text
from relgate.rubrics.errors import UsageError

__all__ = ["spare_sheet", "write_sheet"]


def spare_sheet(path: Path, rows: Sequence[SheetRow], *, mend: str) -> None:
    """Refuses a place where another sheet lies: people may have written into it.

    Args:
        path: where the sheet would go.
        rows: what would be on it; the same sheet, still blank, may be written again.
        mend: what to do instead.

    Raises:
        UsageError: another sheet is there.
    """
    if path.exists() and read_text(path) != sheet_text(rows, path):
        raise UsageError(f"{path} is there already and may hold people's grades; {mend}")


def write_sheet(path: Path, rows: Sequence[SheetRow], *, mend: str) -> None:
    """Writes a sheet as a whole.

    Raises:
        UsageError: another sheet is there.
        InputError: a text that UTF-8 cannot carry.
        PlatformError: the file cannot be written.
    """
    spare_sheet(path, rows, mend=mend)
    write_text_atomic(path, sheet_text(rows, path))
