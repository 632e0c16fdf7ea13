"""What failed while a judge was asked: said once in its words, counted at the end."""

from __future__ import annotations

from relgate.eval.cli.failures import Failures


def said_of(*lines: str) -> list[str]:
    said: list[str] = []
    failures = Failures(said.append)
    for line in lines:
        failures.tell(line)
    failures.close()
    return said


def test_one_failure_in_many_batches_is_two_lines() -> None:
    assert said_of(
        "4 candidate(s) ungraded: provider: boom",
        "1 candidate(s) ungraded: provider: boom",
        "3 candidate(s) ungraded: provider: boom",
    ) == [
        "4 candidate(s) ungraded: provider: boom",
        "in all 8 candidate(s) of 3 batches ungraded: provider: boom",
    ]


def test_other_failures_are_said_apart() -> None:
    lines = ["2 of 4 candidate(s) without a readable grade", "4 candidate(s) ungraded: timeout"]
    assert said_of(*lines) == lines


def test_a_line_of_no_batch_is_counted_too() -> None:
    assert said_of("a node was lost", "a node was lost") == [
        "a node was lost", "2 times in all: a node was lost",
    ]  # fmt: skip


def test_failures_that_differ_each_time_do_not_flood_and_are_not_hidden() -> None:
    said = said_of(*(f"1 candidate(s) ungraded: request {n}" for n in range(25)))
    assert len(said) == 11
    assert said[-1] == "15 more failures in other words, in 15 batches"


def test_a_broken_judge_of_ones_own_says_its_error_once(call, shop) -> None:
    done = call(*shop.review("--out", "report", judge="broken"))
    told = [line for line in done.err.splitlines() if "provider: RuntimeError" in line]
    assert len(told) == 2
    assert "in all " in told[1]
