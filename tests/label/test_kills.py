"""The server is killed at any moment while several raters send: what was told is kept."""

from __future__ import annotations

import http.client
import json
import random
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from relgate.eval.label.answers import read_kept
from relgate.eval.label.export import board_of

RATERS = ("ann", "ben", "cem", "dia")


def sheet(folder: Path, n: int) -> None:
    rows = [
        {"query": f"q{i // 5}", "doc_id": f"d{i}", "grade": None, "text": f"x{i}"} for i in range(n)
    ]
    (folder / "sheet.jsonl").write_text("\n".join(map(json.dumps, rows)))


class Rater(threading.Thread):
    """Grades whatever it is shown, until the server is gone; keeps what it was told."""

    def __init__(
        self, name: str, link: str, lot: int, told: dict[str, tuple[str, str, int]]
    ) -> None:
        super().__init__(daemon=True)
        self._rater = name
        self._told = told
        self._lot = random.Random(lot)  # noqa: S311 - a test
        parts = urlsplit(link)
        self._home = parts.netloc
        token = parts.query.removeprefix("token=")
        self._headers = {
            "cookie": f"relgate-rater-{parts.port}={token}",
            "origin": f"http://{parts.netloc}",
            "content-type": "application/json",
        }

    def run(self) -> None:
        connection = http.client.HTTPConnection(self._home, timeout=5)
        try:
            connection.request("GET", f"/grade?rater={self._rater}", headers=self._headers)
            html = connection.getresponse().read().decode()
            while found := re.search(r'data-pair="(\w+)"', html):
                html = self._grade(connection, found[1], html)
        except (OSError, http.client.HTTPException):
            pass  # killed
        finally:
            connection.close()

    def _grade(self, connection: http.client.HTTPConnection, pair: str, html: str) -> str:
        grade, answer = self._lot.randrange(4), f"{self._lot.getrandbits(64):x}"
        doc = re.search(r">x(\d+)<", html)
        assert doc
        body = {"id": answer, "rater": self._rater, "pair": pair, "grade": grade}
        connection.request("POST", "/answer/grade", json.dumps(body), self._headers)
        reply = connection.getresponse()
        told = json.loads(reply.read())
        if reply.status == http.client.OK and told["kept"]:
            self._told[answer] = (self._rater, f"d{doc[1]}", grade)
        return told["html"]


def one_life(folder: Path, lives: int, told: dict[str, tuple[str, str, int]]) -> None:
    command = [sys.executable, "-m", "relgate.eval", "label", "--sheet", "sheet.jsonl", "--quiet"]
    pipe = subprocess.PIPE
    with subprocess.Popen(  # noqa: S603 - ours
        [*command, "--dual", "1"], stdout=pipe, stderr=pipe, text=True, cwd=folder
    ) as process:
        link = process.stdout.readline().split()[1]
        raters = [Rater(name, link, 100 * lives + i, told) for i, name in enumerate(RATERS)]
        for rater in raters:
            rater.start()
        before, deadline = len(told), time.monotonic() + 20
        while len(told) < before + 5 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(random.Random(lives).random() * 0.2)  # noqa: S311 - a test
        process.kill()
        for rater in raters:
            rater.join()
        assert len(told) >= before + 5, process.stderr.read()


@pytest.mark.parametrize("lives", [2, pytest.param(25, marks=pytest.mark.soak)])
def test_every_answer_that_was_told_is_in_the_file_once(lives, tmp_path):
    sheet(tmp_path, 60 * lives)
    told: dict[str, tuple[str, str, int]] = {}
    for life in range(lives):
        one_life(tmp_path, life, told)
        kept = read_kept(tmp_path / "sheet.answers.jsonl").answers
        found = {a.id: (a.rater, a.doc_id, a.grade) for a in kept}
        assert len(found) == len(kept)
        assert told.items() <= found.items()
        assert len(found) - len(told) <= len(RATERS) * (life + 1)  # kept, and the reply was lost
    board = board_of(kept)
    assert all(len(board.grades(pair)) <= 3 for pair in board.tasks)
