"""Says what failed while a judge was asked: each kind at once when it is new, its count at the end.

A judge that fails fails often, and in the same words: a line a batch hides the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from relgate.eval.wording import counted

__all__ = ["Failures"]

_BATCH = re.compile(r"([0-9]+)( of [0-9]+)? candidate\(s\) (?P<what>.*)", re.DOTALL)
_SAID_AT_ONCE = 10


class Failures:
    """Takes the lines that a judge tells, one a batch that failed.

    Args:
        say: prints a line.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._seen: dict[str, list[int]] = {}  # the failure without its count -> candidates a batch

    def tell(self, line: str) -> None:
        """Says a failure that is new, and counts it."""
        batch = _BATCH.fullmatch(line)
        what = line if batch is None else batch["what"]
        known = self._seen.setdefault(what, [])
        known.append(0 if batch is None else int(batch[1]))
        if len(known) == 1 and len(self._seen) <= _SAID_AT_ONCE:
            self._say(line)

    def close(self) -> None:
        """Says how often each failure came that came more than once, and what was not said."""
        for what, candidates in list(self._seen.items())[:_SAID_AT_ONCE]:
            if len(candidates) > 1:
                self._say(f"{_in_all(candidates)} {what}")
        unsaid = list(self._seen.values())[_SAID_AT_ONCE:]
        if unsaid:
            batches = sum(map(len, unsaid))
            self._say(
                f"{counted(len(unsaid), 'more failure')} in other words, "
                f"in {counted(batches, 'batch', 'batches')}"
            )
        self._seen.clear()


def _in_all(candidates: list[int]) -> str:
    if not sum(candidates):
        return f"{len(candidates):,} times in all:"
    return f"in all {sum(candidates):,} candidate(s) of {len(candidates):,} batches"
