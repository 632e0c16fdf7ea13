"""The readme's commands run as they stand, on the bundled example."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from relgate.eval.demo.example import write_example


def shell_commands(root: Path) -> list[list[str]]:
    text = (root / "README.md").read_text("utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith("relgate ")]


def test_every_relgate_command_of_the_readme_runs(root: Path, tmp_path: Path) -> None:
    example = write_example(tmp_path)
    # The readme's file names are those of a team with _rank_eval responses.
    shutil.copy(example.before, tmp_path / "before.json")
    shutil.copy(example.after, tmp_path / "after.json")
    commands = shell_commands(root)
    assert len(commands) >= 4
    for command in commands:
        done = subprocess.run(  # noqa: S603 - our own readme
            [sys.executable, "-m", "relgate.eval", *command[1:]],
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in {0, 1, 3, 4}, f"{command}\n{done.stderr}"
        assert "Traceback" not in done.stderr
    assert (tmp_path / "report" / "review.md").is_file()


def test_the_readmes_python_is_python(root: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text("utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        compile(block, "README.md", "exec")


@pytest.mark.parametrize(
    "name", ["LICENSE", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/dependencies.md"]
)
def test_what_a_project_has(root: Path, name: str) -> None:
    assert (root / name).stat().st_size > 500
