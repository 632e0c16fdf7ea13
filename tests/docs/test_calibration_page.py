"""The page about calibration says what the code does."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from relgate.eval.agreement.policy import POLICIES, Level, TrustPolicy
from relgate.eval.agreement.policy_file import read_policy


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs" / "calibration.md").read_text("utf-8")


def test_the_policy_file_on_the_page_is_read_and_states_every_term(page: str, tmp_path: Path):
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "ours.toml").write_text(text, "utf-8")
    policy = read_policy(str(tmp_path / "ours.toml"))
    assert (policy.name, policy.f1_bar, policy.min_labels) == ("ours", 0.75, 400)
    assert all(re.search(rf"^{f.name} = ", text, re.MULTILINE) for f in fields(TrustPolicy))


def test_every_level_is_explained(page: str):
    assert [level for level in Level if f"| `{level}` |" not in page] == []


def test_every_preset_is_named(page: str):
    assert [name for name in POLICIES if f"--policy {name}`" not in page] == []
