"""Durable keys to live ids. An id is never remapped in silence: a miss is a finding. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from relgate.eval.golden.types import GoldenJudgment, GoldenQuery, GoldenSet
from relgate.eval.lists.types import match_key

__all__ = ["Resolution", "Unresolved", "resolve"]


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A judgment whose document could not be found.

    Attributes:
        query: the query's id.
        locator: its durable key.
        grade: what was judged: a lost grade 3 weighs more than a lost 0.
        why: `unknown` (not in the map), `gone` (in the map without an id), or
            `shared` (another judgment of the query resolves to the same document).
    """

    query: str
    locator: str
    grade: int
    why: str


@dataclass(frozen=True, slots=True)
class Resolution:
    """A set with live ids, and what became of its locators.

    Attributes:
        golden: the set; a judgment that could not be resolved keeps its locator and has no id.
        resolved: how many locators were found.
        moved: (query, locator, old id, new id) where a locator points elsewhere than before.
        unresolved: the rest.
    """

    golden: GoldenSet
    resolved: int
    moved: tuple[tuple[str, str, str, str], ...]
    unresolved: tuple[Unresolved, ...]


def resolve(golden: GoldenSet, live_ids: Mapping[str, str | None]) -> Resolution:
    """The set with every locator looked up.

    Judgments without a locator stay as they are.

    Args:
        golden: the set.
        live_ids: locator -> live id; None where the document is known to be gone.
    """
    known = {match_key(locator): doc_id for locator, doc_id in live_ids.items()}
    work = _Work(known)
    queries = tuple(work.query(query) for query in golden.queries)
    return Resolution(
        replace(golden, queries=queries), work.resolved, tuple(work.moved), tuple(work.unresolved)
    )


class _Work:
    def __init__(self, known: Mapping[str, str | None]) -> None:
        self._known = known
        self.resolved = 0
        self.moved: list[tuple[str, str, str, str]] = []
        self.unresolved: list[Unresolved] = []

    def query(self, query: GoldenQuery) -> GoldenQuery:
        taken = {j.doc_id for j in query.judgments if j.locator is None}
        out: list[GoldenJudgment] = []
        for judgment in query.judgments:
            if judgment.locator is not None:
                judgment = self._judgment(query, judgment, taken)  # noqa: PLW2901 - its next form
                taken.add(judgment.doc_id)
            out.append(judgment)
        return replace(query, judgments=tuple(out))

    def _judgment(
        self, query: GoldenQuery, judgment: GoldenJudgment, taken: set[str | None]
    ) -> GoldenJudgment:
        locator = judgment.locator or ""
        found = self._known.get(match_key(locator))
        why = "gone" if match_key(locator) in self._known else "unknown"
        if found is not None and found in taken:
            found, why = None, "shared"
        if found is None:
            self.unresolved.append(Unresolved(query.id, locator, judgment.grade, why))
            return replace(judgment, doc_id=None)
        self.resolved += 1
        if judgment.doc_id not in {None, found}:
            self.moved.append((query.id, locator, judgment.doc_id or "", found))
        return replace(judgment, doc_id=found)
