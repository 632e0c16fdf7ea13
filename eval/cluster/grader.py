"""The worker's side: the same judge from the same settings. Runs in a Ray actor; calls the model.

A worker keeps no grade and opens no cache. What it has graded and not yet handed over when it dies
is asked for again, elsewhere.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace

from relgate.eval.cluster.messages import Job, Report, Unit
from relgate.eval.model_judges import build_judge
from relgate.judge.llm import LlmJudge
from relgate.judge.types import CallError, GradeError, Judge, JudgedHit
from relgate.rubrics.errors import RelgateError

__all__ = ["Grader"]


class Grader:
    """Grades units, several blocks of them at once; the judge's own limit says how many calls.

    Args:
        job: how to build the judge.
        restarted: whether this worker stands in for one that was lost.
    """

    def __init__(self, job: Job, *, restarted: bool = False) -> None:
        self._lines: list[str] = []
        self._turn = threading.Lock()
        self._fault: str | None = None
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        try:
            self._judge, self._llm = self._built(job)
        except RelgateError as error:  # told with the first units, as one line
            self._fault = str(error)
            return
        self._told = replace(self._llm.engine.stats, models=set())
        limited = job.policy.max_calls is not None or job.policy.max_cost_usd is not None
        if limited and restarted:
            # what its forerunner spent is lost with it: it may not spend the same share twice
            self._llm.engine.stopped = CallError(
                GradeError.NOT_ASKED,
                "a worker was lost, and with it how much of its share of the budget it had spent; "
                "run again to go on: what is graded is kept",
                fatal=True,
            )

    def _built(self, job: Job) -> tuple[Judge, LlmJudge]:
        os.environ.update(job.environ)
        if job.folder not in sys.path:
            sys.path.insert(0, job.folder)
        built = build_judge(
            job.judge,
            job.project,
            job.rubric,
            examples=job.examples,
            policy=job.policy,
            on_error=self._lines.append,
        )
        if built.judge.fingerprint != job.fingerprint:
            raise RelgateError(
                f"its judge has fingerprint {built.judge.fingerprint}, the driver's "
                f"{job.fingerprint}: install the same relgate, and the same module of your own, "
                "on every node"
            )
        return built.judge, built.llm

    def report(self, units: Sequence[Unit]) -> Report:
        """What the judge makes of `units`. May be called from several threads."""
        if self._fault is not None:
            return Report(fault=self._fault)
        graded = asyncio.run_coroutine_threadsafe(self._grade(units), self._loop).result()
        with self._turn:
            engine = self._llm.engine
            spent = engine.stats.since(self._told)
            self._told = replace(engine.stats, models=set())
            lines, self._lines[:] = tuple(self._lines), []
        stop = engine.stopped
        return Report(
            graded=tuple(zip((unit.number for unit in units), graded, strict=True)),
            spent=spent,
            lines=lines,
            stopped=None if stop is None else (stop.kind, stop.message),
        )

    async def _grade(self, units: Sequence[Unit]) -> list[list[JudgedHit]]:
        return await asyncio.gather(
            *(self._judge.grade(unit.ask.query, unit.ask.candidates) for unit in units)
        )
