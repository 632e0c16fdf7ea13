"""A judge that answers from batches: groups are asked whole, once, and in their own order."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from relgate.eval.batch.judged import BatchedJudge
from relgate.eval.batch.units import Units
from relgate.judge.types import Candidate, GradeError, JudgedHit, Usage
from relgate.rubrics import load_rubric

A, B, C, D = (Candidate(name, f"text of {name}") for name in "abcd")


class Asked:
    """Grades by the text; notes each group that it is given; knows nothing of `late` texts."""

    version, fingerprint, model, family, batch_size = "v@0", "f", "m", "none", 3

    def __init__(self) -> None:
        self.groups: list[list[str]] = []
        self.late: set[str] = set()

    async def grade(self, _query, candidates):
        self.groups.append([c.text for c in candidates])
        hits = [JudgedHit(c.id, 3, "E", c.text, usage=Usage(5, 1)) for c in candidates]
        return [
            replace(hit, error=GradeError.NOT_ASKED) if hit.reason in self.late else hit
            for hit in hits
        ]

    def grade_sync(self, query, candidates):
        raise NotImplementedError


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def judge(asked, tmp_path):
    judge = BatchedJudge(asked, load_rubric())
    judge.units = Units(tmp_path / "groups.jsonl")
    return judge


def test_each_group_is_asked_once_however_many_documents_it_has(judge, asked):
    asyncio.run(judge.grade("q", [A, B, C]))
    assert asked.groups == [[A.text, B.text, C.text]]


def test_later_looks_ask_the_groups_that_were_made_whatever_is_asked_for(judge, asked):
    asyncio.run(judge.grade("q", [A, B, C]))
    asked.groups.clear()
    hits = asyncio.run(judge.grade("q", [Candidate("other", C.text), D, A]))
    assert sorted(asked.groups) == [[A.text, B.text, C.text], [D.text]]
    assert [(hit.id, hit.reason) for hit in hits] == [
        ("other", C.text), ("d", D.text), ("a", A.text),
    ]  # fmt: skip
    assert all(hit.usage == Usage(5, 1, batch=True) for hit in hits)


def test_a_group_waits_whole_until_nothing_more_comes(judge, asked):
    asked.late = {B.text}
    hits = asyncio.run(judge.grade("q", [A, B, C]))
    assert [hit.id for hit in hits] == ["a", "b", "c"]
    assert {hit.error for hit in hits} == {GradeError.NOT_ASKED}
    judge.partial = True
    hits = asyncio.run(judge.grade("q", [A, B, C]))
    assert [hit.graded for hit in hits] == [True, False, True]
