"""Changes to a golden set, each of which makes another version. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from relgate.eval.golden.types import GoldenSet, Retired, SetName
from relgate.rubrics.errors import UsageError

__all__ = ["move", "retire"]


def move(golden: GoldenSet, ids: Sequence[str], to: SetName, version: str) -> GoldenSet:
    """The set with some queries moved to another of the three sets.

    Raises:
        UsageError: an unknown id, one that is there already, or the version it has now.
    """
    wanted = _known(golden, ids, version)
    there = [query.id for query in golden.queries if query.id in wanted and query.set == to]
    if there:
        raise UsageError(f"query {there[0]!r} is in {to} already")
    queries = tuple(
        replace(query, set=to) if query.id in wanted else query for query in golden.queries
    )
    return golden.with_queries(queries, version)


def retire(golden: GoldenSet, ids: Sequence[str], reason: str, version: str) -> GoldenSet:
    """The set without some queries; their ids stay listed and are never used again.

    Raises:
        UsageError: an unknown id, no reason, the version it has now, or no query left.
    """
    wanted = _known(golden, ids, version)
    if not reason.strip():
        raise UsageError("no reason; say with --reason why the query goes")
    kept = tuple(query for query in golden.queries if query.id not in wanted)
    if not kept:
        raise UsageError("that would leave no query; make another golden set instead")
    gone = tuple(Retired(id=name, reason=reason.strip(), version=version) for name in wanted)
    return replace(golden.with_queries(kept, version), retired=(*golden.retired, *gone))


def _known(golden: GoldenSet, ids: Sequence[str], version: str) -> list[str]:
    if version == golden.version:
        raise UsageError(
            f"the set is version {version!r} already; a changed set needs a new version"
        )
    have = {query.id for query in golden.queries}
    unknown = [name for name in ids if name not in have]
    if unknown or not ids:
        raise UsageError(f"no query {unknown[0]!r} in the set" if unknown else "no query named")
    return list(dict.fromkeys(ids))
