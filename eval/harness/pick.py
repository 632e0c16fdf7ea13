"""Takes hits and other facts out of an answer by path: `hits.hits`, `_source.title`. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from relgate.eval.harness.types import EngineError, Hit
from relgate.eval.lists.jsontext import Json, json_name

__all__ = ["HitPaths", "at", "facts", "hits_of"]


@dataclass(frozen=True, slots=True)
class HitPaths:
    """Where the documents stand in an answer.

    Attributes:
        hits: path to the list of hits; empty when the answer is that list.
        id: path to the id inside a hit; empty when a hit is the id.
        score: path to its score, or None.
        title: path to its title, or None.
    """

    hits: str
    id: str
    score: str | None = None
    title: str | None = None


def at(value: Json, path: str) -> Json:
    """What stands at a dotted path; None where there is nothing. Numbers index lists."""
    for part in path.split(".") if path else ():
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def hits_of(value: Json, paths: HitPaths) -> tuple[Hit, ...]:
    """The hits of an answer.

    Raises:
        EngineError: no list at the path, or a hit without an id.
    """
    found = at(value, paths.hits)
    if not isinstance(found, list):
        raise EngineError(
            f"the answer has {json_name(found)}, not a list, at {paths.hits or 'its top'!r}"
        )
    return tuple(_hit(entry, number, paths) for number, entry in enumerate(found, start=1))


def _hit(entry: Json, number: int, paths: HitPaths) -> Hit:
    doc_id = at(entry, paths.id)
    if isinstance(doc_id, int) and not isinstance(doc_id, bool):
        doc_id = str(doc_id)
    if not isinstance(doc_id, str) or not doc_id:
        raise EngineError(f"hit {number} has no id at {paths.id or 'its top'!r}")
    score = at(entry, paths.score) if paths.score is not None else None
    title = at(entry, paths.title) if paths.title is not None else None
    is_number = isinstance(score, (int, float)) and not isinstance(score, bool)
    return Hit(
        doc_id,
        float(score) if is_number else None,  # type: ignore[arg-type]
        title if isinstance(title, str) else None,
    )


def facts(value: Json, paths: Mapping[str, str]) -> dict[str, str]:
    """What an answer says of itself, by name; what it does not say is left out."""
    found = {name: at(value, path) for name, path in paths.items()}
    return {name: str(v) for name, v in found.items() if isinstance(v, (str, int, float))}
