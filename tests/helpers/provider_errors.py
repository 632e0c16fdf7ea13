"""What a failed call raises, and all that hangs on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from relgate.judge.types import CallError

__all__ = ["everything_of", "failed"]


def failed(ask: Callable[..., Any], *args: Any, **kwargs: Any) -> CallError:
    """The failure that `ask` ends in."""
    with pytest.raises(CallError) as caught:
        ask(*args, **kwargs)
    return caught.value


def everything_of(error: BaseException) -> str:
    """All texts that a traceback or a log could show of it, its causes included."""
    chain: list[str] = []
    link: BaseException | None = error
    while link is not None:
        chain.append(f"{link!r} {link} {vars(link)!r}")
        link = link.__cause__ or link.__context__
    return " ".join(chain)
