"""What the files' own scores say beside ours. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from relgate.eval.lists.types import JudgmentList
from relgate.eval.metrics.align import Axis
from relgate.eval.metrics.crosscheck import crosscheck
from relgate.eval.metrics.types import RunScores
from relgate.eval.runs.types import Run

__all__ = ["cross_checks"]

_SHOWN_MISMATCHES = 5


def cross_checks(
    judgments: JudgmentList, runs: Sequence[Run], axis: Axis, scores: Sequence[RunScores]
) -> tuple[str, ...]:
    """One sentence for each file that is reproduced, and for each score that is not."""
    out: list[str] = []
    for i, run in enumerate(runs):
        if run.given is None:
            continue
        found = crosscheck(judgments, run, axis, i, scores[i])
        if found.not_checked is not None:
            out.append(f"{run.name}: {found.not_checked}")
        if found.compared and not found.mismatches:
            out.append(f"{run.name}: all {found.compared} scores in the file are reproduced")
        for mismatch in found.mismatches[:_SHOWN_MISMATCHES]:
            what = "the aggregate" if mismatch.query is None else f'"{mismatch.query.shown}"'
            out.append(
                f"{run.name}: {what} is {mismatch.given:.4f} in the file and {mismatch.ours:.4f} "
                f"here: {mismatch.explanation}"
            )
        more = len(found.mismatches) - _SHOWN_MISMATCHES
        if more > 0:
            out.append(f"{run.name}: {more} more scores differ")
    return tuple(out)
