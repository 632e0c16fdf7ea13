"""The demo's story comes out of its data: another synonym file and label seed tell another."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from relgate.eval.cli.app import cli

# Words that have nothing to do with each other: a change that nobody should ship.
HARMFUL = "shoes, socks, tent, jacket\nbackpack, bottle, gloves, hat\nmen, women, kids\n"


def story(folder: Path, *words: str) -> dict[str, str]:
    done = CliRunner().invoke(
        cli, ["demo", "--out", str(folder), "--json", "--quiet", *words], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("demo")
    return folder, story(folder)


def test_it_refuses_first_and_then_names_the_head_queries_that_broke(
    told: tuple[Path, dict[str, str]],
) -> None:
    folder, result = told
    assert result["first_verdict"] == "REFUSE"
    assert result["verdict"] == "NEEDS-WORK"
    page = (folder / "3-review-filled" / "review.md").read_text("utf-8")
    assert "head queries regressed" in page
    assert "one-way" in page  # the advice for a two-way synonym file
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    wanted = ["Search relevance review", "Aggregate", "Per-query", "Unrated check", "Verdict",
              "Recommended actions"]  # fmt: skip
    places = [next(i for i, h in enumerate(headings) if h.startswith(w)) for w in wanted]
    assert places == sorted(places)


def test_it_says_that_the_shop_is_made_up_and_its_labels_are_by_rule(
    told: tuple[Path, dict[str, str]],
) -> None:
    folder, result = told
    assert result["judge_level"] != "trusted"  # labels by rule say nothing about people
    page = (folder / "2-calibration" / "calibration.md").read_text("utf-8")
    assert "say nothing about agreement with people" in page


def test_its_reports_say_what_they_are_made_of(told: tuple[Path, dict[str, str]]) -> None:
    folder, _ = told
    for step in ("1-review", "3-review-filled"):
        document = json.loads((folder / step / "review.json").read_text("utf-8"))
        wanted = {
            "before",
            "after",
            "judgments",
            "catalogue",
            "queries",
            "change",
            "relgate",
            "seed",
        }
        assert document["inputs"].keys() == wanted
        for name in ("review.md", "review.html"):
            page = (folder / step / name).read_text("utf-8")
            assert "made by rule: an example" in page
            assert document["inputs"]["judgments"] in page


def test_no_synonyms_are_no_reason_to_refuse(tmp_path: Path) -> None:
    (tmp_path / "none.txt").write_text("", "utf-8")
    result = story(tmp_path / "out", "--synonyms", str(tmp_path / "none.txt"), "--label-seed", "3")
    assert result["first_verdict"] == "NEEDS-WORK"


def test_harmful_synonyms_are_blocked_under_another_label_seed(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text(HARMFUL, "utf-8")
    result = story(tmp_path / "out", "--synonyms", str(tmp_path / "bad.txt"), "--label-seed", "3")
    assert result["verdict"] == "BLOCK"


def test_another_label_seed_gives_other_figures(
    told: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    other = story(tmp_path / "out", "--label-seed", "11")
    assert other["headline"] != told[1]["headline"]
