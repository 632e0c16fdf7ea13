"""From a checkout to the first verdict on one's own files: the quickstart's three commands."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from doc_blocks import blocks_of
from example_files import rank_eval_files


def the_three_commands(root: Path) -> list[str]:
    page = root / "docs" / "quickstart.md"
    after = page.read_text("utf-8").split("\n").index("## Three commands")
    blocks = [b for b in blocks_of(page, root) if int(b.place.rpartition(":")[2]) > after][:2]
    return "".join(b.text for b in blocks).replace("\\\n", " ").splitlines()


def test_there_are_three_commands(root: Path):
    assert [line.split()[0] for line in the_three_commands(root)] == [
        "python3", ".venv/bin/pip", ".venv/bin/relgate",
    ]  # fmt: skip


@pytest.mark.soak
def test_a_fresh_checkout_comes_to_a_verdict_by_these_commands(root: Path, tmp_path: Path):
    """Really: a clone, a new environment, an installation over the network, a review."""
    clone = tmp_path / "relgate"
    subprocess.run(["git", "clone", "-q", root, clone], check=True)  # noqa: S603, S607 - our own
    files = tmp_path / "own"
    files.mkdir()
    rank_eval_files(files)
    for name in ("before", "after", "request"):
        (files / f"{name}.json").rename(clone / f"{name}.json")
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("VIRTUAL_", "PYTHON"))}
    begin = time.monotonic()
    done = [
        subprocess.run(  # noqa: S602 - our own page
            line, shell=True, cwd=clone, env=environ, capture_output=True, text=True, check=False
        )
        for line in the_three_commands(root)
    ]
    print(f"first verdict after {time.monotonic() - begin:.0f} s")  # noqa: T201 - said, not held to
    assert [d.returncode for d in done] == [0, 0, 4], done[-1].stderr
    assert "REFUSE" in done[-1].stdout
    assert (clone / "report" / "review.html").is_file()
