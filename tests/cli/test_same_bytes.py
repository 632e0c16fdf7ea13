"""The same input gives the same reports to the byte, whatever the machine's settings are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SETTINGS = (
    {"PYTHONHASHSEED": "0", "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0",
     "TZ": "UTC", "COLUMNS": "80"},
    {"PYTHONHASHSEED": "4242", "LC_ALL": "C.UTF-8", "TZ": "Asia/Kathmandu", "COLUMNS": "200",
     "MATPLOTLIBRC": "own.rc"},
)  # fmt: skip
REVIEW = {"review.json", "review.md", "review.html", "junit.xml"}
DATED = {"judgments.jsonl"}  # each grade says when it was made


def reports(folder: Path) -> dict[str, bytes]:
    """Every report of a demo, by its path in the folder."""
    places = ("1-review", "2-calibration", "3-review-filled")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for place in places
        for path in sorted((folder / place).iterdir())
        if path.name not in DATED
    }


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, bytes], str]]:
    """Reports and terminal text of two demos, each a process in settings of its own."""
    told = []
    folders = [tmp_path_factory.mktemp(f"run{i}") for i in range(len(SETTINGS))]
    (folders[1] / "own.rc").write_text("font.size: 30\naxes.grid: True\nsvg.fonttype: path\n")
    for folder, settings in zip(folders, SETTINGS, strict=True):
        done = subprocess.run(
            [sys.executable, "-m", "relgate.eval", "demo", "--out", "out"],
            cwd=folder,
            env={**os.environ, **settings},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        told.append((reports(folder / "out"), done.stdout.decode("utf-8")))
    return told


def test_two_runs_write_the_same_reports(twice):
    (first, _), (second, _) = twice
    assert {f"{place}/{name}" for place in ("1-review", "3-review-filled") for name in REVIEW} <= (
        first.keys()
    )
    assert {"2-calibration/calibration.json", "2-calibration/calibration.md"} <= first.keys()
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def test_no_report_names_a_folder_of_this_machine(twice):
    for name, data in twice[0][0].items():
        text = data.decode()
        assert "/tmp" not in text, name  # noqa: S108 - looked for, not used
        assert str(Path.home()) not in text, name


def test_under_an_ascii_locale_texts_of_any_language_are_printed(twice):
    """The first demo ran under one; a traceback would have ended it."""
    assert "ü" in twice[0][1]
