"""A diff beside what the author says of the change. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from relgate.eval.detect.detect import Found
from relgate.eval.review.change import ChangeDescription
from relgate.eval.wording import counted

__all__ = ["diff_remarks", "with_diff"]


def with_diff(change: ChangeDescription, found: Found) -> ChangeDescription:
    """The change with what its diff shows; its types are the diff's where nobody said any."""
    if change.types:
        return replace(change, detected=found.detected)
    return replace(
        change, detected=found.detected, types=found.kinds, types_from_diff=bool(found.kinds)
    )


def diff_remarks(change: ChangeDescription, found: Found) -> tuple[str, ...]:
    """What the diff leaves open, one sentence each; a type that contradicts is R1's to say."""
    return tuple(_remarks(change, found))


def _remarks(change: ChangeDescription, found: Found) -> Iterator[str]:
    files = counted(found.files, "file")
    if not found.detected:
        yield f"the diff changes {files} and no search configuration that is known here"
    else:
        for kind in change.types:
            if kind not in found.kinds:
                yield f"the change is said to be {kind}, and the diff shows none of that"
    yield from (f"diff: {what}" for what in found.unclear)
