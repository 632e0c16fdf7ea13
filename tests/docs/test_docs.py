"""Pages made from code are the code's."""

from __future__ import annotations

from pathlib import Path

from relgate.eval.report.rule_table import rule_table


def test_the_rule_page_is_what_the_rules_say(root: Path) -> None:
    assert (root / "docs" / "rules.md").read_text("utf-8") == rule_table()  # else: make docs
