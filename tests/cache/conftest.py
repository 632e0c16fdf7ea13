"""A judge that counts what it is paid for, and the ways to plant things in a cache file."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socketserver
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from relgate.cache import CachedJudge, open_store
from relgate.judge.types import Candidate, GradeError, JudgedHit


class PaidJudge:
    """Grades by the length of the text; remembers every call; fails the ids it is told to fail."""

    def __init__(
        self,
        *,
        version: str = "esci-v1@00000000",
        fingerprint: str = "f0",
        batch_size: int = 10,
        fail: Sequence[str] = (),
    ) -> None:
        self.version = version
        self.fingerprint = fingerprint
        self.model = "paid-1"
        self.family = "none"
        self.batch_size = batch_size
        self.fail = frozenset(fail)
        self.calls: list[tuple[str, tuple[Candidate, ...]]] = []

    @property
    def graded_texts(self) -> list[str]:
        return [c.text for _, candidates in self.calls for c in candidates]

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        self.calls.append((query, tuple(candidates)))
        await asyncio.sleep(0)
        return [self._one(c, place, len(candidates)) for place, c in enumerate(candidates, 1)]

    def _one(self, candidate: Candidate, place: int, size: int) -> JudgedHit:
        if candidate.id in self.fail:
            return JudgedHit(candidate.id, 0, "I", "judge-error", error=GradeError.TIMEOUT)
        grade = len(candidate.text) % 4
        return JudgedHit(
            candidate.id,
            grade,
            "ICSE"[grade],
            f"because {candidate.text}",
            batch_size=size,
            position=place,
        )

    def grade_sync(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        return asyncio.run(self.grade(query, candidates))


@pytest.fixture
def paid() -> type[PaidJudge]:
    return PaidJudge


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


CANDIDATES = [Candidate(f"p{n}", f"oak stand {'x' * n}") for n in range(12)]


@pytest.fixture
def candidates() -> list[Candidate]:
    return list(CANDIDATES)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "cache"
    store = open_store(folder)
    CachedJudge(PaidJudge(), store).grade_sync("tv stand", CANDIDATES)
    store.close()
    with sqlite3.connect(folder / "cache.db") as con:  # claims came first: grades are rows 1 to 12
        con.execute("UPDATE Cache SET rowid = rowid - (SELECT min(rowid) - 1 FROM Cache)")
    con.close()
    return folder


@pytest.fixture
def filled(template: Path, folder: Path) -> Path:
    """A cache directory with twelve grades for the query `tv stand`."""
    shutil.copytree(template, folder)
    return folder


@pytest.fixture
def second_run(candidates: list[Candidate]) -> Callable[[Path], tuple[PaidJudge, CachedJudge]]:
    """Grade the same pairs again over the cache in a directory; the judges that took part."""

    def run(folder: Path) -> tuple[PaidJudge, CachedJudge]:
        inner = PaidJudge()
        store = open_store(folder)
        cached = CachedJudge(inner, store)
        try:
            hits = cached.grade_sync("tv stand", candidates)
        finally:
            store.close()
        assert [(h.id, h.grade, h.reason) for h in hits] == [
            (c.id, len(c.text) % 4, f"because {c.text}") for c in candidates
        ]
        return inner, cached

    return run


@pytest.fixture
def plant() -> Callable[[Path, str], None]:
    """Run SQL on a cache file, as whoever prepared it would."""

    def run(folder: Path, *statements: str) -> None:
        with sqlite3.connect(folder / "cache.db", isolation_level=None) as con:
            for statement in statements:
                con.execute(statement)
        con.close()

    return run


class CountingServer:
    """Answers each line with `graded`, after a moment, and counts the lines. Local TCP."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        turn = threading.Lock()

        class Handler(socketserver.StreamRequestHandler):
            def handle(handler) -> None:  # noqa: N805 - the outer self is the server
                line = handler.rfile.readline().decode().strip()
                if line:  # a client that was killed says nothing
                    with turn:
                        self.asked[line] += 1
                    time.sleep(0.005)
                    with contextlib.suppress(OSError):
                        handler.wfile.write(b"graded\n")

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            request_queue_size = 128

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def counting() -> Iterator[CountingServer]:
    server = CountingServer()
    yield server
    server.close()


class RedisServer:
    """A real server on a socket file, with each write on disk before it is answered."""

    def __init__(self, folder: Path, *settings: str) -> None:
        self.url = f"unix://{folder}/redis.sock"
        self._folder = folder
        self._settings = settings or ("--appendonly", "yes", "--appendfsync", "always")
        self.start()

    def start(self) -> None:
        import redis  # noqa: PLC0415 - an extra

        self._process = subprocess.Popen(  # noqa: S603 - this system's server
            [  # noqa: S607 - wherever the system has it
                "redis-server", "--port", "0", "--unixsocket", f"{self._folder}/redis.sock",
                "--dir", str(self._folder), "--save", "", *self._settings,
            ],
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        end = time.monotonic() + 20
        client = redis.Redis.from_url(self.url)
        while True:
            try:
                client.ping()
            except redis.exceptions.ConnectionError:
                assert time.monotonic() < end
                time.sleep(0.02)
            else:
                break
        client.close()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def clear(self) -> None:
        import redis  # noqa: PLC0415 - an extra

        with redis.Redis.from_url(self.url) as client:
            client.flushall()


@pytest.fixture(scope="session")
def start_redis() -> Iterator[Callable[..., RedisServer]]:
    """Start a Redis server; all of them end with the tests."""
    if shutil.which("redis-server") is None:
        pytest.skip(
            "no redis-server: the tests over Redis did not run (tools/redis.sh installs it)"
        )
    pytest.importorskip("redis", reason="no redis package: the tests over Redis did not run")
    servers: list[RedisServer] = []
    with tempfile.TemporaryDirectory(prefix="relgate-redis-") as top:

        def start(*settings: str) -> RedisServer:
            folder = Path(top) / str(len(servers))
            folder.mkdir()
            servers.append(RedisServer(folder, *settings))
            return servers[-1]

        yield start
        for server in servers:
            server.kill()


@pytest.fixture(scope="session")
def redis_server(start_redis: Callable[..., RedisServer]) -> RedisServer:
    return start_redis()


@pytest.fixture(params=["disk", "redis"])
def place(request: pytest.FixtureRequest, folder: Path) -> str:
    """Where a store is: a folder, and a server; empty."""
    if request.param == "disk":
        return str(folder)
    server: RedisServer = request.getfixturevalue("redis_server")
    server.clear()
    return server.url
