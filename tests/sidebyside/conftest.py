"""Two runs that differ, and votes on them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relgate.eval.inputs import align_inputs
from relgate.eval.project import Project
from relgate.eval.runs.given import run_of_ranked
from relgate.eval.sidebyside.match import Matches, Side, match_runs
from relgate.eval.sidebyside.types import Preference, Vote

Ranked = dict[str, list[str]]


@pytest.fixture
def matched() -> Callable[..., Matches]:
    """Pairs two `{query: documents}`."""

    def make(before: Ranked, after: Ranked, *, k: int = 3, **settings: int) -> Matches:
        runs = [run_of_ranked(before, name="old"), run_of_ranked(after, name="new")]
        return match_runs(align_inputs(None, runs, Project()), k=k, **settings)

    return make


@pytest.fixture
def many(matched) -> Callable[..., Matches]:
    """`n` queries whose two lists are each other's reverse."""

    def make(n: int, **settings: int) -> Matches:
        lists = {f"q{i}": [f"a{i}", f"b{i}", f"c{i}"] for i in range(n)}
        return matched(lists, {q: docs[::-1] for q, docs in lists.items()}, **settings)

    return make


@pytest.fixture
def vote() -> Callable[..., Vote]:
    """A vote of `ann` with what is told apart."""

    def make(
        query: str, prefers: str, *, rater: str = "ann", left: str = "before", note: str = ""
    ) -> Vote:
        return Vote(rater, query, query, Preference(prefers), Side(left), note)

    return make
