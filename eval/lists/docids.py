"""Which index a document is in, and what its id is then. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from relgate.eval.lists.jsontext import Json, as_object, as_text

__all__ = ["DocIds", "indices_of"]


@dataclass(frozen=True, slots=True)
class DocIds:
    """How `_index` and `_id` become one document id.

    Attributes:
        indices: alias -> concrete index. Elasticsearch leaves a document unrated when its rating
            names an alias.
        composite: whether the id is `index/id`, for one id in several indices.
    """

    indices: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    composite: bool = False

    def index(self, name: str) -> str:
        """The concrete index behind a name; the name itself where it is no known alias."""
        return self.indices.get(name, name)

    def of(self, entry: Mapping[str, Json], where: str, path: str) -> str:
        """The id of a `{_index, _id}`.

        Raises:
            InputError: no `_id`, or no `_index` where the id needs it; `where` says in which part.
        """
        doc_id = as_text(entry.get("_id"), f"a document id in {where}", path)
        if not self.composite:
            return doc_id
        index = as_text(entry.get("_index"), f"an _index in {where}", path)
        return f"{self.index(index)}/{doc_id}"


def indices_of(value: Json, path: str) -> Mapping[str, str]:
    """The map of a file of `alias = "index"`.

    Raises:
        InputError: another shape.
    """
    entries = as_object(value, "the file", path)
    return MappingProxyType(
        {alias: as_text(index, f"the index of {alias!r}", path) for alias, index in entries.items()}
    )
