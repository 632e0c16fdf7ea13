"""How a reader refuses a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from relgate.rubrics.errors import InputError

__all__ = ["refusal"]


def refusal(
    read: Callable[[Path], object], path: Path, word: str, *, line: int | None = None
) -> str:
    """The one line in which `read` refuses `path`: the file first, with the line and the mend."""
    with pytest.raises(InputError, match=word) as caught:
        read(path)
    error = caught.value
    assert str(error).startswith(str(path))
    assert "\n" not in str(error)
    assert error.mend
    assert error.line == line
    return str(error)
