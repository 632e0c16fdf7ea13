"""A project of any size, and a fill of it as a process of its own."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

KEY = "sk-cluster-0123456789abcdef"
DOCS = 20


def write_project(folder: Path, pairs: int) -> None:
    """A run of so many unrated documents, 19 a query, and what a fill of it needs."""
    queries = -(-pairs // (DOCS - 1))
    with (folder / "judgments.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["query", "doc_id", "rating"])
        rows.writerows([f"query {q}", f"d{q}-0", q % 4] for q in range(queries))
    with (folder / "run.jsonl").open("w") as run, (folder / "products.jsonl").open("w") as products:
        for q in range(queries):
            docs = [f"d{q}-{i}" for i in range(DOCS)]
            run.write(json.dumps({"query": f"query {q}", "docs": docs}) + "\n")
            for doc in docs:
                products.write(json.dumps({"id": doc, "title": f"product {doc}"}) + "\n")


def start_fill(folder: Path, url: str, out: str, *more: str) -> subprocess.Popen[str]:
    """`relgate fill` as a process, with a cache of its own."""
    command = [
        sys.executable, "-m", "relgate.eval", "fill", "--run", "run.jsonl",
        "--judgments", "judgments.csv", "--judgments-source", "human",
        "--catalogue", "products.jsonl", "--k", str(DOCS), "--judge", f"compatible:m@{url}",
        "--cache", f"cache-{out}", "--out", f"{out}.jsonl", "--json", *more,
    ]  # fmt: skip
    environ = {**os.environ, "OPENAI_API_KEY": KEY}
    return subprocess.Popen(  # noqa: S603 - our own command
        command, cwd=folder, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def without_times(path: Path) -> str:
    """A list as it was written, but for when each grade was made."""
    return re.sub(r'"judged_at": "[^"]*"', '"judged_at": ""', path.read_text(encoding="utf-8"))
