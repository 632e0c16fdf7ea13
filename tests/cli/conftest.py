"""Runs commands, as processes or in this one; a small project; a server that counts."""

from __future__ import annotations

import csv
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback
from refreshing import N, now, write

from relgate.cache.keys import text_hash
from relgate.eval.catalogue import read_catalogue

_OUTER = (  # what a CI or a developer's shell may say, and what a command would heed
    "CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "TF_BUILD", "TEAMCITY_VERSION",
    "GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "CIRCLE_SHA1", "GIT_COMMIT",
    "NO_COLOR", "OPENAI_API_KEY", "OPENAI_BASE_URL", "GOOGLE_API_KEY", "GEMINI_API_KEY",
    "GOOGLE_GEMINI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy",
    "https_proxy", "all_proxy",
)  # fmt: skip

JUDGE_MODULE = """\
\"\"\"A judge that reads the grade out of the text, and notes each call.\"\"\"

import json
import os
import re
from pathlib import Path

HERE = Path(__file__).parent


def grade(request):
    with (HERE / "calls.txt").open("a") as file:
        file.write("call\\n")
    rows = []
    for line in request.prompt.splitlines():
        found = re.match(r"(\\d+)\\. .*\\bclass (E|S|C|I)\\b", line)
        if found:
            rows.append({"id": found[1], "esci": found[2], "reason": "as its text says"})
    return json.dumps({"grades": rows})


def broken(request):
    with (HERE / "calls.txt").open("a") as file:
        file.write("call\\n")
    raise RuntimeError("the model is down")
"""


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A bare folder, a bare environment; the log is handed back as it was."""
    for name in _OUTER:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    handlers = logging.getLogger().handlers[:]
    yield
    logging.getLogger().handlers[:] = handlers


GRADES = "ICSE"  # the letter of grade 0, 1, 2, 3


@dataclass
class Shop:
    """A made-up project of `n` queries whose texts say what each document is worth.

    Ten documents a query are labelled by people (half of them relevant) and make the before side,
    worst first. The after side brings six new ones, all relevant, over the best four: better,
    and unrated for more than half.
    """

    folder: Path
    n: int = 45
    module: str = "scripted"
    human: list[tuple[str, str, int]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    before: dict[str, list[str]] = field(default_factory=dict)
    after: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for i in range(self.n):
            query = f"query {i}"
            known = [(f"h{i}-{j}", grade) for j, grade in enumerate((0, 0, 0, 1, 1, 2, 2, 2, 3, 3))]
            new = [(f"n{i}-{j}", grade) for j, grade in enumerate((3, 3, 3, 2, 2, 2))]
            for doc, grade in (*known, *new):
                self.texts[doc] = f"item {doc} class {GRADES[grade]}"
            self.human += [(query, doc, grade) for doc, grade in known]
            self.before[query] = [doc for doc, _ in known]
            best = [doc for doc, _ in reversed(known)][:4]
            self.after[query] = [doc for doc, _ in new] + best

    def write(self) -> Shop:
        write_csv(self.folder / "judgments.csv", ("query", "doc_id", "grade"), self.human)
        write(
            self.folder / "catalogue.jsonl",
            [{"id": doc, "title": text} for doc, text in self.texts.items()],
        )
        for name, run in (("before", self.before), ("after", self.after)):
            write(self.folder / f"{name}.jsonl", [{"query": q, "docs": d} for q, d in run.items()])
        (self.folder / f"{self.module}.py").write_text(JUDGE_MODULE, encoding="utf-8")
        return self

    @property
    def new(self) -> int:
        """Documents that nobody rated."""
        return 6 * self.n

    @property
    def calls(self) -> int:
        """Calls that the scripted judge has had."""
        path = self.folder / "calls.txt"
        return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0

    def judge(self, function: str = "grade") -> str:
        return f"python:{self.module}:{function}"

    def sides(self) -> list[str]:
        return ["--before", "before.jsonl", "--after", "after.jsonl"]

    def fill(self, *more: str, out: str = "filled.jsonl", judge: str = "grade") -> list[str]:
        """The words of a fill of both runs."""
        return [
            "fill", "--run", "before.jsonl", "--run", "after.jsonl", "--judgments",
            "judgments.csv", "--judgments-source", "human", "--catalogue", "catalogue.jsonl",
            "--judge", self.judge(judge), "--out", out, *more,
        ]  # fmt: skip

    def review(self, *more: str, judge: str | None = "grade") -> list[str]:
        """A review's words; with a fill unless `judge` is None."""
        fill = [] if judge is None else ["--judge", self.judge(judge), "--fill"]
        given = ["--judgments", "judgments.csv", "--judgments-source", "human"]
        return [
            "review", *self.sides(), *given, "--catalogue", "catalogue.jsonl", *fill, *more,
        ]  # fmt: skip


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Shop:
    monkeypatch.syspath_prepend(str(tmp_path))
    module = f"scripted_{abs(hash(request.node.nodeid))}"  # imported once a test
    return Shop(tmp_path, module=module).write()


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


@pytest.fixture
def read_jsonl():
    def read_jsonl(path: Path) -> list[dict[str, Any]]:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    return read_jsonl


class Server(Loopback):
    """Answers every POST with one status and body, and keeps what it was sent."""

    def __init__(self) -> None:
        self.status = 200
        self.body: Any = {}
        self.seen: list[dict[str, str]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                server.seen.append({k.lower(): v for k, v in self.headers.items()})
                data = json.dumps(server.body).encode()
                self.send_response(server.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_args: object) -> None:
                """Quiet."""

        super().__init__(Handler)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def judged(call, shop, read_jsonl):
    """A fresh list, old.jsonl: people's grades with their texts' hashes, and a judge's."""
    shop = type(shop)(shop.folder, n=N, module=shop.module).write()
    done = call(*shop.fill(out="old.jsonl"))
    assert done.code == 0, done.err
    catalogue = read_catalogue("catalogue.jsonl")
    rows = read_jsonl(shop.folder / "old.jsonl")
    for row in rows:
        if row["source"] == "human":
            candidate = catalogue.candidate(row["doc_id"])
            row |= {"text_hash": text_hash(candidate.text), "judged_at": now()}
    write(shop.folder / "old.jsonl", rows)
    (shop.folder / "calls.txt").unlink()
    return shop


@pytest.fixture
def plant(judged, read_jsonl):
    """Gives rows of old.jsonl other values; None takes a value away."""

    def plant(docs, **values):
        path = judged.folder / "old.jsonl"
        rows = read_jsonl(path)
        for row in rows:
            if row["doc_id"] in docs:
                row.update(values)
        write(path, [{k: v for k, v in row.items() if v is not None} for row in rows])

    return plant
