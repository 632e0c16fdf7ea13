"""The judge as a ranker."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from relgate.cache.judge import CachedJudge
from relgate.cache.store import open_store
from relgate.judge import Candidate, JudgedHit, LlmJudge, PanelJudge, make_llm_judge
from relgate.judge.engine import CallPolicy
from relgate.judge.fake import FakeGenerate, grade_lines
from relgate.judge.rerank import (
    RerankedHit,
    blend_weight,
    llm_rerank,
    llm_rerank_sync,
    reciprocal_rank_fusion,
)
from relgate.judge.types import GradeError
from relgate.rubrics import load_rubric
from relgate.rubrics.errors import UsageError


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


class Misplaced(Scripted):
    """Returns its rows in another order, or one too many."""

    def __init__(self, how: str) -> None:
        super().__init__([0, 0, 3])
        self.how = how

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        rows = await super().grade(query, candidates)
        return rows[::-1] if self.how == "turned" else [*rows, rows[0]]


@pytest.mark.parametrize("how", ["turned", "too many"])
def test_rows_that_are_not_the_hits_in_their_order_move_nothing(how: str) -> None:
    said: list[str] = []
    out = asyncio.run(llm_rerank(Misplaced(how), "q", hits(3), on_error=said.append))
    assert [hit.id for hit in out] == ["d1", "d2", "d3"]
    assert all(hit.score is None for hit in out)
    assert said == ["first-stage order kept: the judge did not return one row a hit in their order"]


def test_why_the_first_stages_order_was_kept_is_said() -> None:
    class Slow(Scripted):
        async def grade(self, _query: str, _candidates: Sequence[Candidate]) -> list[JudgedHit]:
            await asyncio.sleep(60)
            return []

    class Late(Scripted):
        async def grade(self, _query: str, _candidates: Sequence[Candidate]) -> list[JudgedHit]:
            raise TimeoutError("the socket's own")

    said: list[str] = []
    asyncio.run(llm_rerank(Slow([]), "q", hits(1), deadline_s=0.02, on_error=said.append))
    asyncio.run(llm_rerank(Late([]), "q", hits(1), on_error=said.append))
    assert said == [
        "first-stage order kept: 0.02 s passed",
        "first-stage order kept: TimeoutError: the socket's own",
    ]


# Through the cache: what search pays for is paid for once.


class Shop(Scripted):
    """Grades 3 after a wait that the text names; counts what it was asked."""

    batch_size = 2

    def __init__(self) -> None:
        super().__init__([])
        self.texts: list[str] = []
        self.release = asyncio.Event()

    async def grade(self, _query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        self.texts += [c.text for c in candidates]
        if any("slow" in c.text for c in candidates):
            await self.release.wait()
        return [JudgedHit(c.id, 3, "E", "r") for c in candidates]


def test_a_passed_deadline_leaves_the_finished_grades_stored(tmp_path: Path) -> None:
    async def search() -> None:
        with closing(open_store(tmp_path)) as store:
            judge = Shop()
            cached = CachedJudge(judge, store, rubric=load_rubric())
            slow = [Candidate("s", "slow text")]
            quick = [Candidate(f"d{i}", f"text {i}") for i in range(9)]
            first = await llm_rerank(cached, "q", [*quick, *slow], deadline_s=1)
            assert [hit.id for hit in first] == [*(f"d{i}" for i in range(9)), "s"]
            assert cached.stored == 8  # batches of 2 by key: one quick text waits beside the slow
            judge.texts.clear()
            judge.release.set()
            again = await llm_rerank(cached, "q", [*quick, *slow])
            assert len(judge.texts) == 2
            assert "slow text" in judge.texts
            assert all(hit.score == 1 for hit in again)

    asyncio.run(search())


def test_queries_at_the_same_time_share_one_cache_and_mix_nothing_up(tmp_path: Path) -> None:
    class ByQuery(Shop):
        async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
            await asyncio.sleep(0)
            return [
                JudgedHit(c.id, g := (len(c.text) + int(query)) % 4, "ICSE"[g], query)
                for c in candidates
            ]

    async def search() -> None:
        with closing(open_store(tmp_path)) as store:
            cached = CachedJudge(ByQuery(), store, rubric=load_rubric())
            pool = [Candidate(f"d{i}", "x" * i) for i in range(1, 30)]

            async def ask(n: int) -> list[RerankedHit]:
                return await llm_rerank(cached, str(n), pool)

            for round_ in range(2):
                for n, out in enumerate(await asyncio.gather(*(ask(n) for n in range(40)))):
                    grades = {hit.id: (hit.first_rank + n) % 4 / 3 for hit in out}
                    assert {hit.id: hit.score for hit in out} == grades
                assert cached.misses == cached.stored == 40 * 29
                assert cached.hits == round_ * 40 * 29

    asyncio.run(search())


def test_importing_the_judge_loads_no_statistics_and_no_event_loop() -> None:
    code = (
        "import sys, relgate.judge as j; assert j.PanelJudge and j.panel_of_shuffles;"
        "heavy = {'asyncio', 'statistics', 'numpy', 'openai'} & set(sys.modules);"
        "sys.exit(', '.join(heavy) or None)"
    )
    done = subprocess.run(  # noqa: S603 - our own line
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_one_weight_for_all_ranks_keeps_the_order_of_equal_grades() -> None:
    judge = Scripted([3] * 20)
    plain = asyncio.run(llm_rerank(judge, "q", hits(20), weights=((None, 0.6),)))
    assert [hit.first_rank for hit in plain] == list(range(1, 21))
    # The document's weights do not: by hand, 1.0 for rank 1, .25 + .25 for rank 3, but
    # .15 + .4 for rank 4 and .4/11 + .6 for rank 11.
    blended = asyncio.run(llm_rerank(judge, "q", hits(20)))
    assert [hit.first_rank for hit in blended][:4] == [1, 11, 12, 13]


def test_the_best_grade_is_the_rubrics_also_through_cache_and_panel(tmp_path: Path) -> None:
    def binary(model: str) -> LlmJudge:
        answer = grade_lines(lambda _q, text: "1" if text == "text 2" else "0")
        return make_llm_judge(FakeGenerate(answer), model=model, rubric=load_rubric("binary-v1"))

    with closing(open_store(tmp_path)) as store:
        for judge in (
            binary("a"),
            CachedJudge(binary("a"), store),
            PanelJudge([binary("a"), binary("b")]),
        ):
            out = {hit.id: hit.score for hit in llm_rerank_sync(judge, "q", hits(3))}
            assert out == {"d1": 0, "d2": 1, "d3": 0}
    half = asyncio.run(llm_rerank(binary("a"), "q", hits(3), max_grade=2))
    assert {hit.score for hit in half} == {0, 0.5}
    with pytest.raises(UsageError, match="max_grade is 0; give the best grade, 1 or more"):
        asyncio.run(llm_rerank(binary("a"), "q", hits(3), max_grade=0))
