"""A fill over two raylets, one of which is killed half-way: real processes, real sockets."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from cluster_fill import KEY, start_fill, without_times, write_project

CONCURRENCY = 8  # the project's default, shared by the workers


def descendants(pid: int) -> list[int]:
    """The processes below `pid`."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(folder.name))
    found, todo = [], [pid]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def kill_node(raylet: int) -> None:
    """SIGKILL for a raylet and all its workers, as when the machine is gone."""
    for pid in (raylet, *descendants(raylet)):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def run_through_a_kill(folder: Path, server, two_nodes, record_property, pairs: int) -> None:
    write_project(folder, pairs)
    alone = start_fill(folder, server.url, "alone")
    said, errors = alone.communicate(timeout=600)
    assert alone.returncode == 0, errors
    total = json.loads(said)["asked"]
    assert total >= pairs
    assert set(server.asked.values()) == {1}
    paid_alone = server.calls
    server.asked.clear()
    server.calls = server.most_at_once = 0

    clustered = start_fill(
        folder, server.url, "cluster", "--engine", "ray", "--ray-address", two_nodes.address,
        "--ray-workers", "2",
    )  # fmt: skip
    while len(server.asked) < total // 2:
        assert clustered.poll() is None, clustered.communicate()
        time.sleep(0.02)
    kill_node(two_nodes.raylet)
    said, errors = clustered.communicate(timeout=900)
    assert clustered.returncode == 0, errors
    done = json.loads(said)
    assert (done["asked"], done["graded"], done["errors"]) == (total, total, {})
    assert "1 node(s) lost" in errors
    assert KEY not in said + errors

    twice = sum(times == 2 for times in server.asked.values())
    record_property("pairs", total)
    record_property("calls", (paid_alone, server.calls))
    record_property("pairs paid twice", twice)
    assert len(server.asked) == total
    assert max(server.asked.values()) <= 2
    # what one worker can hold: blocks of half its calls, four at a time; ten pairs a batch
    assert twice <= 2 * CONCURRENCY * 10
    assert server.most_at_once <= CONCURRENCY + CONCURRENCY // 2  # and what the dead one had open
    assert without_times(folder / "cluster.jsonl") == without_times(folder / "alone.jsonl")


def test_a_lost_node_costs_only_what_it_had_under_way(tmp_path, server, two_nodes, record_property):
    run_through_a_kill(tmp_path, server, two_nodes, record_property, pairs=2_000)


@pytest.mark.soak
def test_a_lost_node_costs_only_what_it_had_under_way_of_20_000(
    tmp_path, server, two_nodes, record_property
):
    run_through_a_kill(tmp_path, server, two_nodes, record_property, pairs=20_000)
