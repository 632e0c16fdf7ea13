"""A small project, a server that speaks both batch protocols, and commands that meet there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from batch_server import BatchServer, batch_server

from relgate.eval.batch import desk as desk_module
from relgate.eval.batch.driver import Patience

LABELS = "ICSE"
QUERIES, DOCS = 4, 7
JUDGES = {"openai": "openai:gpt-4.1-mini", "gemini": "gemini:gemini-2.5-flash"}
_OUTER = (
    "OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
    "http_proxy", "https_proxy", "all_proxy", "CI", "GITHUB_ACTIONS", "NO_COLOR",
)  # fmt: skip


@pytest.fixture(params=["openai", "gemini"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with batch_server() as server:
        yield server


@dataclass
class Shop:
    """A list with one rated document, a run with seven unrated ones a query; three a request."""

    folder: Path
    provider: str
    server: BatchServer

    @property
    def pairs(self) -> int:
        return QUERIES * DOCS

    @property
    def requests(self) -> int:
        return QUERIES * -(-DOCS // 3)

    def words(self, *more: str) -> list[str]:
        return [
            "--run", "run.jsonl", "--judgments", "judgments.csv", "--judgments-source", "human",
            "--catalogue", "catalogue.jsonl", "--judge", JUDGES[self.provider],
            "--system-model", "claude-haiku-4", *more,
        ]  # fmt: skip

    def fill(self, *more: str, out: str = "batch.jsonl") -> list[str]:
        return ["fill", *self.words("--via", "batch", "--poll", "0.02", "--out", out, *more)]

    def live(self, *more: str, out: str = "live.jsonl") -> list[str]:
        return ["fill", *self.words("--cache", "live-cache", "--out", out, *more)]

    def submit(self, *more: str) -> list[str]:
        return ["batch", "submit", *self.words(*more)]

    def rows(self, name: str) -> list[dict[str, Any]]:
        """A written list without the times, in an order of its own."""
        lines = (self.folder / name).read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        for row in rows:
            row.pop("judged_at", None)
        return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))

    def state(self) -> dict[str, Any]:
        """The newest job's state file."""
        files = sorted((self.folder / ".relgate/batches").glob("*/state.json"))
        state: dict[str, Any] = json.loads(files[-1].read_text(encoding="utf-8"))
        return state


@pytest.fixture
def shop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: BatchServer, provider: str
) -> Shop:
    for name in _OUTER:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
    monkeypatch.setattr(desk_module, "Patience", lambda: Patience(first_wait_s=0.01, looks=2))
    (tmp_path / "relgate.toml").write_text("batch_size = 3\nk = 8\n", encoding="utf-8")
    write_shop(tmp_path)
    return Shop(tmp_path, provider, server)


def write_shop(folder: Path) -> None:
    texts, runs, rated = {}, [], ["query,doc_id,grade"]
    for q in range(QUERIES):
        docs = [f"d{q}-{n}" for n in range(DOCS)]
        texts |= {doc: f"item {doc} class {LABELS[n % 4]}" for n, doc in enumerate(docs)}
        texts[f"known-{q}"] = "item known class E"
        runs.append({"query": f"query {q}", "docs": [*docs, f"known-{q}"]})
        rated.append(f"query {q},known-{q},3")
    write = {
        "judgments.csv": "\n".join(rated),
        "run.jsonl": "\n".join(json.dumps(run) for run in runs),
        "catalogue.jsonl": "\n".join(
            json.dumps({"id": doc, "title": text}) for doc, text in texts.items()
        ),
    }
    for name, text in write.items():
        (folder / name).write_text(text + "\n", encoding="utf-8")
