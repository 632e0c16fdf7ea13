"""Answers as a judgment list: whose row counts, what is left out; and what the owner sees."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from relgate.eval.label.board import Board
from relgate.eval.label.export import board_of, every_answer, labels
from relgate.eval.label.figures import figures
from relgate.eval.label.types import Act
from relgate.eval.lists.types import SCALES, Source
from relgate.rubrics.errors import UsageError


def rows(found):
    return {row.doc_id: row for row in found.judgments.rows()}


def test_a_row_has_rater_time_note_and_text_hash(tasks, answer):
    given = answer(tasks(1)[0], "ann", 3, note="fits")
    (row,) = rows(labels(board_of([given]), SCALES["0-3"])).values()
    assert (row.grade, row.provenance.source) == (3, Source.HUMAN)
    assert (row.provenance.rater, row.provenance.judged_at) == ("ann", given.at)
    assert (row.reason, row.text_hash, row.query.text) == ("fits", given.text_hash, "query 0")


@pytest.mark.parametrize(
    ("grades", "grade", "rater"),
    [
        ([3], 3, "r0"),
        ([3, 3], 3, "r0"),
        ([3, 0], None, None),  # a third decides
        ([3, 0, 3], 3, None),
        ([3, 0, 1], 1, None),  # the middle one, which is nobody's own verdict
        ([0, 0, 3], 0, None),
    ],
)
def test_differing_grades(grades, grade, rater, tasks, answer):
    (task,) = tasks(1)
    given = [answer(task, f"r{i}", g) for i, g in enumerate(grades)]
    found = labels(board_of(given), SCALES["0-3"])
    if grade is None:
        assert (len(found.judgments), found.disputed) == (0, 1)
        return
    (row,) = rows(found).values()
    assert (row.grade, row.provenance.rater) == (grade, rater)
    assert found.settled == (len(set(grades)) > 1)


def test_what_was_taken_back_or_skipped_is_no_judgment(tasks, answer):
    one, two, three = tasks(3)
    first = answer(one, "ann", 3)
    given = [first, answer(two, "ann"), answer(three, "ann", 1)]
    given.append(answer(one, "ann", act=Act.UNDO, of=first.id))
    assert list(rows(labels(board_of(given), SCALES["0-3"]))) == ["d2"]


def test_every_answer_is_a_row_a_rater_guarded_for_spreadsheets(tasks, answer):
    (task,) = tasks(1)
    given = [answer(task, "=ann", 3, note='=HYPERLINK("x")'), answer(task, "ben", 1)]
    table = list(csv.DictReader(io.StringIO(every_answer(board_of(given), Path("all.csv")))))
    assert [(row["rater"], row["grade"]) for row in table] == [("'=ann", "3"), ("ben", "1")]
    assert table[0]["reason"] == '\'=HYPERLINK("x")'
    lines = every_answer(board_of(given), Path("all.jsonl")).splitlines()
    assert [json.loads(line)["rater"] for line in lines] == ["=ann", "ben"]
    with pytest.raises(UsageError, match="end it in"):
        every_answer(board_of(given), Path("all.xlsx"))


def test_no_answer_gives_a_table_without_rows():
    assert every_answer(board_of([]), Path("all.csv")).count("\n") == 1


def test_kappa_of_two_raters_is_cohens(tasks, answer):
    """Two raters, four pairs: 1 1 0 0 against 1 0 0 0; Cohen's kappa is 0.5 by hand."""
    made = tasks(4)
    board = Board(made)
    for task, one, two in zip(made, (1, 1, 0, 0), (1, 0, 0, 0), strict=True):
        board.take([answer(task, "ann", one), answer(task, "ben", two)])
    found = figures(board, n_grades=4)
    (pair,) = found.agreement
    assert (pair.pairs, pair.same) == (4, 0.75)
    assert pair.kappa == pytest.approx(0.5)
    assert found.undefined is None
    assert found.progress.disputed == 1


def test_agreement_that_cannot_be_told_is_undefined_and_not_a_number(tasks, answer):
    made = tasks(2)
    board = Board(made)
    assert figures(board, n_grades=4).undefined == "undefined: 0 rater, and agreement takes two"
    board.take([answer(made[0], "ann", 3), answer(made[1], "ben", 3)])
    found = figures(board, n_grades=4)
    assert found.undefined == "undefined: no two raters graded the same pair"
    assert (found.agreement, found.alpha) == ((), None)


def test_work_of_each_rater_is_counted(tasks, answer):
    made = tasks(3)
    board = Board(made)
    board.take([answer(made[0], "ann", 3), answer(made[1], "ann", skip="query")])
    found = figures(board, n_grades=4)
    (work,) = found.raters
    assert (work.graded, work.skipped, work.left) == (1, 1, 1)
    assert found.skips == {"query": 1}
