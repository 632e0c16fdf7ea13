"""Answers as a judgment list, and as a table of every answer. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from relgate.eval.label.board import Board
from relgate.eval.label.types import Answer, Task
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.csv_list import cell_text
from relgate.eval.lists.raters import Raters
from relgate.eval.lists.table import cell
from relgate.eval.lists.types import JudgmentList, Provenance, Query, Scale, Source
from relgate.rubrics.errors import UsageError

__all__ = ["Labels", "board_of", "every_answer", "labels"]

_ENDINGS = (".csv", ".jsonl")
_COLUMNS = (
    "query_id", "query", "doc_id", "grade", "source", "rater", "judged_at", "reason", "text_hash",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Labels:
    """What people's answers come to.

    Attributes:
        judgments: a row a pair, source human. Where all its raters agree the row is the first
            rater's; where three differ it is the middle grade, which is nobody's own.
        disputed: pairs on which two differ and no third has decided, left out.
        several: pairs of the list with more than one rater.
        settled: of those, the ones on which raters differed.
    """

    judgments: JudgmentList
    disputed: int
    several: int
    settled: int


def board_of(answers: Sequence[Answer]) -> Board:
    """The board of a file of answers alone: the pairs that somebody answered on."""
    pairs = {a.pair: Task(Query(a.query_id, a.query), a.doc_id, "") for a in answers}
    board = Board(tuple(pairs.values()))
    board.take(answers)
    return board


def labels(board: Board, scale: Scale) -> Labels:
    """The judgment list of a board."""
    builder = ListBuilder(scale, raters=Raters.MEDIAN)
    disputed = several = settled = 0
    for pair, task in board.tasks.items():
        grades = board.grades(pair)
        if board.disputed(pair):
            disputed += 1
            continue
        several += len(grades) > 1
        settled += len({answer.grade for answer in grades.values()}) > 1
        for answer in grades.values():
            _add(builder, task, answer)
    return Labels(builder.build(), disputed, several, settled)


def _add(builder: ListBuilder, task: Task, answer: Answer) -> None:
    if answer.grade is not None:
        builder.add(
            task.query,
            task.doc_id,
            answer.grade,
            Provenance(Source.HUMAN, rater=answer.rater, judged_at=answer.at),
            reason=answer.note or None,
            text_hash=answer.text_hash,
        )


def every_answer(board: Board, path: Path) -> str:
    """Every grade that stands, a row a rater and a pair: what `relgate agreement` reads.

    Args:
        board: the answers.
        path: its ending, `.csv` or `.jsonl`, says which format.

    Raises:
        UsageError: another ending.
    """
    if path.suffix not in _ENDINGS:
        raise UsageError(f"{path}: end it in {' or '.join(_ENDINGS)}")
    rows = [_row(a) for pair in board.tasks for a in board.grades(pair).values()]
    if path.suffix == ".jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    lines = [",".join(_COLUMNS)]
    lines += [",".join(_cell(name, row[name]) for name in _COLUMNS) for row in rows]
    return "\n".join(lines) + "\n"


def _row(answer: Answer) -> dict[str, str | int | None]:
    return {
        "query_id": answer.query_id,
        "query": answer.query,
        "doc_id": answer.doc_id,
        "grade": answer.grade,
        "source": Source.HUMAN.value,
        "rater": answer.rater,
        "judged_at": answer.at,
        "reason": answer.note or None,
        "text_hash": answer.text_hash,
    }


def _cell(name: str, value: str | int | None) -> str:
    return str(value) if isinstance(value, int) else cell(cell_text(name, value))
