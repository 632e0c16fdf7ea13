"""The documentation site, and small ones on the same terms."""

from __future__ import annotations

from pathlib import Path

import pytest
from built_site import Site, build_site, whole_site


@pytest.fixture
def site(root: Path) -> Site:
    """The site of this repository."""
    return whole_site(root)


@pytest.fixture
def small_site(root: Path, tmp_path: Path):
    """Builds a site of a few pages given as {name: text}."""

    def build(**pages: str) -> Site:
        for name, text in pages.items():
            path = tmp_path / "sources" / "docs" / f"{name}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        return build_site(tmp_path / "sources", root, tmp_path / "out")

    return build
