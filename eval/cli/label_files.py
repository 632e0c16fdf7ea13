"""Writes what people answered as a list. I/O."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from relgate.eval.cli.common import Output
from relgate.eval.label.answers import read_kept
from relgate.eval.label.export import board_of, every_answer, labels
from relgate.eval.lists.types import SCALES, Scale
from relgate.eval.lists.write import write_list
from relgate.eval.project import scale_named
from relgate.rubrics.errors import UsageError

__all__ = ["list_format", "write_labels"]

_FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".json": "json", ".parquet": "parquet"}


def list_format(out: Path) -> str:
    """The format that a path's ending names.

    Raises:
        UsageError: it names none that carries the whole list.
    """
    if out.suffix not in _FORMATS:
        raise UsageError(f"{out}: end it in {', '.join(_FORMATS)}")
    return _FORMATS[out.suffix]


def write_labels(
    output: Output, answers: Path, out: Path, *, every: bool = False, scale: str | None = None
) -> dict[str, Any]:
    """Writes the list of a file of answers, and says what is in it.

    Args:
        output: where to say it.
        answers: the file of answers.
        out: the list.
        every: a row a rater and a pair, instead of one a pair.
        scale: the scale by name; None takes 0-3, or what fits the rubric.

    Returns:
        The same for machines.

    Raises:
        InputError: as `read_kept`.
        UsageError: a scale that does not fit, or an ending that names no format.
        PlatformError: the list cannot be written.
    """
    kept = read_kept(answers)
    if kept.torn:
        output.remark(
            f"{answers}: a last line was cut short ({kept.torn} bytes); it was never acknowledged"
        )
    board = board_of(kept.answers)
    if every:
        text = every_answer(board, out)
        output.file(out, text)
        n = sum(len(board.grades(pair)) for pair in board.tasks)
        output.line(f"{n:,} grades of {len(board.raters):,} raters in {out}")
        return {"out": str(out), "grades": n, "raters": len(board.raters)}
    found = labels(board, _scale(scale, kept.head.max_grade))
    write_list(out, found.judgments, format=list_format(out))
    output.line(
        f"{len(found.judgments):,} judgments in {out}: {found.several:,} by several raters, "
        f"{found.settled:,} of them settled; {found.disputed:,} in dispute left out"
    )
    return {
        "out": str(out),
        "judgments": len(found.judgments),
        "several": found.several,
        "settled": found.settled,
        "disputed": found.disputed,
    }


def _scale(name: str | None, max_grade: int) -> Scale:
    if name is None:
        fits = (scale for scale in SCALES.values() if scale.max_grade == max_grade)
        return next(fits, Scale(f"0-{max_grade}", max_grade))
    scale = scale_named(name).once_read
    if scale.max_grade != max_grade:
        raise UsageError(f"people graded 0 to {max_grade}; scale {name} is 0 to {scale.max_grade}")
    return scale
