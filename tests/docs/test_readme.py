"""What a project has."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "name", ["LICENSE", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/dependencies.md"]
)
def test_what_a_project_has(root: Path, name: str) -> None:
    assert (root / name).stat().st_size > 500
