"""The call engine: limits, retries, budgets, and what is left behind."""

from __future__ import annotations

import asyncio
import gc
import random
import threading
import time
from dataclasses import replace

import pytest

from relgate.judge import CallError, Candidate, GenerateReply, GradeError, Usage, make_llm_judge
from relgate.judge.engine import CallEngine, CallPolicy
from relgate.judge.fake import FakeGenerate, grade_lines
from relgate.judge.pace import Pace, Places
from relgate.judge.prices import PRICES, Price, cost_usd, price_of
from relgate.judge.tokens import reply_tokens, token_range
from relgate.judge.types import GenerateRequest
from relgate.rubrics.errors import UsageError

REQUEST = GenerateRequest(system="s", prompt="p", schema={})
QUICK = CallPolicy(backoff_s=0.0)


class Clock:
    """Seconds that move when told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def call(engine: CallEngine, times: int = 1) -> list[GenerateReply | CallError]:
    async def one() -> GenerateReply | CallError:
        try:
            return await engine.call(REQUEST)
        except CallError as error:
            return error

    async def every() -> list[GenerateReply | CallError]:
        return await asyncio.gather(*(one() for _ in range(times)))

    return asyncio.run(every())


def test_no_more_calls_are_under_way_than_allowed() -> None:
    now = most = 0

    async def slow(_: GenerateRequest) -> str:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1
        return "ok"

    call(CallEngine(slow, CallPolicy(concurrency=3)), 20)
    assert most == 3


def test_a_waiting_retry_holds_no_place() -> None:
    order: list[str] = []
    failing = iter([True])

    async def generate(_: GenerateRequest) -> str:
        if next(failing, False):
            order.append("fails")
            raise CallError(GradeError.RATE_LIMITED, "429", retry=True, retry_after_s=0.05)
        order.append("answers")
        return "ok"

    call(CallEngine(generate, CallPolicy(concurrency=1, backoff_s=0)), 3)
    assert order == ["fails", "answers", "answers", "answers"]


def test_a_retry_goes_before_calls_that_have_not_begun() -> None:
    # Else the deadline of a call that failed once runs out behind a long queue.
    seen: list[str] = []
    failed: set[str] = set()

    async def generate(request: GenerateRequest) -> str:
        seen.append(request.prompt)
        await asyncio.sleep(0.01)
        if request.prompt == "0" and "0" not in failed:
            failed.add("0")
            raise CallError(GradeError.PROVIDER, "503", retry=True)
        return "ok"

    async def run() -> None:
        engine = CallEngine(generate, replace(QUICK, concurrency=1))
        requests = [replace(REQUEST, prompt=str(i)) for i in range(6)]
        await asyncio.gather(*(engine.call(r) for r in requests))

    asyncio.run(run())
    assert seen.index("0", 1) <= 2


def test_a_call_gets_so_many_tries_and_no_more() -> None:
    fake = FakeGenerate([CallError(GradeError.PROVIDER, "503", retry=True)] * 9)
    (error,) = call(CallEngine(fake, replace(QUICK, attempts=4)))
    assert isinstance(error, CallError)
    assert len(fake.requests) == 4


def test_the_deadline_covers_all_tries_and_waits() -> None:
    # Case R01: a limit of 30 s must not become 91.6 s by retries; here in tenths.
    async def hangs(_: GenerateRequest) -> str:
        await asyncio.sleep(3600)
        return ""

    policy = CallPolicy(timeout_s=0.1, deadline_s=0.25, attempts=9, backoff_s=0.0)
    begin = time.monotonic()
    (error,) = call(CallEngine(hangs, policy))
    assert isinstance(error, CallError)
    assert error.kind is GradeError.TIMEOUT
    assert 0.25 <= time.monotonic() - begin < 12  # hang guard


def test_waiting_for_a_place_is_no_delay_of_the_call() -> None:
    async def slow(_: GenerateRequest) -> str:
        await asyncio.sleep(0.05)
        return "ok"

    engine = CallEngine(slow, CallPolicy(concurrency=1, deadline_s=0.2))
    assert all(isinstance(r, GenerateReply) for r in call(engine, 8))


@pytest.mark.parametrize("bad", [None, 0, -1.0, float("inf"), float("nan"), True, "30"])
def test_no_endless_timeout_can_be_configured(bad: object) -> None:
    # Case R02.
    with pytest.raises(UsageError, match="timeout_s"):
        CallPolicy(timeout_s=bad)  # type: ignore[arg-type]


def test_too_many_requests_take_places_away_and_successes_give_them_back() -> None:
    clock = Clock()
    places = Places(16, clock)
    places.slow_down()
    places.slow_down()  # within the second: the same burst
    assert places.limit == 12
    clock.now = 1.0
    places.slow_down()
    assert places.limit == 9
    for _ in range(9):
        places.went_well()
    assert places.limit == 10
    for _ in range(1000):
        clock.now += 1
        places.slow_down()
    assert places.limit == 1
    for _ in range(1000):
        places.went_well()
    assert places.limit == 16


def test_a_cancelled_wait_for_a_place_loses_none() -> None:
    async def run() -> int:
        places = Places(1, time.monotonic)
        await places.take()
        waiting = [asyncio.create_task(places.take()) for _ in range(5)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        places.give_back()
        waiting[1].cancel()  # its place may have come in this very moment
        await asyncio.gather(*waiting[:2], return_exceptions=True)
        got = 0
        for task in waiting[2:]:
            await asyncio.wait_for(task, 5)
            got += 1
            places.give_back()
        return got

    assert asyncio.run(run()) == 3


def test_calls_are_spaced_by_requests_and_tokens_a_minute() -> None:
    async def run(pace: Pace, tokens: int) -> float:
        begin = time.monotonic()
        for _ in range(3):
            await pace.wait(tokens)
        return time.monotonic() - begin

    by_requests = Pace(requests_per_minute=1200, tokens_per_minute=None, clock=time.monotonic)
    assert 0.099 <= asyncio.run(run(by_requests, 1)) < 10
    by_tokens = Pace(requests_per_minute=None, tokens_per_minute=60_000, clock=time.monotonic)
    assert 0.099 <= asyncio.run(run(by_tokens, 50)) < 10
    assert not Pace(requests_per_minute=None, tokens_per_minute=None, clock=time.monotonic).limits


def test_the_call_limit_stops_the_run_and_says_how_to_go_on() -> None:
    fake = FakeGenerate(grade_lines(lambda _q, _t: "E"))
    judge = make_llm_judge(fake, batch_size=1, policy=CallPolicy(max_calls=3, concurrency=2))
    hits = judge.grade_sync("q", [Candidate(str(i), str(i)) for i in range(10)])
    assert sum(hit.graded for hit in hits) == len(fake.requests) == 3
    assert {hit.error for hit in hits if not hit.graded} == {GradeError.NOT_ASKED}
    assert "run again" in next(hit.detail for hit in hits if hit.detail)


def test_the_cost_limit_is_never_passed() -> None:
    rng = random.Random(1)  # noqa: S311 - a fixed seed
    price = Price(input=1000.0, output=1000.0)
    spent = 0.0

    async def bills(request: GenerateRequest) -> GenerateReply:
        nonlocal spent
        most = token_range(request.system) + token_range(request.prompt)
        usage = Usage(rng.randrange(most.least, most.most + 1), rng.randrange(15, 90))
        await asyncio.sleep(0.001)
        spent += cost_usd(
            price,
            prompt_tokens=usage.prompt_tokens or 0,
            completion_tokens=usage.completion_tokens or 0,
        )
        return GenerateReply(text=grade_lines(lambda _q, _t: "E")(request), usage=usage)

    policy = CallPolicy(concurrency=8, max_cost_usd=10.0, price=price)
    judge = make_llm_judge(bills, batch_size=1, policy=policy)
    hits = judge.grade_sync("q", [Candidate(str(i), f"text {i}") for i in range(100)])
    graded = sum(hit.graded for hit in hits)
    assert 0 < graded < 100
    assert spent <= 10.0
    assert judge.engine.stats.cost_usd == pytest.approx(spent)


def test_a_reply_without_a_token_count_is_booked_at_its_most() -> None:
    policy = CallPolicy(price=Price(1e6, 1e6))
    engine = CallEngine(FakeGenerate(["ok"]), policy)
    call(engine)
    most = token_range("s").most + token_range("p").most + reply_tokens(1).most
    assert engine.stats.cost_usd == pytest.approx(most)
    assert engine.stats.uncounted == 1


def test_a_cost_limit_without_a_price_is_refused() -> None:
    with pytest.raises(UsageError, match="price"):
        CallPolicy(max_cost_usd=1.0)


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("gpt-4.1-mini", "gpt-4.1-mini"),
        ("gpt-4.1-mini-2025-04-14", "gpt-4.1-mini"),
        ("openrouter/google/gemini-2.5-flash", "gemini-2.5-flash"),
        ("gemini-2.5-flash-preview-05-20", None),
        ("my-model", None),
        (None, None),
    ],
)
def test_a_price_is_known_or_it_is_not(model: str | None, known: str | None) -> None:
    assert price_of(model) == (None if known is None else PRICES[known])


def test_the_users_own_price_goes_first() -> None:
    own = {"gpt-4.1-mini": Price(9, 9), "local": Price(0, 0)}
    assert price_of("gpt-4.1-mini", own) == Price(9, 9)
    assert price_of("local", own) == Price(0, 0)


def test_tokens_of_a_text_lie_in_their_range() -> None:
    # "red running shoes" is 3 tokens and a 250-character English paragraph about 55 (cl100k).
    found = token_range("red running shoes")
    assert found.least <= 3 <= found.most
    assert token_range("夏のランニングシューズ").most >= 11


def storm(calls: int, timeout_s: float) -> tuple[FakeGenerate, object, list[object], float]:
    """30 % 429 with Retry-After, 10 % 503, 5 % reset, 2 % hang."""
    rng = random.Random(7)  # noqa: S311 - a fixed seed
    good = grade_lines(lambda _q, _t: "E")
    latency_s = timeout_s / 10

    async def generate(request: GenerateRequest) -> str:
        await asyncio.sleep(latency_s)
        luck = rng.random()
        if luck < 0.30:
            raise CallError(GradeError.RATE_LIMITED, "429", retry=True, retry_after_s=2 * timeout_s)
        if luck < 0.40:
            raise CallError(GradeError.PROVIDER, "503", retry=True)
        if luck < 0.45:
            raise ConnectionResetError("reset")
        if luck < 0.47:
            await asyncio.sleep(3600)
        return good(request)

    counted: dict[str, int] = {}

    async def counting(request: GenerateRequest) -> str:
        counted[request.prompt] = counted.get(request.prompt, 0) + 1
        return await generate(request)

    policy = CallPolicy(
        concurrency=16, timeout_s=timeout_s, deadline_s=40 * timeout_s, backoff_s=timeout_s / 10
    )
    judge = make_llm_judge(counting, batch_size=1, policy=policy)
    begin = time.monotonic()
    hits = judge.grade_sync("q", [Candidate(str(i), f"text {i}") for i in range(calls)])
    wall_s = time.monotonic() - begin
    return counted, judge, hits, wall_s  # type: ignore[return-value]


def check_storm(calls: int, timeout_s: float) -> float:
    counted, judge, hits, wall_s = storm(calls, timeout_s)
    assert len(hits) == calls
    graded = sum(hit.graded for hit in hits)  # type: ignore[attr-defined]
    listed = sum(hit.error is not None for hit in hits)  # type: ignore[attr-defined]
    assert graded + listed == calls
    assert graded > 0.9 * calls
    assert max(counted.values()) <= 4  # type: ignore[attr-defined]
    assert judge.engine.stopped is None  # type: ignore[attr-defined]
    return wall_s


def test_a_storm_of_429_grades_or_lists_every_pair() -> None:
    check_storm(500, 0.05)


@pytest.mark.soak
def test_a_long_storm_of_429(capsys: pytest.CaptureFixture[str]) -> None:
    wall_s = check_storm(5_000, 0.5)
    with capsys.disabled():
        print(f"\nstorm of 5,000 calls at concurrency 16: {wall_s:.1f} s")  # noqa: T201 - the figure


def test_under_pressure_fewer_calls_are_under_way() -> None:
    now = most_late = 0
    calls = 0

    async def overloaded(_: GenerateRequest) -> str:
        nonlocal now, most_late, calls
        calls += 1
        now += 1
        if calls > 600:
            most_late = max(most_late, now)
        await asyncio.sleep(0.01)
        try:
            if now > 4:  # the server serves four at once
                raise CallError(GradeError.RATE_LIMITED, "429", retry=True)
        finally:
            now -= 1
        return "ok"

    policy = CallPolicy(
        concurrency=32, attempts=200, backoff_s=0.05, max_backoff_s=0.05, deadline_s=60
    )
    engine = CallEngine(overloaded, policy)
    assert all(isinstance(r, GenerateReply) for r in call(engine, 300))
    assert most_late < 32


@pytest.mark.parametrize("wait", [True, False])
def test_a_judge_that_exits_is_a_failed_call_and_ends_nothing(wait: bool) -> None:  # noqa: FBT001
    async def awaited(_: GenerateRequest) -> str:
        raise SystemExit(0)

    def plain(_: GenerateRequest) -> str:
        raise SystemExit(0)

    judge = make_llm_judge(awaited if wait else plain)
    (hit,) = judge.grade_sync("q", [Candidate("a", "a")])
    assert hit.error is GradeError.PROVIDER
    assert "SystemExit" in (hit.detail or "")


def test_a_hung_server_leaves_no_thread_and_no_task() -> None:
    async def hangs(_: GenerateRequest) -> str:
        await asyncio.sleep(3600)
        return ""

    async def run() -> set[asyncio.Task[object]]:
        judge = make_llm_judge(hangs, policy=CallPolicy(timeout_s=0.05, deadline_s=0.1))
        hits = await judge.grade("q", [Candidate("a", "a"), Candidate("b", "b")])
        assert {hit.error for hit in hits} == {GradeError.TIMEOUT}
        return asyncio.all_tasks() - {asyncio.current_task()}  # type: ignore[arg-type]

    threads = set(threading.enumerate())
    assert asyncio.run(run()) == set()
    gc.collect()
    assert set(threading.enumerate()) <= threads  # an earlier test's may end meanwhile
