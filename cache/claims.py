"""Who is paying for which grade right now: claims, their owners, how one ends. I/O: reads /proc.

A claim is a row of its own, apart from the grades: the key, who holds it, until when. It is taken
before the call, renewed while the call is under way, and given back with the grade or the failure.
A claim whose owner is dead is free at once on the owner's own machine, elsewhere when it expires.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

__all__ = ["CLAIM_S", "LocalClaims", "is_free", "is_gone", "new_owner"]

CLAIM_S: Final = 30.0
"""Seconds for which a claim stands unless it is renewed; renewed at a third of it."""

_UNKNOWN: Final = "?"


def new_owner() -> str:
    """A name for one holder of claims: its machine, process, the process's start, and a number."""
    pid = os.getpid()
    return f"{_machine()} {pid} {_start_of(pid) or _UNKNOWN} {uuid.uuid4().hex}"


def is_gone(owner: str) -> bool:
    """Whether the process behind `owner` is known to have ended.

    Only ever True for a process of this machine, boot and process namespace; without /proc nothing
    is known, and a claim ends when it expires.
    """
    machine, _, rest = owner.partition(" ")
    pid, _, rest = rest.partition(" ")
    start = rest.partition(" ")[0]
    if machine != _machine() or _UNKNOWN in (machine, start) or not pid.isascii():
        return False
    return pid.isdigit() and _start_of(int(pid)) != start


@lru_cache(maxsize=1)
def _machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except (OSError, ValueError):
        return _UNKNOWN


def _start_of(pid: int) -> str | None:
    """When a process started, in ticks since boot; None when it has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()  # the name before it may hold anything
    ended = fields[0] in {"Z", "X"}
    return None if ended else fields[19]


def is_free(
    holder: str | None,
    expires: float | None,
    *,
    owner: str,
    now: float,
    gone: Callable[[str], bool] = is_gone,
) -> bool:
    """Whether `owner` may take a claim that `holder` has until `expires`.

    Args:
        holder: None for a row that names nobody.
        expires: seconds since the epoch; None for never, which no claim of ours says.
        owner: who asks.
        now: seconds since the epoch.
        gone: whether a holder has ended.
    """
    if holder is None or expires is None or holder == owner:
        return True
    # an end far ahead was set before the clock was put back
    return not now < expires <= now + 2 * CLAIM_S or gone(holder)


class LocalClaims:
    """Claims among the tasks and threads of one process."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[str, float]] = {}
        self._turn = threading.Lock()

    def claim_many(self, keys: Iterable[str], *, owner: str, seconds: float) -> set[str]:
        """As `Store.claim_many`."""
        now = time.monotonic()
        gone = cache(is_gone)
        with self._turn:
            mine = {
                key
                for key in keys
                if key not in self._held
                or is_free(*self._held[key], owner=owner, now=now, gone=gone)
            }
            self._held.update(dict.fromkeys(mine, (owner, now + seconds)))
        return mine

    def release_many(self, keys: Iterable[str], *, owner: str) -> None:
        """As `Store.release_many`."""
        with self._turn:
            for key in keys:
                if self._held.get(key, ("", 0.0))[0] == owner:
                    del self._held[key]
