"""A judge that counts what it is paid for, and the ways to plant things in a cache file."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable, Sequence
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
