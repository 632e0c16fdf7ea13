"""Who gets which pair, and what becomes of differing grades."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relgate.eval.label.board import HOLD_S, Board, dual_sample
from relgate.eval.label.types import Act, Answer, Task, tasks_key
from relgate.eval.lists.types import Query


def docs(board, rater, n, moment=0.0):
    """What a rater is shown, `n` times, without answering."""
    return [task and task.doc_id for task in (board.next_for(rater, moment) for _ in range(n))]


def test_pairs_come_in_order_and_each_once(tasks, answer):
    all_tasks = tasks(4)
    board = Board(all_tasks)
    seen = []
    while (task := board.next_for("ann", 0)) is not None:
        seen.append(task)
        board.take([answer(task, "ann", 3)])
    assert tuple(seen) == all_tasks
    assert board.progress().graded == 4


def test_a_page_that_is_loaded_again_shows_the_same_pair(tasks):
    assert docs(Board(tasks(4)), "ann", 3) == ["d0", "d0", "d0"]


def test_two_raters_at_once_get_different_pairs(tasks):
    board = Board(tasks(3))
    assert [*docs(board, "ann", 1), *docs(board, "ben", 1), *docs(board, "cem", 2)] == [
        "d0", "d1", "d2", "d2",
    ]  # fmt: skip
    assert board.next_for("dia", 0) is None


def test_a_pair_that_was_left_lying_goes_to_another(tasks):
    board = Board(tasks(1))
    board.next_for("ann", 0)
    assert board.next_for("ben", HOLD_S - 1) is None
    assert board.next_for("ben", HOLD_S).doc_id == "d0"


def test_a_pair_of_the_dual_sample_goes_to_two_raters_and_to_no_third(tasks, answer):
    (task,) = tasks(1)
    board = Board([task], dual=frozenset([task.pair]))
    assert docs(board, "ann", 1) == docs(board, "ben", 1) == ["d0"]
    assert board.next_for("cem", 0) is None
    board.take([answer(task, "ann", 3)])
    assert (board.progress().begun, board.progress().graded) == (1, 0)
    board.take([answer(task, "ben", 3)])
    assert (board.progress().begun, board.progress().graded) == (0, 1)
    assert board.next_for("cem", 0) is None


def test_where_two_differ_a_third_is_asked_before_anything_else(tasks, answer):
    all_tasks = tasks(3)
    board = Board(all_tasks, dual=frozenset([all_tasks[1].pair]))
    board.take([answer(all_tasks[1], "ann", 3), answer(all_tasks[1], "ben", 0)])
    assert board.progress().disputed == 1
    assert board.next_for("ann", 0).doc_id == "d0"
    assert board.next_for("cem", 0).doc_id == "d1"
    assert board.next_for("dia", 0).doc_id == "d2"  # cem holds it
    board.take([answer(all_tasks[1], "cem", 3)])
    assert board.progress().disputed == 0


def test_a_named_third_rater_alone_decides(tasks, answer):
    (task,) = tasks(1)
    board = Board([task], dual=frozenset([task.pair]), third="zoe")
    board.take([answer(task, "ann", 3), answer(task, "ben", 0)])
    assert board.next_for("cem", 0) is None
    assert board.next_for("Zoe", 0) is task


def test_what_one_skipped_goes_to_another_and_not_back(tasks, answer):
    (task,) = tasks(1)
    board = Board([task])
    board.take([answer(task, "ann")])
    assert board.next_for("ann", 0) is None
    assert board.next_for("ben", 0) is task
    assert board.progress().graded == 0


def test_an_answer_taken_back_comes_up_again_first(tasks, answer):
    all_tasks = tasks(3)
    board = Board(all_tasks)
    given = [answer(task, "ann", 2) for task in all_tasks[:2]]
    board.take(given)
    for earlier, doc in ((given[1], "d1"), (given[0], "d0")):
        board.take([answer(board.tasks[earlier.pair], "ann", act=Act.UNDO, of=earlier.id)])
        assert docs(board, "ann", 2) == [doc, doc]
    assert board.last("ann") is None
    assert board.left_for("ann") == 3
    board.take([answer(all_tasks[0], "ann", 1)])
    assert board.next_for("ann", 0).doc_id == "d1"


def test_answers_on_other_pairs_change_nothing(tasks, answer):
    stranger = Task(Query("q9"), "d9", "x")
    board = Board(tasks(1))
    board.take([answer(stranger, "ann", 3)])
    assert board.progress().graded == 0
    assert board.known("a0") is not None  # a resend is still known


def test_a_name_in_other_case_is_the_same_rater(tasks, answer):
    board = Board(tasks(1))
    board.take([answer(tasks(1)[0], "Ann", 3)])
    assert [board.named(name) for name in ("ann", "ANN", "Ben")] == ["Ann", "Ann", "Ben"]


@given(st.integers(1, 40), st.integers(0, 100))
def test_the_dual_sample_is_that_share_whatever_the_order(n, percent):
    made = [Task(Query(f"q{i}"), f"d{i}", "x") for i in range(n)]
    drawn = dual_sample(made, percent / 100)
    assert len(drawn) == -(-n * percent // 100)
    assert drawn == dual_sample(made[::-1], percent / 100)


def test_another_seed_is_another_dual_sample(tasks):
    assert dual_sample(tasks(40), 0.5) != dual_sample(tasks(40), 0.5, seed=1)


def test_another_text_is_another_set_of_tasks(tasks):
    one, two = tasks(2)
    changed = Task(two.query, two.doc_id, "title: product 1, now red")
    assert tasks_key([one, two]) == tasks_key(tasks(2))
    assert tasks_key([one, two]) != tasks_key([one, changed])


@pytest.mark.parametrize("raters", [1, 2, 3])
@given(seed=st.integers())
def test_whatever_raters_do_nobody_grades_a_pair_twice_and_all_ends(raters, seed):
    lot = random.Random(seed)  # noqa: S311 - a test
    made = [Task(Query(f"q{i}"), f"d{i}", "x") for i in range(6)]
    board = Board(made, dual=dual_sample(made, 0.5))
    names = [f"r{i}" for i in range(raters)]
    number = 0
    idle: set[str] = set()
    while len(idle) < raters:
        rater = lot.choice(names)
        task = board.next_for(rater, number)
        idle = idle | {rater} if task is None else set()
        if task is None:
            continue
        assert board.standing(rater, task) is None
        number += 1
        board.take([_answer(f"a{number}", rater, task, lot.randrange(4))])
    done = board.progress()
    assert all(len(board.grades(task.pair)) <= 3 for task in made)
    if raters == 3:
        assert (done.graded, done.disputed, done.begun) == (6, 0, 0)


def _answer(answer_id, rater, task, grade):
    return Answer(answer_id, Act.GRADE, rater, task.query.id, None, task.doc_id, "t", grade=grade)
