"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

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
