"""Where a judge's batches are handled: its job opened, filled, moved on, read. I/O."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Final, TypeVar

from relgate.cache.redis_store import redis_url
from relgate.eval.batch.book import Book, most_usd, spent_usd
from relgate.eval.batch.driver import Driver, Patience
from relgate.eval.batch.judged import BatchedJudge
from relgate.eval.batch.state import Job, JobState, Part, alone, read_jobs
from relgate.eval.batch.units import Units
from relgate.eval.catalogue import Catalogue
from relgate.eval.files import file_name
from relgate.eval.gaps.fill import Progress
from relgate.eval.gaps.find import QueryGaps
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project, placed
from relgate.judge.prices import Price
from relgate.judge.providers.replay import WireAnswer, WireCall
from relgate.judge.providers.select import batches_for, parse_judge_spec
from relgate.judge.types import GenerateRequest, GradeError, Judge, JudgedHit
from relgate.rubrics import Rubric
from relgate.rubrics.errors import InputError

__all__ = ["BatchDesk", "kept_settings"]

T = TypeVar("T")

_AT_ONCE: Final = 16
"""Groups asked at once: the answers are on disk, so more would only use memory."""


class BatchDesk:
    """The batches of one judge: the book that its `generate` asks, and the job behind it.

    Args:
        root: where jobs are kept.
        now: the time.
        tell: told what a user should know, a line each.
        patience: how long to wait for a provider.
    """

    def __init__(
        self,
        root: Path,
        *,
        now: Callable[[], datetime],
        tell: Callable[[str], None],
        patience: Patience | None = None,
    ) -> None:
        self._root = root
        self._now = now
        self._tell = tell
        self._patience = patience or Patience()
        self._open = ExitStack()
        self._judge: BatchedJudge | None = None
        self._settled: set[int] = set()
        self.job: Job
        self.book: Book
        self.driver: Driver
        self.opened: OpenedJudge

    def answer(self, call: WireCall, /) -> WireAnswer:
        """See `RequestBook.answer`."""
        return self.book.answer(call)

    def want(self, call: WireCall, request: GenerateRequest, /) -> str:
        """See `RequestBook.want`."""
        return self.book.want(call, request)

    def around(self, inner: Judge, rubric: Rubric) -> BatchedJudge:
        """The judge that answers from this desk's job."""
        self._judge = BatchedJudge(inner, rubric)
        return self._judge

    @property
    def judge(self) -> BatchedJudge:
        """The judge that `around` made."""
        assert self._judge is not None  # noqa: S101 - the judge is opened with the desk
        return self._judge

    @property
    def price(self) -> Price | None:
        """Of a call in a batch; None when unknown."""
        listed = self.opened.price
        return None if listed is None else listed.in_a_batch()

    @property
    def calls(self) -> int:
        """Requests that the job has sent."""
        return self.job.state.sent

    @property
    def cost_usd(self) -> float | None:
        """What the job has cost so far, by usage; None when the price is unknown."""
        price = self.price
        return None if price is None else sum(spent_usd(p, price) for p in self.job.state.parts)

    @property
    def most_usd(self) -> float | None:
        """The same with the most that is still to come."""
        price = self.price
        return None if price is None else sum(most_usd(p, price) for p in self.job.state.parts)

    def begin(self, opened: OpenedJudge, project: Project, *, overrides: Iterable[str]) -> None:
        """Takes up the judge's open job, or begins one; whoever asks for it ends a halt.

        Raises:
            PlatformError: somebody else works at it, or it cannot be written.
            ProviderUnavailableError: no key.
        """
        self._enter(opened)
        found = [
            job
            for job in read_jobs(self._root)
            if job.state.fingerprint == opened.judge.fingerprint and not job.state.closed
        ]
        job = found[-1] if found else self._new_job(opened, project, tuple(overrides))
        job.save(
            halted=None,
            max_cost=project.max_cost,
            max_calls=project.max_calls,
        )
        self._bind(job, project)

    def resume(self, opened: OpenedJudge, project: Project, job_id: str) -> None:
        """Takes up a job as it is.

        Raises:
            InputError: the judge is not the one that the job was made with.
            PlatformError: somebody else works at it.
            ProviderUnavailableError: no key.
        """
        self._enter(opened)
        job = Job.read(self._root / job_id)
        made = job.state
        if made.fingerprint != opened.judge.fingerprint:
            raise InputError(
                f"job {job_id} was made with {made.judge}, fingerprint {made.fingerprint}, and the "
                f"judge now has {opened.judge.fingerprint}",
                mend=f"use relgate {made.relgate}, the same rubric, labels and provider address",
            )
        self._bind(job, project)

    def close(self) -> None:
        """Lets others work at the job."""
        self._open.close()

    async def record(
        self,
        gaps: Sequence[QueryGaps],
        catalogue: Catalogue,
        *,
        on_progress: Progress | None = None,
    ) -> None:
        """Has the judge asked about gaps; what has no answer is planned, and nothing is sent."""
        cached = self.opened.cached
        assert cached is not None  # noqa: S101 - every judge over a model has a cache

        async def one(gap: QueryGaps) -> None:
            found = [catalogue.candidate(doc) for doc in gap.doc_ids]
            candidates = [candidate for candidate in found if candidate is not None]
            for batch in await asyncio.to_thread(cached.missing, gap.query.shown, candidates):
                await self.judge.grade(gap.query.shown, batch)

        await _each(gaps, one, on_progress)
        self._seal()

    async def settle(self, *, store: bool, on_progress: Progress | None = None) -> None:
        """Looks through the groups; what has to be asked further is planned.

        Args:
            store: whether grades go into the cache; else only what is missing is found out.
            on_progress: told groups done, of all.
        """
        left = [number for number in self.judge.units if number not in self._settled]
        await _each(left, self._settle(store), on_progress)
        self._seal()

    def _settle(self, store: bool) -> Callable[[int], Awaitable[None]]:  # noqa: FBT001
        cached = self.opened.cached
        assert cached is not None  # noqa: S101 - every judge over a model has a cache

        async def one(number: int) -> None:
            query, candidates = self.judge.units.get(number)
            if not await asyncio.to_thread(cached.missing, query, candidates):
                self._settled.add(number)
                return
            grade = cached.grade(query, candidates) if store else self.judge.unit(number)
            hits: list[JudgedHit] = await grade
            if all(hit.error is not GradeError.NOT_ASKED for hit in hits):
                self._settled.add(number)

        return one

    def finish(self) -> None:
        """Closes the job where nothing is under way: the next one begins anew."""
        if not self.job.state.parts:
            shutil.rmtree(self.job.folder, ignore_errors=True)
        elif not self.job.state.under_way:
            self.job.save(closed=True)

    @property
    def unsettled(self) -> int:
        """Groups that something is missing of."""
        return len(self.judge.units) - len(self._settled)

    def _seal(self) -> None:
        self.judge.units.seal()  # first: a request without its group could not be read
        self.book.seal()

    async def look(self) -> list[Part]:
        """Moves the job on; the batches that ended."""
        ended = await self.driver.look()
        for part in ended:
            self.book.answers.add(part)
        return ended

    def _enter(self, opened: OpenedJudge) -> None:
        self.opened = opened
        opened.meter = self
        self._open.enter_context(alone(self._root, opened.judge.fingerprint))

    def _bind(self, job: Job, project: Project) -> None:
        for stray in job.folder.glob(".relgate-*.tmp"):  # of a run that was killed
            stray.unlink(missing_ok=True)
        spec = parse_judge_spec(job.state.judge)
        batches = batches_for(spec, timeout_s=project.timeout_s, api=project.judge_api)
        self.job = job
        self.book = Book(job, batches, price=self.price, now=lambda: self._now().isoformat())
        self.book.answers.load()
        self.driver = Driver(job, batches, now=self._now, tell=self._tell, patience=self._patience)
        self.judge.units = Units(job.path("groups.jsonl"))

    def _new_job(self, opened: OpenedJudge, project: Project, overrides: tuple[str, ...]) -> Job:
        spec = parse_judge_spec(opened.name)
        begun = f"{spec.kind}-{file_name(spec.model or '')}-{opened.judge.fingerprint[:8]}"
        number = 1 + len(list(self._root.glob(f"{begun}-*")))
        state = JobState(
            id=f"{begun}-{number}",
            judge=opened.name,
            model=spec.model or "",
            version=opened.judge.version,
            fingerprint=opened.judge.fingerprint,
            created_at=self._now().isoformat(timespec="seconds"),
            relgate=metadata.version("relgate"),
            settings=kept_settings(project),
            overrides=overrides,
        )
        job = Job(self._root / state.id, state)
        job.save()
        return job


def kept_settings(project: Project) -> dict[str, object]:
    """The settings that open the judge again. An address of a cache may hold a password."""
    away = {"max_cost", "max_calls", "change", "out", "budgets", "stratum_budgets"}
    if redis_url(project.cache):
        away.add("cache")
    return placed(project, Path.cwd()).model_dump(mode="json", exclude=away, exclude_none=True)


async def _each(
    items: Sequence[T], work: Callable[[T], Awaitable[None]], on_progress: Progress | None = None
) -> None:
    """`work` on all items, some at once."""
    left, done = iter(items), 0

    async def worker() -> None:
        nonlocal done
        for item in left:
            await work(item)
            done += 1
            if on_progress is not None:
                on_progress(done, len(items))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(_AT_ONCE, len(items))):
                group.create_task(worker())
    except ExceptionGroup as raised:  # the first is the cause; the rest were cut short by it
        raise raised.exceptions[0] from None
