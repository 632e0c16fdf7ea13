"""The driver's side over workers in this process: shares, stops, faults. No Ray."""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
import types
from collections.abc import Generator

import pytest

from relgate.eval.cluster import pool
from relgate.eval.cluster.grader import Grader
from relgate.eval.cluster.judge import ClusterJudge
from relgate.eval.cluster.messages import Job, Report, Unit, variables_for
from relgate.eval.cluster.pool import RayPool
from relgate.eval.model_judges import build_judge
from relgate.eval.project import Project
from relgate.judge.engine import CallPolicy, CallStats
from relgate.judge.fake import grade_lines
from relgate.judge.prices import Price
from relgate.judge.types import Ask, CallError, Candidate, GradeError, JudgedHit, Usage
from relgate.rubrics import load_rubric
from relgate.rubrics.errors import PlatformError

ASKS = [
    Ask(f"q{n}", tuple(Candidate(f"{n}-{i}", f"text {i}") for i in range(5))) for n in range(12)
]


class HerePool(RayPool):
    """Workers in turn, in this process, each with a judge of its own as on a cluster."""

    def __init__(self, workers: int, *, restarted: bool = False) -> None:
        super().__init__(None, workers)
        self.workers = workers
        self.restarted = restarted
        self.jobs: list[Job] = []
        self.used = 0

    def start(self) -> int:
        return self.workers

    def nodes(self) -> frozenset[str]:
        return frozenset({"here"})

    def run(self, job, units, *, workers, per_block) -> Generator[bytes]:
        self.jobs.append(job)
        self.used = workers
        graders = [
            Grader(pickle.loads(pickle.dumps(job)), restarted=self.restarted)  # noqa: S301
            for _ in range(workers)
        ]
        for n, start in enumerate(range(0, len(units), per_block)):
            block = [Unit.loaded(each) for each in units[start : start + per_block]]
            yield graders[n % workers].report(block).dumped()


@pytest.fixture
def module(monkeypatch):
    """A module of the user's own, whose `grade` may be replaced."""
    own = types.ModuleType("cluster_scripted")
    own.calls = []
    answer = grade_lines(lambda _query, text: "ESCI"[int(text[-1]) % 4])

    def grade(request):
        own.calls.append(request)
        return answer(request)

    own.grade = grade
    monkeypatch.setitem(sys.modules, "cluster_scripted", own)
    return own


def cluster_judge(pool, said=None, **settings):
    name = "python:cluster_scripted:grade"
    policy = settings.pop("policy", None)
    project = Project(judge=name, engine="ray", **settings)
    rubric = load_rubric()
    built = build_judge(name, project, rubric, policy=policy)
    return built.llm, ClusterJudge(
        built.judge, built.llm, name=name, project=project, examples=(), pool=pool,
        tell=None if said is None else said.append,
    )  # fmt: skip


def graded(judge, asks=ASKS):
    rows = {}

    async def took(answered):
        rows.update(answered)

    asyncio.run(judge.grade_many(asks, took))
    return [rows[n] for n in range(len(asks))]


@pytest.mark.usefixtures("module")
def test_workers_say_what_the_judge_here_says():
    _, judge = cluster_judge(HerePool(3))
    here = [judge.grade_sync(ask.query, ask.candidates) for ask in ASKS]
    assert graded(judge) == here


def test_what_workers_spend_is_counted_by_the_driver(module):
    llm, judge = cluster_judge(HerePool(3))
    graded(judge)
    assert llm.engine.stats.calls == len(module.calls) == len(ASKS)


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(("workers", "used"), [(3, 3), (50, 8), (1, 1)])
def test_the_shares_are_no_more_than_the_whole(workers, used):
    pool = HerePool(workers)
    _, judge = cluster_judge(pool, concurrency=8, requests_per_minute=6e5, tokens_per_minute=6e8)
    graded(judge)
    share = pool.jobs[0].policy
    assert pool.used == used
    assert used * share.concurrency <= 8
    assert used * share.requests_per_minute == pytest.approx(6e5)
    assert used * share.tokens_per_minute == pytest.approx(6e8)


@pytest.mark.parametrize("limit", [1, 2, 5, 7, 12])
def test_the_call_limit_holds_over_all_workers_and_all_windows(module, limit):
    llm, judge = cluster_judge(HerePool(3), max_calls=limit)
    first, second = graded(judge, ASKS[:6]), graded(judge, ASKS[6:])
    rows = [hit for hits in first + second for hit in hits]
    assert len(module.calls) == llm.engine.stats.calls <= limit
    assert sum(hit.graded for hit in rows) == 5 * len(module.calls)
    assert {hit.error for hit in rows if not hit.graded} <= {GradeError.NOT_ASKED}


def test_a_run_without_any_call_left_asks_nothing(module):
    pool = HerePool(3)
    _, judge = cluster_judge(pool, max_calls=0)
    assert {hit.error for hits in graded(judge) for hit in hits} == {GradeError.NOT_ASKED}
    assert (module.calls, pool.jobs) == ([], [])


@pytest.mark.usefixtures("module")
def test_the_cost_limit_is_shared_out():
    pool = HerePool(4)
    policy = CallPolicy(max_cost_usd=2.0, price=Price(1.0, 1.0))
    _, judge = cluster_judge(pool, policy=policy)
    graded(judge)
    assert pool.jobs[0].policy.max_cost_usd == pytest.approx(0.5)


def test_a_restarted_worker_spends_nothing_of_a_budget_and_the_run_stops(module):
    llm, judge = cluster_judge(HerePool(2, restarted=True), max_calls=100)
    assert {hit.error for hits in graded(judge) for hit in hits} == {GradeError.NOT_ASKED}
    assert module.calls == []
    assert "a worker was lost" in llm.engine.stopped.message


@pytest.mark.usefixtures("module")
def test_a_restarted_worker_goes_on_where_there_is_no_budget():
    _, judge = cluster_judge(HerePool(2, restarted=True))
    assert all(hit.graded for hits in graded(judge) for hit in hits)


def test_after_a_stop_the_next_window_asks_nothing(module):
    def dead(request):
        module.calls.append(request)
        raise CallError(GradeError.PROVIDER, "the key is dead", fatal=True)

    module.grade = dead
    said: list[str] = []
    pool = HerePool(2)
    llm, judge = cluster_judge(pool, said, concurrency=2)
    rows = [hit for hits in graded(judge) for hit in hits]
    assert {hit.error for hit in rows} == {GradeError.PROVIDER, GradeError.NOT_ASKED}
    assert "the key is dead" in llm.engine.stopped.message
    assert any("the key is dead" in line for line in said)
    spent = len(module.calls)
    graded(judge)
    assert len(module.calls) == spent
    assert len(pool.jobs) == 1


def test_a_worker_whose_judge_is_another_one_grades_nothing(module):
    class OtherRelgate(HerePool):
        def run(self, job, units, *, workers, per_block):
            job.fingerprint = "f" * 16
            return super().run(job, units, workers=workers, per_block=per_block)

    _, judge = cluster_judge(OtherRelgate(2))
    with pytest.raises(PlatformError, match="install the same relgate"):
        graded(judge)
    assert module.calls == []


@pytest.mark.usefixtures("module")
def test_a_worker_without_the_users_module_says_so(monkeypatch):
    _, judge = cluster_judge(HerePool(2))
    monkeypatch.delitem(sys.modules, "cluster_scripted")
    with pytest.raises(PlatformError, match="no module 'cluster_scripted'"):
        graded(judge)


def test_a_failed_row_is_ungraded_and_said(module):
    module.grade = lambda _request: json.dumps({"grades": []})
    said: list[str] = []
    _, judge = cluster_judge(HerePool(2), said)
    assert {hit.error for hits in graded(judge) for hit in hits} == {GradeError.UNREADABLE}
    assert said


@pytest.mark.usefixtures("module")
def test_a_job_shows_nothing_of_itself():
    pool = HerePool(1)
    _, judge = cluster_judge(pool)
    graded(judge)
    job = pool.jobs[0]
    job.environ["OPENAI_API_KEY"] = "sk-very-secret-0123456789"
    assert str(job) == repr(job) == f"{job}" == "Job(...)"


def test_a_worker_gets_no_variable_but_those_of_its_model():
    environ = {
        "OPENAI_API_KEY": "a", "OPENAI_BASE_URL": "b", "GOOGLE_API_KEY": "c", "AWS_SECRET": "d",
    }  # fmt: skip
    assert set(variables_for("compatible", environ)) == {"OPENAI_API_KEY", "OPENAI_BASE_URL"}
    assert set(variables_for("gemini-decisions", environ)) == {"GOOGLE_API_KEY"}
    assert variables_for("python", environ) == {}


def test_what_travels_arrives_to_the_last_field():
    odd = "fünf \ud800 \u0000"  # a lone surrogate too
    unit = Unit(7, Ask(odd, (Candidate("a", odd), Candidate("b", ""))))
    assert Unit.loaded(unit.dumped()) == unit
    full = JudgedHit(
        "a", 3, "E", odd, None, None, 10, 4, "2026-01-01T00:00:00+00:00", 2.5, 0.5, Usage(3, None),
        (0.25, 0.25, 0.0, 0.5),
    )  # fmt: skip
    failed = JudgedHit(
        "b", 0, "I", "judge-error", GradeError.TIMEOUT, "no reply", usage=Usage(0, 0)
    )
    report = Report(
        ((0, [full, failed]), (1, [])),
        CallStats(calls=3, cost_usd=0.5, models={"m-1", "m-2"}),
        ("a line",),
        (GradeError.PROVIDER, "dead"),
        "a fault",
    )
    assert Report.loaded(report.dumped()) == report
    assert Report.loaded(Report().dumped()) == Report()


def test_a_ray_that_does_not_start_is_told_in_one_line(monkeypatch):
    def init(**_place):  # as Ray 2.60 does when a node is not up in time
        raise Exception("The current node timed out during startup.")  # noqa: TRY002

    ray = types.SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setattr(pool, "_ray", lambda: ray)
    with pytest.raises(PlatformError, match="no Ray cluster here: Exception: The current node"):
        pool.RayPool(None, None).start()
