"""Where the example's data files are, and their rows. I/O."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relgate.eval.demo.labels import Need

__all__ = ["DATA", "DemoQuery", "read_products", "read_queries"]

DATA = Path(__file__).parent / "data"
"""The folder of the bundled data files."""


@dataclass(frozen=True, slots=True)
class DemoQuery:
    """A query of the example.

    Attributes:
        id: its id.
        text: what the shopper typed.
        head: whether it is among the shop's most frequent queries.
        stratum: which kind of query it is.
        weight: its share of traffic, relative.
        need: what it asks for, for the label rule; the engine never sees it.
    """

    id: str
    text: str
    head: bool
    stratum: str
    weight: int
    need: Need


def read_products(path: Path = DATA / "products.jsonl") -> list[dict[str, Any]]:
    """The shop's products, in file order."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _several(cell: str) -> tuple[str, ...]:
    return tuple(value.strip() for value in cell.split("|") if value.strip())


def _query(row: dict[str, str]) -> DemoQuery:
    need = Need(
        types=_several(row["want_type"]),
        substitutes=_several(row["substitute_type"]),
        complements=_several(row["complement_type"]),
        brands=_several(row["want_brand"]),
        colors=_several(row["want_color"]),
        genders=_several(row["want_gender"]),
        materials=_several(row["want_material"]),
        occasions=_several(row["want_occasion"]),
        max_price=float(row["max_price"]) if row["max_price"] else None,
    )
    return DemoQuery(
        id=row["query_id"],
        text=row["query"],
        head={"true": True, "false": False}[row["head"]],
        stratum=row["stratum"],
        weight=int(row["weight"]),
        need=need,
    )


def read_queries(path: Path = DATA / "queries.csv") -> list[DemoQuery]:
    """The shop's queries with their needs, in file order."""
    with path.open(encoding="utf-8", newline="") as file:
        return [_query(row) for row in csv.DictReader(file)]
