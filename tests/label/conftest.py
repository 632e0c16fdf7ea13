"""Pairs to grade, and answers on them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from relgate.eval.label.types import Act, Answer, Task
from relgate.eval.lists.types import Query


@pytest.fixture
def tasks() -> Callable[[int], tuple[Task, ...]]:
    """`n` pairs, two a query."""

    def make(n: int) -> tuple[Task, ...]:
        return tuple(
            Task(Query(f"q{i // 2}", f"query {i // 2}"), f"d{i}", f"title: product {i}")
            for i in range(n)
        )

    return make


@pytest.fixture
def answer() -> Callable[..., Answer]:
    """A rater's answer on a task; each has an id of its own."""
    numbers = count()

    def make(task: Task, rater: str, grade: int | None = None, **more) -> Answer:
        act = Act.SKIP if grade is None else Act.GRADE
        fields = {
            "id": f"a{next(numbers)}", "act": act, "rater": rater, "query_id": task.query.id,
            "query": task.query.text, "doc_id": task.doc_id, "at": "2026-11-30T10:00:00+00:00",
            "grade": grade, "skip": "" if grade is not None else "other",
            "text_hash": task.text_hash,
        }  # fmt: skip
        return Answer(**{**fields, **more})

    return make
