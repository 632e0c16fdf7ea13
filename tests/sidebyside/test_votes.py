"""Votes on disk: nothing acknowledged is lost, nothing of another comparison is mixed in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from relgate.eval.appended import AppendedFile, read_answers
from relgate.eval.sidebyside.tally import tally_votes
from relgate.eval.sidebyside.votes import VoteFile, head_of, read_votes
from relgate.rubrics.errors import InputError, PlatformError, UsageError


@pytest.fixture
def head(many):
    return head_of(many(5), before="old", after="new")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "votes.jsonl"


def test_votes_come_back_as_they_were_given(path, head, vote):
    given = [vote("q0", "after", note='"ניסוי" \u2028 </script>'), vote("q1", "skip")]
    with VoteFile(path, head) as kept:
        for one in given:
            kept.add(one)
    assert read_votes(path) == (head, given)
    with VoteFile(path, head) as again:
        assert again.votes == given


def test_the_same_answer_twice_is_one_line_and_another_answer_is_one_more(path, head, vote):
    with VoteFile(path, head) as kept:
        kept.add(vote("q0", "after"))
        kept.add(replace(vote("q0", "after"), at="later"))
        kept.add(vote("q0", "before"))
    _, votes = read_votes(path)
    assert [v.prefers for v in votes] == ["after", "before"]
    assert tally_votes(votes).before == 1


def test_votes_on_other_runs_are_refused(path, head, many):
    VoteFile(path, head).close()
    with pytest.raises(InputError, match=r"votes\.jsonl:1: .*key differ"):
        VoteFile(path, replace(head, key=many(5, seed=1).key))


def test_a_second_server_on_one_file_is_refused(path, head):
    with VoteFile(path, head), pytest.raises(UsageError, match="another relgate"):
        VoteFile(path, head)


def test_a_last_line_cut_short_is_passed_over_and_the_next_writer_removes_it(path, head, vote):
    with VoteFile(path, head) as kept:
        kept.add(vote("q0", "after"))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"rater": "ann", "qu')
    assert len(read_votes(path)[1]) == 1
    with VoteFile(path, head) as kept:
        assert kept.torn == 20
    assert path.read_bytes() == whole


@pytest.mark.parametrize("keep", [0, 1, 40])
def test_a_head_cut_short_is_written_anew(path, head, keep):
    VoteFile(path, head).close()
    path.write_bytes(path.read_bytes()[:keep])
    VoteFile(path, head).close()
    assert read_votes(path) == (head, [])


@pytest.mark.parametrize("text", ["my notes", "my notes\n", '{"kind": "other"}\n'])
def test_a_file_of_anything_else_is_left_as_it_is(path, head, text):
    path.write_text(text)
    with pytest.raises(InputError):
        VoteFile(path, head)
    assert path.read_text() == text


def test_a_line_that_is_no_vote_is_named(path, head):
    VoteFile(path, head).close()
    with path.open("a") as file:
        file.write(json.dumps({"rater": "ann"}) + "\n")
    with pytest.raises(InputError, match=r"votes\.jsonl:2: no vote"):
        read_votes(path)


def test_a_full_disk_is_said_and_leaves_nothing_behind(path, head, vote, monkeypatch):
    with VoteFile(path, head) as kept:
        kept.add(vote("q0", "after"))
        whole = path.read_bytes()
        write = os.write

        def half(file: int, data: bytes) -> int:
            write(file, data[:10])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "write", half)
        with pytest.raises(PlatformError, match="No space left"):
            kept.add(vote("q1", "after"))
        assert path.read_bytes() == whole
        assert len(kept.votes) == 1


_WRITER = """
import sys
from pathlib import Path
from relgate.eval.appended import AppendedFile
with AppendedFile(Path(sys.argv[1]), {"kind": "test"}) as file:
    for i in range(10**6):
        file.add({"i": i, "text": "x" * 3000})
        print(i, flush=True)
"""


def test_what_was_acknowledged_outlives_a_kill(tmp_path):
    for round_ in range(5):
        path = tmp_path / f"{round_}.jsonl"
        with subprocess.Popen(  # noqa: S603 - ours
            [sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for _ in range(20 + 7 * round_):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
            told = 20 + 7 * round_ + len(process.stdout.readlines())
        found = [row["i"] for _, row in read_answers(path, kind="test").rows]
        assert found == list(range(len(found)))
        assert len(found) >= told
        with AppendedFile(path, {"kind": "test"}) as file:
            file.add({"i": -1})
        assert read_answers(path, kind="test").rows[-1][1] == {"i": -1}
