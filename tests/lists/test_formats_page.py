"""The page on formats names what the code knows, no more and no less."""

from __future__ import annotations

import re

from relgate.eval.lists.read import LIST_FORMATS
from relgate.eval.lists.types import SCALES
from relgate.eval.lists.write import WRITE_FORMATS
from relgate.eval.runs.read import RUN_FORMATS
from relgate.eval.runs.write import RUN_WRITE_FORMATS


def _rows(root, heading: str) -> list[list[str]]:
    page = (root / "docs/formats.md").read_text("utf-8")
    part = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in part.splitlines()
        if line.startswith("| `")
    ]


def test_every_list_format_has_its_row_and_says_whether_it_is_written(root):
    rows = {row[0].strip("`"): row[2] for row in _rows(root, "Judgment lists")}
    assert set(rows) == set(LIST_FORMATS)
    assert {name for name, written in rows.items() if written == "yes"} == set(WRITE_FORMATS)


def test_every_run_format_has_its_row_and_says_whether_it_is_written(root):
    rows = {row[0].strip("`"): row[2] for row in _rows(root, "Runs")}
    assert set(rows) == set(RUN_FORMATS)
    assert {name for name, written in rows.items() if written == "yes"} == set(RUN_WRITE_FORMATS)


def test_every_scale_is_named(root):
    named = [name for row in _rows(root, "Scales") for name in re.findall(r"`([^`]+)`", row[0])]
    assert sorted(named) == sorted(SCALES)
