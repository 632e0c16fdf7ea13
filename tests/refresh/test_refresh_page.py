"""The page about refreshing names what the code has."""

from __future__ import annotations

import re
from pathlib import Path

from relgate.eval.cli.cmd_lists import command as lists
from relgate.eval.cli.cmd_refresh import command as refresh
from relgate.eval.cli.cmd_sample import command as sample
from relgate.eval.refresh.stale import Check, State
from relgate.eval.sampling.pool import POOL_DEPTH


def test_the_page_has_each_check_and_each_state_and_no_other(root: Path) -> None:
    page = (root / "docs" / "refresh.md").read_text("utf-8")
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == [
        "document-gone", "text-changed", "rubric-changed", "judge-changed", "too-old",
    ]  # fmt: skip
    assert set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)) == set(Check)
    assert set(re.findall(r"^- `([a-z]+)`:", page, re.MULTILINE)) == set(State)


def test_every_flag_of_the_page_exists(root: Path) -> None:
    page = (root / "docs" / "refresh.md").read_text("utf-8")
    known = {
        name
        for command in (refresh, sample, lists.commands["merge"])
        for option in command.params
        for name in option.opts
    }
    assert set(re.findall(r"(?<!-)--[a-z][a-z-]*", page)) <= known
    assert f"the first {POOL_DEPTH} documents" in page
