"""How a bench tells a figure: ours beside a peer's, and a goal that is reached or not."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROUNDS = 5


def cpu(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def tell(name: str, ours: float, peer: float, peer_name: str, goal: float | None = None) -> None:
    """One line. `goal` is how many times faster than the peer ours is to be."""
    ratio = peer / ours
    end = (
        "" if goal is None else f"  goal {goal:g}x: {'reached' if ratio >= goal else 'NOT reached'}"
    )
    print(f"{name:<50} {ours:8.4f} s   {peer_name:<28} {peer:8.4f} s   {ratio:6.1f}x{end}")


def versus(
    name: str,
    ours: Callable[[], object],
    peer: Callable[[], object],
    peer_name: str,
    goal: float | None = None,
) -> None:
    """CPU seconds of both, medians of interleaved rounds."""
    mine, theirs = [], []
    for _ in range(ROUNDS):
        mine.append(cpu(ours))
        theirs.append(cpu(peer))
    tell(name, statistics.median(mine), statistics.median(theirs), peer_name, goal)


def apart(
    script: str, names: Sequence[str], write_inputs: Callable[[Path], None], *, rounds: int
) -> dict[str, tuple[float, float]]:
    """CPU seconds and MB of each way, medians of interleaved rounds.

    Each is done by `python script NAME FOLDER`, which prints both.
    """
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(Path(folder))
        for _ in range(rounds):
            for name in names:
                command = [sys.executable, script, name, folder]
                out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                seconds, mb = map(float, out.split())
                found[name].append((seconds, mb))
    return {
        name: (statistics.median(s for s, _ in each), statistics.median(mb for _, mb in each))
        for name, each in found.items()
    }


def peak_mb() -> float:
    """The most memory of this process so far; `ru_maxrss` would tell of its parent too."""
    with open("/proc/self/status", encoding="ascii") as file:  # noqa: PTH123 - no need of a path
        return int(file.read().split("VmHWM:")[1].split()[0]) / 1024
