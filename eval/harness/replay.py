"""Asks an engine every query, a few at a time, and never waits for ever. Threads: I/O.

Workers pull from one queue. A search that passes its time limit is a failure, whatever the engine
does: its worker is abandoned (it is a daemon) and another takes its place. The answers do not
depend on how many workers there are.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from relgate.eval.harness.types import Answer, Call, Engine, EngineError, Reply

__all__ = ["ReplaySettings", "Stopped", "replay"]

_TICK_S = 0.02
_BACKOFF_S = 0.1
_DOWN = 20


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """How a golden set is replayed.

    Attributes:
        concurrency: searches at once.
        timeout_s: limit of one search, tries included.
        retries: tries after the first, where trying again may help.
        seed: of the waits between tries.
    """

    concurrency: int = 4
    timeout_s: float = 10.0
    retries: int = 1
    seed: int = 0


class Stopped(Exception):  # noqa: N818 - no error: what was answered is kept
    """Twenty searches in a row failed alike: the engine is down."""


@dataclass(slots=True)
class _Worker:
    """One thread, and the call that it is at."""

    calls: queue.SimpleQueue[Call]
    answers: queue.SimpleQueue[tuple[_Worker, Answer | None]]
    ask: Callable[[Call], Answer]
    call: Call | None = None
    since: float = 0.0
    dropped: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        threading.Thread(target=self._work, daemon=True, name="relgate-run").start()

    def _work(self) -> None:
        while True:
            try:
                call = self.calls.get_nowait()
            except queue.Empty:
                self.answers.put((self, None))
                return
            with self.lock:
                self.call, self.since = call, time.monotonic()
            answer = self.ask(call)
            with self.lock:
                if self.dropped:
                    return
                self.call = None
            self.answers.put((self, answer))

    def overdue(self, limit_s: float) -> Call | None:
        """The call that it is at, given up, when that has passed its limit."""
        with self.lock:
            late = self.call is not None and time.monotonic() - self.since > limit_s
            if late:
                self.dropped = True
            return self.call if late else None


def replay(engine: Engine, calls: Sequence[Call], settings: ReplaySettings) -> Iterator[Answer]:
    """An answer for each call, as they come in.

    Raises:
        Stopped: the first twenty searches, or any twenty in a row, could not reach the engine.
    """
    waiting: queue.SimpleQueue[Call] = queue.SimpleQueue()
    for call in calls:
        waiting.put(call)
    answers: queue.SimpleQueue[tuple[_Worker, Answer | None]] = queue.SimpleQueue()

    def ask(call: Call) -> Answer:
        return _ask(engine, call, settings)

    def worker() -> _Worker:
        made = _Worker(waiting, answers, ask)
        made.start()
        return made

    workers = {id(w): w for w in (worker() for _ in range(min(settings.concurrency, len(calls))))}
    in_a_row = 0
    try:
        while workers:
            answer = _next(answers, workers, worker, settings)
            if answer is None:
                continue
            in_a_row = in_a_row + 1 if answer.failure is not None else 0
            yield answer
            if in_a_row >= _DOWN:
                raise Stopped(answer.failure)
    finally:  # nobody listens any more: nothing more is asked
        _drain(waiting)


def _drain(waiting: queue.SimpleQueue[Call]) -> None:
    with suppress(queue.Empty):
        while True:
            waiting.get_nowait()


def _next(
    answers: queue.SimpleQueue[tuple[_Worker, Answer | None]],
    workers: dict[int, _Worker],
    worker: Callable[[], _Worker],
    settings: ReplaySettings,
) -> Answer | None:
    """The next answer, a time-out among them; None when there is none yet."""
    try:
        who, answer = answers.get(timeout=_TICK_S)
    except queue.Empty:
        return _late(workers, worker, settings)
    if answer is None:
        workers.pop(id(who), None)
    return answer


def _late(
    workers: dict[int, _Worker], worker: Callable[[], _Worker], settings: ReplaySettings
) -> Answer | None:
    for who in list(workers.values()):
        call = who.overdue(settings.timeout_s)
        if call is not None:
            del workers[id(who)]
            other = worker()
            workers[id(other)] = other
            failure = f"no answer within {settings.timeout_s:g} s"
            return Answer(call.query_id, (), settings.timeout_s * 1000, failure=failure)
    return None


def _ask(engine: Engine, call: Call, settings: ReplaySettings) -> Answer:
    lots = random.Random(f"{settings.seed} {call.query_id}")  # noqa: S311 - no secret
    tries = 0
    while True:
        tries += 1
        begin = time.perf_counter()
        found = _search(engine, call)
        latency_ms = (time.perf_counter() - begin) * 1000
        if isinstance(found, Reply):
            return Answer(call.query_id, found.hits, latency_ms, tries, about=found.about)
        if not found.again or tries > settings.retries:
            return Answer(call.query_id, (), latency_ms, tries, failure=str(found))
        time.sleep(_BACKOFF_S * 2 ** (tries - 1) * (0.5 + lots.random()))


def _search(engine: Engine, call: Call) -> Reply | EngineError:
    try:
        return engine.search(call)
    except EngineError as error:
        return error
    except Exception as error:  # noqa: BLE001 - a user's callable may raise anything
        return EngineError(f"{type(error).__name__}: {error}")
