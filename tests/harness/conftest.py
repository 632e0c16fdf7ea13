"""Real search servers, a proxy that injects faults, and a server of ours asked by template."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ENGINES = Path(".venv", "peers", "engines")
DOCS = {
    "p1": ("red running shoes", "acme"),
    "p2": ("blue running shoes", "zeta"),
    "p3": ("red desk lamp", "acme"),
    "p4": ("oak desk", "zeta"),
    "p5": ("red oak desk lamp", "zeta"),
}


def _ask(url: str, method: str = "GET", body: bytes | None = None) -> Any:
    request = urllib.request.Request(  # noqa: S310 - loopback
        url, data=body, method=method, headers={"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=10) as reply:  # noqa: S310 - loopback
        return json.loads(reply.read())


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@dataclass
class SearchServer:
    """A search server as a process of its own, with the documents of `DOCS` in `shop`."""

    kind: str
    command: Callable[[int], list[str]]
    port: int = field(default_factory=_free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - a command of ours
            self.command(self.port),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        end = time.monotonic() + 20
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                _ask(self.url)
                return
            time.sleep(0.05)
        self.kill()
        raise RuntimeError(f"{self.kind} did not start")

    def fill(self) -> None:
        mapping = {"title": {"type": "text"}, "brand": {"type": "keyword"}}
        body = json.dumps({"mappings": {"properties": mapping}}).encode()
        with contextlib.suppress(urllib.error.HTTPError):  # it is there: the server keeps its data
            _ask(f"{self.url}/shop", "PUT", body)
        lines = [
            json.dumps(line)
            for doc_id, (title, brand) in DOCS.items()
            for line in (
                {"index": {"_index": "shop", "_id": doc_id}},
                {"title": title, "brand": brand},
            )
        ]
        request = urllib.request.Request(  # noqa: S310 - loopback
            f"{self.url}/_bulk?refresh=true",
            data=("\n".join(lines) + "\n").encode(),
            method="POST",
            headers={"content-type": "application/x-ndjson"},
        )
        with urllib.request.urlopen(request, timeout=10) as reply:  # noqa: S310 - loopback
            assert json.loads(reply.read())["errors"] is False

    def kill(self) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(timeout=10)


@pytest.fixture(params=["opensearch", "elasticsearch"])
def server(request: pytest.FixtureRequest, root: Path, tmp_path: Path) -> Iterator[SearchServer]:
    """osmem-server with the OpenSearch API, noida-db with the Elasticsearch API."""
    found = list((root / ENGINES).glob("lib/*/site-packages/osmem_server/bin/osmem-server"))
    noida = root / ENGINES / "bin" / "noida-db"
    if not found or not noida.is_file():
        pytest.skip("no osmem-server and noida-db (PyPI); run: make peers")
    commands: dict[str, Callable[[int], list[str]]] = {
        "opensearch": lambda port: [
            str(found[0]), "-addr", f"127.0.0.1:{port}", "-no-stdin-watch", "-no-ja",
        ],
        "elasticsearch": lambda port: [
            str(noida), "start", "--only", "elasticsearch", "--elasticsearch-port", str(port),
            "--data-dir", str(tmp_path / "noida"),
        ],
    }  # fmt: skip
    made = SearchServer(request.param, commands[request.param])
    made.start()
    try:
        made.fill()
        yield made
    finally:
        made.kill()


@dataclass
class Proxy:
    """Stands before a server and breaks what it is told to.

    Attributes:
        fault: gets the number of the search (from 1) and its body; says what to do with it: None
            (pass on), "500", "429", "reset", "partial", "timed_out", "cut", "html", or a number
            of seconds to wait first.
        searches: the bodies of the searches that came, in order.
    """

    backend: str
    fault: Callable[[int, str], str | float | None] = lambda _number, _body: None
    searches: list[str] = field(default_factory=list)
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)


def _handler(proxy: Proxy) -> type[BaseHTTPRequestHandler]:
    class Handler(_ProxyHandler):
        of = proxy

    return Handler


class _ProxyHandler(BaseHTTPRequestHandler):
    of: Proxy
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._pass(None)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        with self.of.lock:
            self.of.searches.append(body.decode())
            number = len(self.of.searches)
        fault = self.of.fault(number, body.decode())
        if isinstance(fault, (int, float)):
            time.sleep(fault)
            fault = None
        if fault == "reset":
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()
            self.close_connection = True
        elif fault in {"500", "429"}:
            self._send(int(fault), b'{"error": "injected"}')
        elif fault == "html":
            self._send(200, b"<html>gateway</html>")
        else:
            self._pass(body, fault)

    def _pass(self, body: bytes | None, fault: str | None = None) -> None:
        try:
            request = urllib.request.Request(  # noqa: S310 - loopback
                self.of.backend + self.path,
                data=body,
                method=self.command,
                headers={"content-type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=10) as reply:  # noqa: S310
                status, data = reply.status, reply.read()
        except urllib.error.HTTPError as error:
            status, data = error.code, error.read()
        except OSError:
            self._send(502, b"the server is gone")
            return
        self._send(status, _broken(data, fault), cut=fault == "cut")

    def _send(self, status: int, data: bytes, *, cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        if cut:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


def _broken(data: bytes, fault: str | None) -> bytes:
    if fault not in {"partial", "timed_out"}:
        return data
    value = json.loads(data)
    if fault == "partial":
        value["_shards"] = {"total": 5, "successful": 3, "failed": 2}
    else:
        value["timed_out"] = True
    return json.dumps(value).encode()


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A client that hung up is what these tests are about."""


def _serve(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    web = _Quiet(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=web.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{web.server_port}"
    finally:
        web.shutdown()
        web.server_close()
        thread.join()


@pytest.fixture
def proxy(server: SearchServer) -> Iterator[Proxy]:
    made = Proxy(server.url)
    for url in _serve(_handler(made)):
        made.url = url
        yield made


@dataclass
class Template:
    """A search of our own that notes what it is asked and answers what it is told."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    answer: Callable[[dict[str, Any]], Any] = lambda _: {"hits": [{"id": "p1"}]}


@pytest.fixture
def search() -> Iterator[Template]:
    made = Template()

    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            asked = {
                "path": self.path,
                "method": self.command,
                "body": json.loads(raw) if raw else None,
                "headers": {name.lower(): value for name, value in self.headers.items()},
            }
            made.asked.append(asked)
            data = json.dumps(made.answer(asked)).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = _any  # noqa: N815 - the names that http.server looks for

        def log_message(self, *_: object) -> None:
            pass

    for url in _serve(Handler):
        made.url = url
        yield made


@pytest.fixture
def golden(tmp_path: Path) -> Callable[..., Path]:
    """Writes a golden set of queries given as keyword arguments: id -> query."""

    def write(queries: list[dict[str, Any]], **more: Any) -> Path:
        path = tmp_path / "golden.json"
        path.write_text(json.dumps({"version": "v1", "queries": queries} | more))
        return path

    return write


@pytest.fixture
def engine(tmp_path: Path) -> Callable[[str], Path]:
    """Writes an engine's description."""

    def write(text: str) -> Path:
        path = tmp_path / "engine.toml"
        path.write_text(re.sub(r"^ +", "", text, flags=re.MULTILINE))
        return path

    return write


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


BODY = """
    body = {size = "{size}", query = {bool = {must = [{match = {title = "{text}"}}], \
filter = "{filters:terms}"}}}
"""


@dataclass
class Live:
    """A real server, a proxy before it, and the command."""

    server: SearchServer
    proxy: Proxy
    call: Callable[..., Any]
    write_golden: Callable[..., Path]
    write_engine: Callable[[str], Path]
    out: Path

    def ready(self, queries: list[dict[str, Any]], more: str = "", index: str = "shop") -> None:
        """Writes the set and the engine's description; all goes through the proxy."""
        self.write_golden(queries)
        self.write_engine(f"""
        timeout_s = 5.0
        warm_up = 0
        {more}
        [engine]
        kind = "{self.server.kind}"
        url = "{self.proxy.url}"
        index = "{index}"
        {BODY}
        """)

    def run(self, *more: str) -> Any:
        return self.call(
            "run", "--golden", "golden.json", "--engine", "engine.toml", "--out", "o", *more
        )

    def artifact(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads((self.out / "relevance.json").read_text())
        return value

    def rows(self) -> dict[str, Any]:
        return {row["id"]: row for row in self.artifact()["runs"][0]["per_query"]}

    def docs(self) -> dict[str, Any]:
        lines = (self.out / "run-all.jsonl").read_text().splitlines()
        found = {row["query_id"]: row["docs"] for row in map(json.loads, lines)}
        return {i: docs and [doc["id"] for doc in docs] for i, docs in found.items()}


@pytest.fixture
def live(  # noqa: PLR0917 - fixtures
    server: SearchServer,
    proxy: Proxy,
    call: Callable[..., Any],
    golden: Callable[..., Path],
    engine: Callable[[str], Path],
    tmp_path: Path,
) -> Live:
    return Live(server, proxy, call, golden, engine, tmp_path / "o")
