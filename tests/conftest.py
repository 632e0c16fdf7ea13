"""Fixtures shared by all tests."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from relgate.eval.cli import main

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's top folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real data and cases; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("RELGATE_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no shared data at RELGATE_SHARED={folder}")
    return folder


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kill switch: a test that would reach a real provider fails at the socket."""
    real = socket.socket.connect

    def connect(self: socket.socket, address: object) -> None:
        host = address[0] if isinstance(address, tuple) else None
        if host is not None and host not in {"127.0.0.1", "::1", "localhost"}:
            raise AssertionError(f"a test tried to reach {host}")
        real(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", connect)


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        """The one line that a user's mistake ends in."""
        assert self.out == "", self.out
        hints = ("relgate: see: ", "relgate: more: ")
        lines = [line for line in self.err.splitlines() if not line.startswith(hints)]
        assert len(lines) == 1, self.err
        return lines[0]


def run_process(
    *args: str | Path, env: dict[str, str] | None = None, cwd: Path | None = None
) -> Done:
    """The command as a user's shell runs it."""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-X", "utf8", "-m", "relgate.eval", *map(str, args)],
        env={**os.environ, **(env or {})},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def process():
    return run_process


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """The command by its entry point, in this process: the same exit codes and streams."""

    def call(*args: str | Path) -> Done:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["relgate", *map(str, args)])
        with pytest.raises(SystemExit) as stop:
            main()
        caught = capsys.readouterr()
        return Done(int(stop.value.code or 0), caught.out, caught.err)

    return call
