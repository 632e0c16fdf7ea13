"""What a replay leaves: the measured artifact, and the report of how it went. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relgate.eval.drift.measure import measure
from relgate.eval.drift.types import Artifact
from relgate.eval.golden.content import content_hash
from relgate.eval.golden.types import GoldenSet
from relgate.eval.harness.session import Replayed, slug
from relgate.eval.harness.summary import about_of, latency_of, near_duplicates, run_of
from relgate.eval.metrics.conventions import Conventions

__all__ = ["Setup", "artifact_of", "report_of"]


@dataclass(frozen=True, slots=True)
class Setup:
    """What was replayed, and how it is measured.

    Attributes:
        golden: the set.
        conventions: depth, floor, gain.
        caches: `bypassed`, `used`, `none` (there is none) or `not told`.
        about: what the engine says of itself once, and when it was measured.
    """

    golden: GoldenSet
    conventions: Conventions
    caches: str
    about: Mapping[str, str]


def artifact_of(setup: Setup, replayed: Sequence[Replayed]) -> Artifact:
    """The artifact that the alarm compares."""
    golden, conventions = setup.golden, setup.conventions
    said = about_of(answer for one in replayed for answer in one.answers.values())
    runs = tuple(
        measure(
            golden,
            run_of("run", golden.queries, one.answers),
            conventions,
            stages=one.stages,
            latency_ms=latency_of(one.answers.values()),
        )
        for one in replayed
    )
    return Artifact(
        golden_version=golden.version,
        golden_sha256=content_hash(golden),
        conventions={
            "k": str(conventions.k),
            "floor": str(conventions.floor),
            "gain": conventions.gain,
            "no_ideal": conventions.no_ideal,
        },
        settings={"caches": setup.caches},
        about={**setup.about, **said},
        unresolved=_unresolved(golden),
        runs=runs,
    )


def _unresolved(golden: GoldenSet) -> dict[str, tuple[str, ...]]:
    """{query id: locators without a live id}: as much a finding as a drop."""
    found: dict[str, tuple[str, ...]] = {}
    for query, judgment in golden.pairs():
        if judgment.doc_id is None:
            found[query.id] = (*found.get(query.id, ()), judgment.key)
    return found


def report_of(
    artifact: Artifact, golden: GoldenSet, replayed: Sequence[Replayed]
) -> dict[str, Any]:
    """How the replay went, as JSON values: failures, tries, latency, near-duplicate titles."""
    return {
        "golden_version": golden.version,
        "about": dict(artifact.about),
        "unresolved": {query: list(keys) for query, keys in artifact.unresolved.items()},
        "runs": [_part(golden, one) for one in replayed],
    }


def _part(golden: GoldenSet, one: Replayed) -> dict[str, Any]:
    alike = {i: near_duplicates(answer, golden.k) for i, answer in one.answers.items()}
    return {
        "file": f"run-{slug(one.stages)}.jsonl",
        "stages": dict(one.stages),
        "queries": len(one.answers),
        "resumed": one.resumed,
        "failed": {answer.query_id: answer.failure for answer in one.failed},
        "tried_again": sum(answer.tries > 1 for answer in one.answers.values()),
        "latency_ms": latency_of(one.answers.values()),
        "near_duplicates": {i: [list(p) for p in pairs] for i, pairs in alike.items() if pairs},
    }
