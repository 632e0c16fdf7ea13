"""Mutated replies: whatever comes back, one row a candidate, in order, and no exception."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from relgate.judge.parse import parse_reply
from relgate.judge.types import GenerateReply
from relgate.rubrics import load_rubric

RUBRIC = load_rubric()
REFS = ["1", "2", "3", "4", "5"]

GOOD = json.dumps({"grades": [{"id": r, "esci": "S", "reason": "near, ü"} for r in REFS]})
SEEDS = [
    GOOD,
    f"```json\n{GOOD}\n```\nThat is all.",
    "\n".join(json.dumps(row) for row in json.loads(GOOD)["grades"]),
    "First: " + GOOD + " but " + GOOD.replace('"S"', '"I"'),
    "[[" + GOOD[11:-2] + "]]",
]
SPLICES = [
    "{", "}", "[", "]", '"', "\\", ",", ":", "null", "NaN", "-Infinity", "1e999", "9" * 5000,
    "\ud800", "\u0000", "\u202e", '{"grades":', '"id":', '"esci":"E"', "```", "[" * 300,
    '{"a":' * 300, "E", "é",
]  # fmt: skip
FINISH = ["stop", "length", "blocked", "refused", "other"]


def mutated(rng: random.Random, seeds: list[str]) -> GenerateReply:
    text = rng.choice(seeds)
    for _ in range(rng.randrange(6)):
        at = rng.randrange(len(text) + 1)
        match rng.randrange(4):
            case 0:
                text = text[:at]
            case 1:
                text = text[:at] + rng.choice(SPLICES) + text[at:]
            case 2:
                text = text[:at] + text[at + rng.randrange(20) :]
            case _:
                text += rng.choice(seeds)[at:]
    return GenerateReply(text=text, finish_reason=rng.choice(FINISH))


def check(count: int, seeds: list[str]) -> None:
    rng = random.Random(20261130)  # noqa: S311 - a fixed seed, so that a failure can be repeated
    graded = 0
    for _ in range(count):
        rows = parse_reply(mutated(rng, seeds), REFS, RUBRIC).rows
        assert len(rows) == len(REFS)
        for row in rows:
            assert (row.label is None) != (row.error is None)
            assert row.label is None or row.label in RUBRIC.labels
            row.reason.encode()
        graded += sum(row.label is not None for row in rows)
    assert 0 < graded < count * len(REFS)  # some survive and some do not, or nothing was tested


def test_ten_thousand_mutated_replies() -> None:
    check(10_000, SEEDS)


@pytest.mark.soak
def test_a_million_mutated_replies(shared: Path) -> None:
    folder = shared / "data" / "llmjudge" / "raw_outputs"
    lines = [x for f in sorted(folder.glob("*.jsonl")) for x in f.read_text("utf-8").splitlines()]
    real = [str(json.loads(line)["raw_output"]) for line in lines[::40]]
    check(1_000_000, [*SEEDS, *real])
