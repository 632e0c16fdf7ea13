"""A server that counts, and two raylets."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from counting_server import CountingServer


@dataclass
class Two:
    """A cluster of two nodes: where it is, and the process of the second one's raylet."""

    address: str
    raylet: int


@pytest.fixture
def server() -> Iterator[CountingServer]:
    with CountingServer(latency_s=0.05) as counting:
        thread = threading.Thread(target=counting.serve_forever, daemon=True)
        thread.start()
        yield counting
        counting.shutdown()


@pytest.fixture
def two_nodes() -> Iterator[Two]:
    if find_spec("ray") is None:
        pytest.skip("ray is not installed: pip install 'relgate[ray]'")
    command = [sys.executable, str(Path(__file__).with_name("two_nodes.py"))]
    with subprocess.Popen(  # noqa: S603 - our own script
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        line = next(each for each in process.stdout if each.startswith(b"{"))
        yield Two(**json.loads(line))
        process.communicate(timeout=60)
