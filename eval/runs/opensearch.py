"""Runs out of the experiment results of OpenSearch's Search Relevance Workbench. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from relgate.eval.lists.jsontext import Json, as_list, as_object, as_text
from relgate.eval.lists.notes import Notes
from relgate.eval.lists.types import Query, match_key
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError

__all__ = ["is_opensearch_experiment", "read_opensearch_experiment"]

_TEXT, _IDS, _SETTING = "searchText", "documentIds", "searchConfigurationId"


def is_opensearch_experiment(value: Json) -> bool:
    """Whether `value` is result documents: one, a list of them, or the hits of a `_search`."""
    first = next(_sources(value), None)
    return isinstance(first, dict) and _TEXT in first and _IDS in first


def _sources(value: Json) -> Iterator[Json]:
    hits = value.get("hits") if isinstance(value, dict) else None
    entries = hits.get("hits") if isinstance(hits, dict) else value
    for entry in entries if isinstance(entries, list) else [entries]:
        yield entry.get("_source", entry) if isinstance(entry, dict) else entry


def read_opensearch_experiment(value: Json, path: str, name: str | None) -> Run:
    """What one search configuration returned for each query; the metrics there are not read.

    Raises:
        InputError: a part has another shape, a query stands twice, or the results are those of
            several configurations.
    """
    notes = Notes()
    queries: dict[str, Query] = {}
    docs: list[tuple[str, ...]] = []
    _require_one_setting(value, path)
    for number, source in enumerate(_sources(value), start=1):
        found = as_object(source, f"result {number}", path)
        text = as_text(found.get(_TEXT), f"the {_TEXT} of result {number}", path)
        if match_key(text) in queries:
            raise InputError(
                f"query {text!r} has two results",
                path=path,
                mend="save the results of one experiment and one search configuration",
            )
        queries[match_key(text)] = Query(text, text)
        ids = [
            as_text(doc, f"a document id of result {number}", path)
            for doc in as_list(found.get(_IDS), f"the {_IDS} of result {number}", path)
        ]
        for doc_id in ids:
            notes.look(doc_id)
        docs.append(tuple(ids))
    return Run(
        name=name or Path(path).stem,
        queries=tuple(queries.values()),
        docs=tuple(docs),
        format="opensearch-experiment",
        path=path,
        notes=notes.lines(),
    )


def _require_one_setting(value: Json, path: str) -> None:
    found = dict.fromkeys(
        str(source.get(_SETTING)) for source in _sources(value) if isinstance(source, dict)
    )
    if len(found) > 1:
        raise InputError(
            f"results of {len(found)} search configurations: {', '.join(map(repr, found))}",
            path=path,
            mend="save the results of each by themselves: one is a run",
        )
