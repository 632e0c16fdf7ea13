"""Whether an artifact may become the baseline, and the notes that go with it. Pure."""

from __future__ import annotations

import math

from relgate.eval.drift.types import Artifact
from relgate.rubrics.errors import UsageError

__all__ = ["accept", "with_entry"]

_SHOWN = 5


def accept(new: Artifact, rationale: str) -> Artifact:
    """The artifact, when it may become the baseline.

    Raises:
        UsageError: no rationale, a figure that is not finite, or core queries that failed: the
            next good run would look like a change.
    """
    if not rationale.strip():
        raise UsageError("no rationale; say with --rationale why the figures may change")
    for run in new.runs:
        bad = [signal.value for signal, value in run.means.items() if not math.isfinite(value)]
        if bad:
            raise UsageError(f"{', '.join(bad)} ({run.words}) is no finite number; measure again")
        failed = [query.id for query in run.queries if query.failed and query.set == "core"]
        if failed:
            more = f" and {len(failed) - _SHOWN} more" if len(failed) > _SHOWN else ""
            raise UsageError(
                f"{len(failed)} core queries failed ({run.words}): "
                f"{', '.join(failed[:_SHOWN])}{more}; a baseline needs a whole run"
            )
    return new


def with_entry(notes: str, entry: str) -> str:
    """The notes with an entry before the first there is."""
    first = notes.find("\n## ")
    if first < 0:
        return f"{notes.rstrip()}\n\n{entry}"
    return f"{notes[: first + 1]}{entry}\n{notes[first + 1 :]}"
