"""The tables of `docs/scale.md` are what the code makes of the example's prompts and of prices."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from relgate.eval.demo import sizing
from relgate.judge.prices import PRICES
from relgate.judge.prompt import candidate_summary
from relgate.judge.tokens import TokenRange
from relgate.judge.types import Candidate


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs/scale.md").read_text("utf-8")


def test_the_tables_of_the_page_are_those_that_the_code_makes(page) -> None:
    made = page.partition(sizing.BEGIN)[2].partition(sizing.END)[0]
    assert made == sizing.sizing_tables()


def test_money_is_tokens_times_the_price() -> None:
    size = sizing.PromptSize(
        "x", 1_000, 100, TokenRange(10**6, 2 * 10**6), TokenRange(10**5, 10**6)
    )
    price = PRICES["gpt-4.1"]
    low, high = price.input + price.output / 10, 2 * price.input + price.output
    row = next(line for line in sizing.money_table(size).splitlines() if "| 10,000 |" in line)
    assert f"| {10 * low:,.0f} to {10 * high:,.0f} |" in row
    assert row.startswith("| 10,000 | 1,000 | 10.0 to 20.0 | 1.0 to 10.0 |")


def test_real_products_take_what_the_page_says(page, shared: Path) -> None:
    """CrowdFlower's 10,158 pairs: titles, and descriptions with fragments of HTML."""
    path = shared / "data/crowdflower/train.csv.gz"
    groups: dict[str, list[Candidate]] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            product = {"title": row["product_title"], "description": row["product_description"]}
            own = groups.setdefault(row["query"], [])
            own.append(Candidate(row["id"], candidate_summary(product)))
    size = sizing.prompt_size("real products", groups.items())
    assert sizing.size_row(size).replace("real products", "CrowdFlower's products") in page
