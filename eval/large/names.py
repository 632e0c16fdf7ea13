"""Names of all parts, on disk where memory does not hold them; see `lists.check.Names`. I/O."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from relgate.eval.lists.check import SHOWN

__all__ = ["StoredNames"]


class StoredNames:
    """Names in a table of DuckDB's, told in the order of their texts.

    Args:
        base: DuckDB's.
    """

    def __init__(self, base: Any) -> None:  # noqa: ANN401 - DuckDB's
        self._base = base
        base.execute("CREATE TABLE names (kind VARCHAR, form VARCHAR, name VARCHAR)")

    def add(self, kind: str, names: Iterable[tuple[str, str]]) -> None:
        """As in `Names`."""
        columns = list(zip(*names, strict=True))
        if columns:
            table = import_module("pyarrow").table(columns, names=["form", "name"])
            self._base.register("given", table)
            self._base.execute("INSERT INTO names SELECT ?, form, name FROM given", [kind])

    def alike(self, kind: str) -> tuple[int, tuple[str, ...]]:
        """As in `Names`."""
        groups = (
            "(SELECT form, list_sort(list(DISTINCT name)) AS found FROM names WHERE kind = ? "
            "GROUP BY form HAVING min(name) != max(name))"
        )
        count, firsts = self._told(groups, "found", kind)
        return count, tuple(", ".join(map(repr, found)) for found in firsts)

    def all(self, kind: str) -> tuple[int, tuple[str, ...]]:
        """As in `Names`."""
        names = "(SELECT DISTINCT name AS form, name AS found FROM names WHERE kind = ?)"
        count, firsts = self._told(names, "found", kind)
        return count, tuple(map(repr, firsts))

    def _told(self, rows: str, column: str, kind: str) -> tuple[int, list[Any]]:
        (count,) = self._base.execute(f"SELECT count(*) FROM {rows}", [kind]).fetchone()  # noqa: S608 - ours
        firsts = self._base.execute(
            f"SELECT {column} FROM {rows} ORDER BY form LIMIT {SHOWN}",  # noqa: S608 - ours
            [kind],
        ).fetchall()
        return count, [found for (found,) in firsts]
