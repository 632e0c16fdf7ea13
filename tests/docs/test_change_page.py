"""The page on the change description is read by the reader itself."""

from __future__ import annotations

import re
from pathlib import Path

from relgate.eval.change_file import read_change
from relgate.eval.review.change import ChangeType


def blocks(root: Path, language: str) -> list[str]:
    page = (root / "docs" / "change.md").read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def test_the_example_is_a_description_that_can_be_read(root: Path, tmp_path: Path) -> None:
    (description, _links), (case,) = blocks(root, "toml"), blocks(root, "json")
    (tmp_path / "change.toml").write_text(description, "utf-8")
    (tmp_path / "filter_cases.jsonl").write_text(case, "utf-8")
    (tmp_path / "latency_after.csv").write_text("latency_ms\n8.1\n22.0\n", "utf-8")
    change = read_change(tmp_path / "change.toml").change
    assert change.latency is not None
    assert change.ground_truth is not None
    assert change.filters is not None
    assert len(change.filters.cases or ()) == 1


def test_every_type_of_change_is_on_the_page(root: Path) -> None:
    page = (root / "docs" / "change.md").read_text("utf-8")
    table = page.partition("## What each type must bring")[2].partition("## Latency files")[0]
    assert [kind for kind in ChangeType if kind not in table] == []
