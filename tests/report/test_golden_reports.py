"""The reports of one review, whole: a change of their words or figures shows as a difference.

The folder's README says what it is made of and how to make the files anew.
"""

from __future__ import annotations

import json
import os
import shutil
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner

from relgate.eval.cli.app import cli

GOLDEN = Path(__file__).parent / "golden"
REPORTS = ("review.json", "review.md")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("golden")
    for path in GOLDEN.iterdir():
        shutil.copy(path, home)
    outer = {"GITHUB_SHA": None, "GITHUB_ACTIONS": None, "GITHUB_STEP_SUMMARY": None}
    flags = ["--before", home / "before.json", "--after", home / "after.json"]
    flags += ["--config", home / "relgate.toml", "--out", home / "out", "--quiet"]
    done = CliRunner(env=outer).invoke(
        cli, ["review", *map(str, flags)], standalone_mode=False, catch_exceptions=False
    )
    assert done.return_value == 3, done.output
    return home / "out"


def _text(path: Path) -> str:
    text = path.read_text("utf-8")
    version = metadata.version("relgate")
    text = text.replace(f'"relgate": "{version}"', '"relgate": "VERSION"')
    return text.replace(f"- relgate: {version}", "- relgate: VERSION")


@pytest.mark.parametrize("name", REPORTS)
def test_the_report_is_the_one_that_was_read_and_kept(made, name):
    if os.environ.get("REGENERATE"):
        (GOLDEN / name).write_text(_text(made / name), "utf-8")
    assert _text(made / name) == (GOLDEN / name).read_text("utf-8")


def test_its_figures_are_those_worked_out_by_hand():
    """NDCG@10 with 2^g - 1; q9 no longer finds anything."""
    document = json.loads((GOLDEN / "review.json").read_text("utf-8"))
    by_id = {q["id"]: q for q in document["queries"]}
    # q1: before 3, 1, 0 is the ideal; after 0, none, 3: 7/2 over 7 + 1/log2(3)
    assert by_id["q1"]["before"] == 1.0
    assert by_id["q1"]["after"] == pytest.approx(3.5 / 7.63093, abs=1e-6)
    # q4: before 3, 2, 0 is the ideal; after none, 3: 7/log2(3) over 7 + 3/log2(3)
    assert by_id["q4"]["after"] == pytest.approx(4.41651 / 8.89279, abs=1e-6)
    assert (by_id["q9"]["before"], by_id["q9"]["after"]) == (1.0, 0.0)
    assert document["verdict"] == "BLOCK"
    assert [x["id"] for x in document["losers"]][:3] == ["q9", "q1", "q4"]


def test_its_actions_suggest_one_way_mappings_for_the_queries_that_lost():
    document = json.loads((GOLDEN / "review.json").read_text("utf-8"))
    assert "jogging => jogging, running" in document["actions"][0]
    assert '"running socks"' in document["actions"][0]


def test_its_lists_bear_the_titles_of_the_catalogue():
    text = (GOLDEN / "review.md").read_text("utf-8")
    assert '| 1 | sock-1 "Running socks, pair" (grade 3) ▼ | shoe-3 "Marathon racing shoe"' in text
