"""kill -9 of a real process at every step, and Ctrl-C: the next run goes on, nothing goes twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
from batch_server import Outcome, all_done


def start(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-X", "utf8", "-m", "relgate.eval", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ),
    )


def ends_as_live(call, shop) -> None:
    done = call(*shop.fill())
    assert done.code == 0, done.err
    assert call(*shop.live()).code == 0
    assert shop.rows("batch.jsonl") == shop.rows("live.jsonl")


def killed(shop, *words: str) -> None:
    """A command that the server ends with SIGKILL."""
    with shop.server.held():
        process = start(*words)
        shop.server.client = process.pid
    _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, err.decode()


@pytest.mark.parametrize(
    ("step", "when"),
    [
        ("upload", "kill-after"),
        ("create", "kill"),
        ("create", "kill-after"),
        ("get", "kill"),
        ("download", "kill-after"),
    ],
)
def test_a_fill_killed_at_a_step_goes_on_and_submits_nothing_twice(call, shop, step, when):
    shop.server.faults[step] = [when]
    killed(shop, *shop.fill())
    ends_as_live(call, shop)
    assert len(shop.server.batches) == 1
    assert set(shop.server.asked.values()) == {1}


def test_a_collect_killed_halfway_goes_on(call, shop):
    assert call(*shop.submit()).code == 0
    shop.server.faults["download"] = ["kill-after"]
    killed(shop, "batch", "collect")
    assert call("batch", "collect").code == 0
    ends_as_live(call, shop)
    assert set(shop.server.asked.values()) == {1}


def test_a_submit_killed_between_two_batches_goes_on_with_the_second(call, shop):
    def halves(requests):
        return Outcome(lines=all_done(requests).lines[: len(requests) // 2])

    shop.server.plans = [halves]
    shop.server.faults["create"] = [None, "kill-after"]
    killed(shop, *shop.fill())  # the first answered half; the second was killed when just made
    ends_as_live(call, shop)
    assert sorted(shop.server.asked.values()) == [1] * (shop.requests // 2) + [2] * (
        shop.requests // 2
    )
    assert len(shop.server.batches) == 2


def test_ctrl_c_while_waiting_says_how_to_go_on(call, shop):
    shop.server.running = True
    process = start(*shop.fill())
    deadline = time.monotonic() + 50
    while not shop.server.calls["get"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"relgate batch collect" in err
    assert shop.state()["id"].encode() in err
    assert b"Traceback" not in err
    shop.server.running = False
    ends_as_live(call, shop)
    assert len(shop.server.batches) == 1


def test_two_at_one_judges_batches_do_not_meet(call, shop):
    shop.server.running = True
    process = start(*shop.fill())
    deadline = time.monotonic() + 50
    while not shop.server.calls["get"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    for words in (shop.submit(), ["batch", "collect"], shop.fill("--out", "other.jsonl")):
        done = call(*words)
        assert done.code == 6
        assert "another relgate" in done.err
    assert call("batch", "status").code == 0  # looks only
    shop.server.running = False
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err.decode()
    assert len(shop.server.batches) == 1


@pytest.mark.soak
def test_killed_at_random_thirty_times_nothing_is_submitted_twice(call, shop):
    draw = random.Random(1)  # noqa: S311 - no secret
    shop.server.running = True
    for _ in range(30):
        process = start(*shop.fill())
        threading.Timer(draw.uniform(0.5, 4.0), process.kill).start()
        process.communicate(timeout=60)
    shop.server.running = False
    ends_as_live(call, shop)
    assert set(shop.server.asked.values()) == {1}
