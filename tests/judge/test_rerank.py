"""The judge as a ranker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from relgate.judge import Candidate, JudgedHit, make_llm_judge
from relgate.judge.engine import CallPolicy
from relgate.judge.fake import FakeGenerate, grade_lines
from relgate.judge.rerank import blend_weight, llm_rerank_sync, reciprocal_rank_fusion
from relgate.judge.types import GradeError


class Scripted:
    """A judge that gives the grades it was made with; None is a failed grade."""

    version, fingerprint, model, family, batch_size = "s@0", "f", None, "none", 10

    def __init__(self, grades: Sequence[int | None]) -> None:
        self.grades = grades
        self.asked = 0

    async def grade(self, _query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        self.asked = len(candidates)
        return [
            JudgedHit(c.id, g or 0, "I", "r", None if g is not None else GradeError.TIMEOUT)
            for c, g in zip(candidates, self.grades, strict=False)
        ]

    def grade_sync(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        return asyncio.run(self.grade(query, candidates))


def hits(n: int) -> list[Candidate]:
    return [Candidate(f"d{i}", f"text {i}") for i in range(1, n + 1)]


@pytest.mark.parametrize(
    ("rank", "weight"), [(1, 0.75), (3, 0.75), (4, 0.6), (10, 0.6), (11, 0.4), (99, 0.4)]
)
def test_the_first_stage_weighs_less_further_down(rank: int, weight: float) -> None:
    assert blend_weight(rank) == weight


def test_a_low_scored_first_hit_beats_a_top_scored_fifth() -> None:
    # .75/1 + .25*0 = .75 against .60/5 + .40*1 = .52 (judge document's blend)
    out = llm_rerank_sync(Scripted([0, 0, 0, 0, 3]), "q", hits(5))
    assert out[0].id == "d1"
    assert out[1].id == "d5"


def test_the_blend_is_the_documents_formula() -> None:
    out = {hit.id: hit for hit in llm_rerank_sync(Scripted([1, 3]), "q", hits(2))}
    assert out["d1"].blended == pytest.approx(0.75 + 0.25 / 3)
    assert out["d2"].blended == pytest.approx(0.75 / 2 + 0.25)


def test_a_hit_without_a_grade_keeps_its_slot() -> None:
    out = llm_rerank_sync(Scripted([0, None, 3, 3]), "q", hits(4))
    assert out[1].id == "d2"
    assert out[1].score is None


def test_only_the_pool_is_judged_and_the_rest_stays() -> None:
    judge = Scripted([3] * 50)
    out = llm_rerank_sync(judge, "q", hits(60))
    assert judge.asked == 50
    assert [hit.id for hit in out[50:]] == [f"d{i}" for i in range(51, 61)]


def test_a_judge_that_fails_leaves_the_first_stages_order() -> None:
    judge = make_llm_judge(FakeGenerate([RuntimeError()] * 9), policy=CallPolicy(backoff_s=0))
    assert [h.id for h in llm_rerank_sync(judge, "q", hits(5))] == ["d1", "d2", "d3", "d4", "d5"]


def test_a_passed_deadline_leaves_the_first_stages_order() -> None:
    async def slow(_: object) -> str:
        await asyncio.sleep(60)
        return ""

    out = llm_rerank_sync(make_llm_judge(slow), "q", hits(3), deadline_s=0.05)
    assert [h.id for h in out] == ["d1", "d2", "d3"]


def test_a_real_llm_that_answers_by_list_number_reranks() -> None:
    # The judge this one reimplements gave no ids and asked for ids: reranking did nothing.
    judge = make_llm_judge(FakeGenerate(grade_lines(lambda _, t: "E" if t == "text 3" else "I")))
    out = llm_rerank_sync(judge, "q", hits(3))
    assert out[1].id == "d3"


def test_rrf_adds_reciprocal_ranks() -> None:
    fused = reciprocal_rank_fusion([["a", "b"], ["b", "c", "b"]], k=60)
    assert [hit.id for hit in fused] == ["b", "a", "c"]
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 61)
