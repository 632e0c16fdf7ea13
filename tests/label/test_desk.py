"""What raters may do: kept at once, kept once, taken back, sealed by a look at the judge."""

from __future__ import annotations

from itertools import count

import pytest

from relgate.eval.label.answers import KIND, AnswerFile, Head, read_kept
from relgate.eval.label.board import Board
from relgate.eval.label.desk import Desk, Outcome, rater_name
from relgate.eval.label.types import Act, JudgeGrade, tasks_key
from relgate.rubrics import load_rubric
from relgate.rubrics.errors import InputError, UsageError

RUBRIC = load_rubric("esci-v1")


@pytest.fixture
def open_desk(tasks, tmp_path):
    """Opens the same file of answers, once more each time."""
    opened = []

    def make(n=3, *, judge=None):
        while opened:
            opened.pop().__exit__()
        made = tasks(n)
        head = Head(KIND, tasks_key(made), n, RUBRIC.version, RUBRIC.max_grade)
        file = AnswerFile(tmp_path / "answers.jsonl", head)
        opened.append(file)
        clock = count()
        return Desk(
            Board(made), file, RUBRIC, judge=judge or {},
            now=lambda: f"2026-11-30T10:00:{next(clock):02}+00:00", running=lambda: 0.0,
        )  # fmt: skip

    yield make
    while opened:
        opened.pop().__exit__()


def lines(tmp_path):
    return len((tmp_path / "answers.jsonl").read_text().splitlines()) - 1


def keys(desk):
    return list(desk.board.by_key)


def test_an_answer_is_in_the_file_with_rater_time_and_the_text_that_was_seen(open_desk, tmp_path):
    desk = open_desk()
    task = desk.next_for("ann")
    assert desk.grade("ann", "id1", task.key, 3, "  fits  ") is Outcome.SAVED
    (kept,) = read_kept(tmp_path / "answers.jsonl").answers
    assert (kept.rater, kept.grade, kept.note, kept.doc_id) == ("ann", 3, "fits", "d0")
    assert kept.at == "2026-11-30T10:00:00+00:00"
    assert kept.text_hash == task.text_hash


def test_a_desk_opened_again_goes_on_where_it_stopped(open_desk):
    desk = open_desk()
    desk.grade("ann", "id1", keys(desk)[0], 3, "")
    desk.skip("ann", "id2", keys(desk)[1], "product", "")
    again = open_desk()
    assert again.next_for("ann").doc_id == "d2"
    assert again.undo("ann", "id3", "id2") is Outcome.UNDONE
    assert open_desk().next_for("ann").doc_id == "d1"


def test_an_answer_sent_twice_counts_once(open_desk, tmp_path):
    desk = open_desk()
    for _ in range(2):
        assert desk.grade("ann", "id1", keys(desk)[0], 3, "") is Outcome.SAVED
    assert lines(tmp_path) == 1
    assert open_desk().grade("ann", "id1", keys(desk)[0], 3, "") is Outcome.SAVED  # after a kill
    assert lines(tmp_path) == 1


def test_a_resend_that_comes_after_its_undo_does_not_bring_it_back(open_desk, tmp_path):
    desk = open_desk()
    desk.grade("ann", "id1", keys(desk)[0], 3, "")
    desk.undo("ann", "id2", "id1")
    assert desk.grade("ann", "id1", keys(desk)[0], 3, "") is Outcome.SAVED
    assert desk.board.last("ann") is None
    assert lines(tmp_path) == 2


def test_the_same_grade_from_two_tabs_is_one_and_another_is_refused(open_desk, tmp_path):
    desk = open_desk()
    assert desk.grade("ann", "tab1", keys(desk)[0], 3, "") is Outcome.SAVED
    assert desk.grade("ann", "tab2", keys(desk)[0], 3, "") is Outcome.SAVED
    assert desk.grade("ann", "tab3", keys(desk)[0], 1, "") is Outcome.ELSEWHERE
    assert desk.skip("ann", "tab4", keys(desk)[0], "other", "") is Outcome.ELSEWHERE
    assert lines(tmp_path) == 1
    assert not Outcome.ELSEWHERE.kept


def test_an_undo_sent_twice_takes_one_answer_back(open_desk):
    desk = open_desk()
    desk.grade("ann", "id1", keys(desk)[0], 3, "")
    desk.grade("ann", "id2", keys(desk)[1], 3, "")
    assert desk.undo("ann", "u1", "id2") is Outcome.UNDONE
    assert desk.undo("ann", "u1", "id2") is Outcome.UNDONE
    assert desk.board.last("ann").id == "id1"


def test_nobody_takes_back_what_another_said(open_desk):
    desk = open_desk()
    desk.grade("ann", "id1", keys(desk)[0], 3, "")
    assert desk.undo("ben", "u1", "id1") is Outcome.NOTHING
    assert desk.undo("ann", "u2", "no such") is Outcome.NOTHING
    assert desk.board.last("ann").grade == 3


def test_after_a_look_at_the_judge_the_answer_stands(open_desk, tasks):
    pair = tasks(1)[0].pair
    desk = open_desk(judge={pair: JudgeGrade(0, "no")})
    assert desk.reveal("ann", "r0", "id1") is Outcome.NOTHING  # before answering
    desk.grade("ann", "id1", keys(desk)[0], 3, "")
    desk.grade("ann", "id2", keys(desk)[1], 3, "")
    assert desk.reveal("ann", "r1", "id1") is Outcome.REVEALED
    assert desk.reveal("ben", "r2", "id1") is Outcome.NOTHING
    assert desk.reveal("ann", "r3", "id2") is Outcome.NOTHING  # the judge did not grade it
    assert desk.undo("ann", "u1", "id1") is Outcome.SEALED
    again = open_desk(judge={pair: JudgeGrade(0)})
    assert again.undo("ann", "u2", "id1") is Outcome.SEALED
    assert again.undo("ann", "u3", "id2") is Outcome.UNDONE


def test_what_cannot_be_meant_is_refused(open_desk, tmp_path):
    desk = open_desk()
    with pytest.raises(UsageError, match="grade 7"):
        desk.grade("ann", "id1", keys(desk)[0], 7, "")
    with pytest.raises(UsageError, match="no such pair"):
        desk.grade("ann", "id1", "nothing", 3, "")
    with pytest.raises(UsageError, match="no reason 'bored'"):
        desk.skip("ann", "id1", keys(desk)[0], "bored", "")
    assert lines(tmp_path) == 0


def test_a_torn_last_line_is_passed_over_and_said(open_desk, tmp_path):
    desk = open_desk()
    desk.grade("ann", "id1", keys(desk)[0], 3, "")
    with (tmp_path / "answers.jsonl").open("a") as file:
        file.write('{"id": "id2", "act": "gra')
    assert read_kept(tmp_path / "answers.jsonl").torn == 25
    desk = open_desk()
    assert desk.board.last("ann").id == "id1"
    desk.grade("ann", "id3", keys(desk)[1], 2, "")
    assert [a.id for a in read_kept(tmp_path / "answers.jsonl").answers] == ["id1", "id3"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "x"}', "act: Field required"),
        ('{"id": "x", "act": "praise", "rater": "r", "query_id": "q", "doc_id": "d", "at": ""}',
         "act: Input should be"),
        ("nonsense", "answers.jsonl:2"),
        ("[]", "no JSON object"),
    ],
)  # fmt: skip
def test_a_whole_line_that_is_no_answer_is_refused_with_its_place(line, said, open_desk, tmp_path):
    open_desk()
    with (tmp_path / "answers.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InputError, match=r"answers\.jsonl:2") as caught:
        read_kept(tmp_path / "answers.jsonl")
    assert said in str(caught.value)


def test_answers_on_other_pairs_are_not_gone_on_with(open_desk):
    open_desk(3)
    with pytest.raises(InputError, match="key, pairs differ"):
        open_desk(4)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (" Ann \t B ", "Ann B"),
        ("A\u0308nn", "\u00c4nn"),
        ("evil\u202ename", "evilname"),
        ("\u0645\u06cc\u200c\u0645", "\u0645\u06cc\u200c\u0645"),
        ("a\nb\x00c", "a b c"),
        ("<script>", "<script>"),
        ("", None),
        (" \u200b ", None),
        ("x" * 60, "x" * 60),
        ("x" * 61, None),
    ],
)
def test_names_are_one_plain_line(typed, kept):
    assert rater_name(typed) == kept


def test_acts_are_those_of_the_file():
    assert [act.value for act in Act] == ["grade", "skip", "undo", "reveal"]
