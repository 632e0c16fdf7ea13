"""Scripted judges, clean and with one planted fault, over the real LlmJudge."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence

import pytest

from relgate.judge.fake import FakeGenerate
from relgate.judge.llm import LlmJudge, make_llm_judge
from relgate.judge.robustness.types import Batch
from relgate.judge.types import Candidate, GenerateReply, GenerateRequest

LINE = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
Answer = Callable[[str, int, int, str], str]
"""From (text, position, batch size, its true label) to the label that the judge gives."""


def truth(text: str) -> str:
    """The label that a text names, as a text of `batches` does; any other text is irrelevant."""
    found = re.search(r"\bclass ([ESCI])\b", text)
    return found[1] if found else "I"


def _judge_that(
    answer: Answer, *, batch_size: int = 10, fails: Callable[[GenerateRequest], bool] | None = None
) -> LlmJudge:
    def generate(request: GenerateRequest) -> str | GenerateReply:
        if fails is not None and fails(request):
            return "no JSON at all"
        lines = LINE.findall(request.prompt)
        rows = [
            {"id": ref, "esci": answer(text, int(ref), len(lines), truth(text)), "reason": "-"}
            for ref, text in lines
        ]
        return json.dumps({"grades": rows})

    return make_llm_judge(FakeGenerate(generate), batch_size=batch_size)


def _drawn(p: float, seed: int = 1) -> Callable[[], bool]:
    """True with probability p, from a seed."""
    rng = random.Random(seed)  # noqa: S311 - a scripted judge's whims
    return lambda: rng.random() < p


def _make_batches(n: int, *, size: int = 10, labels: Sequence[str] = "SCII") -> list[Batch]:
    return [
        Batch(
            f"query {b}",
            tuple(
                Candidate(f"d{b}-{i}", f"item {b} {i} class {labels[(b + i) % len(labels)]}")
                for i in range(size)
            ),
        )
        for b in range(n)
    ]


@pytest.fixture
def batches() -> list[Batch]:
    """Twenty batches of ten, none of whose items is Exact."""
    return _make_batches(20)


@pytest.fixture
def make_batches():
    return _make_batches


@pytest.fixture
def judge_that():
    return _judge_that


@pytest.fixture
def drawn():
    return _drawn


@pytest.fixture
def honest() -> LlmJudge:
    """A judge that reads the label out of the text, wherever it stands."""
    return _judge_that(lambda _text, _position, _size, true: true)
