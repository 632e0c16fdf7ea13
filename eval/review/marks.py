"""What a team says of its queries, put on the queries of the runs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from relgate.eval.lists.types import match_key
from relgate.eval.review.aggregates import query_keys
from relgate.eval.review.types import QueryEvidence

__all__ = ["marked", "names_missing"]


def marked(
    queries: Sequence[QueryEvidence],
    *,
    heads: Iterable[str] = (),
    critical: Iterable[str] = (),
    empty: Iterable[str] = (),
    strata: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[QueryEvidence, ...]:
    """The queries with their marks; a query is found by its id or its text.

    Args:
        queries: those of the runs.
        heads: head queries.
        critical: critical queries.
        empty: queries that are meant to find nothing.
        strata: {query: the strata it is in}.
    """
    head, must, none = (set(map(match_key, names)) for names in (heads, critical, empty))
    groups = {match_key(name): found for name, found in (strata or {}).items()}
    return tuple(
        replace(
            query,
            head=bool(keys & head),
            critical=bool(keys & must),
            expects_empty=bool(keys & none),
            strata=tuple(dict.fromkeys(s for key in sorted(keys) for s in groups.get(key, ()))),
        )
        for query, keys in ((query, query_keys(query.query)) for query in queries)
    )


def names_missing(queries: Sequence[QueryEvidence], names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names, ids or texts, that are no query of the runs."""
    present = {key for q in queries for key in query_keys(q.query)}
    return tuple(sorted(name for name in names if match_key(name) not in present))
