"""A judge whose bulk work is done on a Ray cluster; the driver's side. I/O through the pool."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from relgate.eval.cluster.drawn import drawn
from relgate.eval.cluster.messages import Job, Report, Unit, variables_for
from relgate.eval.cluster.pool import RayPool
from relgate.eval.project import Project
from relgate.judge.around import JudgeAround
from relgate.judge.engine import CallPolicy
from relgate.judge.llm import LlmJudge
from relgate.judge.many import grade_many
from relgate.judge.providers.select import parse_judge_spec
from relgate.judge.types import (
    Ask,
    CallError,
    Candidate,
    Example,
    GradeError,
    Judge,
    JudgedHit,
    Took,
)
from relgate.rubrics.errors import PlatformError

__all__ = ["ClusterJudge"]


class ClusterJudge(JudgeAround):
    """A `BulkJudge` over another: many queries go to the workers, single ones are graded here.

    The limits are those of the whole run, shared out evenly: calls at once, requests and tokens a
    minute, calls and money in all. What a lost worker had under way is asked again; with a budget
    the run stops then, since nobody knows what the lost one spent.

    Args:
        local: the judge that each worker builds too.
        llm: the judge over a model in it; its engine counts what the workers spend.
        name: as the command line names it.
        project: the settings.
        examples: few-shot examples.
        pool: the cluster.
        tell: told one line for each batch that failed, and of lost nodes.
    """

    def __init__(
        self,
        local: Judge,
        llm: LlmJudge,
        *,
        name: str,
        project: Project,
        examples: tuple[Example, ...],
        pool: RayPool,
        tell: Callable[[str], None] | None,
    ) -> None:
        super().__init__(local)
        self._llm = llm
        self._name = name
        self._project = project
        self._examples = examples
        self._pool = pool
        self._tell = tell or _silent

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """One query, graded here: a cluster gains nothing on it."""
        return await self._inner.grade(query, candidates)

    async def grade_many(self, asks: Iterable[Ask], took: Took) -> None:
        """Grades all asks on the cluster, sent at once. Never raises for a failed grade.

        Raises:
            PlatformError: no cluster, no worker that can grade, or Ray gave up.
        """
        asks = tuple(asks)
        units = [Unit(number, ask).dumped() for number, ask in enumerate(asks)]
        engine = self._llm.engine
        share, workers = None, 0
        if engine.stopped is None:
            workers = min(await asyncio.to_thread(self._pool.start), len(asks))
            share, workers = self._share(engine.policy, workers)
        if share is None:  # the run has stopped: each row says so, and nothing is called
            await grade_many(self._inner, asks, took)
            return
        before = await asyncio.to_thread(self._pool.nodes)
        reports = self._pool.run(
            self._job(share),
            units,
            workers=workers,
            # half of what a worker has under way, and a block for each worker at least
            per_block=max(1, min(share.concurrency // 2, len(asks) // workers)),
        )

        async def each(found: bytes) -> None:  # stored before the next one is handed over
            report = Report.loaded(found)
            self._heed(report)
            await took(report.graded)

        await drawn(reports, each)
        lost = before - await asyncio.to_thread(self._pool.nodes)
        if lost:
            self._tell(f"{len(lost)} node(s) lost: what they had under way was asked again")

    def _heed(self, report: Report) -> None:
        if report.fault is not None:
            raise PlatformError(f"a Ray worker cannot grade: {report.fault}")
        engine = self._llm.engine
        engine.stats.add(report.spent)
        for line in report.lines:
            self._tell(line)
        if report.stopped is not None and engine.stopped is None:
            kind, message = report.stopped
            engine.stopped = CallError(kind, message, fatal=True)

    def _job(self, share: CallPolicy) -> Job:
        return Job(
            judge=self._name,
            project=self._project,
            rubric=self._llm.rubric,
            examples=self._examples,
            policy=share,
            fingerprint=self.fingerprint,
            environ=variables_for(parse_judge_spec(self._name).kind, os.environ),
            folder=str(Path.cwd()),
        )

    def _share(self, policy: CallPolicy, workers: int) -> tuple[CallPolicy | None, int]:
        """One worker's part of what is left of the limits, and how many workers there can be."""
        stats = self._llm.engine.stats
        workers = max(1, min(workers, policy.concurrency))
        calls = cost = None
        if policy.max_calls is not None:
            calls = policy.max_calls - stats.calls
            if calls <= 0:
                self._llm.engine.stopped = CallError(
                    GradeError.NOT_ASKED,
                    f"the limit of {policy.max_calls} calls is reached; run again to go on: what "
                    "is graded is kept",
                    fatal=True,
                )
                return None, 0
            workers = min(workers, calls)
            calls //= workers
        if policy.max_cost_usd is not None:
            cost = max(0.0, policy.max_cost_usd - stats.cost_usd) / workers
        return (
            replace(
                policy,
                concurrency=max(1, policy.concurrency // workers),
                requests_per_minute=_part(policy.requests_per_minute, workers),
                tokens_per_minute=_part(policy.tokens_per_minute, workers),
                max_calls=calls,
                max_cost_usd=cost,
            ),
            workers,
        )

    def close(self) -> None:
        """Leaves the cluster."""
        self._pool.close()


def _silent(_line: str) -> None:
    """Tells nobody."""


def _part(limit: float | None, workers: int) -> float | None:
    return None if limit is None else limit / workers
