# noqa: INP001 - a script beside its readme, no package
"""Writes golden.json and catalogue.jsonl: example data, drawn from the shop of `relgate demo`.

The products are made up, and their grades follow the rule stated in `relgate.eval.demo.labels`: no
person gave them. In your own repository both files come from your shop and your raters, and this
script goes. Run it in this folder.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from relgate.eval.demo.data_files import DemoQuery, read_products, read_queries
from relgate.eval.demo.labels import grade

EVERY = 3  # of the demo's products
LEAST_RELEVANT = 2  # relevant products that a query needs here
QUERIES = 40
FIELDS = (
    "id", "title", "brand", "price", "category", "type", "colors", "gender", "material",
    "occasions", "description",
)  # fmt: skip
FILTERED = ("men", "women")


def judged(query: DemoQuery, products: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every product that the rule grades above 0."""
    grades = ((str(product["id"]), grade(query.need, product)) for product in products)
    return [{"doc_id": doc_id, "grade": g} for doc_id, g in grades if g]


def entry(query: DemoQuery, products: list[dict[str, Any]]) -> dict[str, Any]:
    """A query of the golden set."""
    return {
        "id": query.id,
        "text": query.text,
        "stratum": query.stratum,
        "weight": query.weight,
        "head": query.head,
        "judgments": judged(query, products),
    }


def filtered(query: DemoQuery, products: list[dict[str, Any]], gender: str) -> dict[str, Any]:
    """The query with a filter: a case of its own, judged among what the filter lets through."""
    there = [product for product in products if product["gender"] == gender]
    more = {"filters": {"gender": gender}, "expect": "non-empty"}
    return {**entry(query, there), "id": f"{query.id}-{gender}", **more}


def golden(products: list[dict[str, Any]]) -> dict[str, Any]:
    """The set: queries with enough relevant products, and some of them with a filter."""

    def is_enough(made: dict[str, Any]) -> bool:
        return sum(j["grade"] >= LEAST_RELEVANT for j in made["judgments"]) >= LEAST_RELEVANT

    queries = read_queries()
    plain = [made for query in queries if is_enough(made := entry(query, products))][:QUERIES]
    with_filter = [
        made
        for query in queries[: QUERIES // 2]
        if not query.need.genders
        for gender in FILTERED
        if is_enough(made := filtered(query, products, gender))
    ]
    return {"version": "example-1", "k": 10, "queries": [*plain, *with_filter]}


def main() -> None:
    """Writes both files."""
    products = [{k: row[k] for k in FIELDS} for row in read_products()[::EVERY]]
    lines = (json.dumps(product, ensure_ascii=False) for product in products)
    Path("catalogue.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    text = json.dumps(golden(products), ensure_ascii=False, indent=1)
    Path("golden.json").write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    main()
