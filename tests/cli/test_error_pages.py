"""Each error names the page that helps with it."""

from __future__ import annotations

import pytest


def page(done) -> str:
    (line,) = [x for x in done.err.splitlines() if x.startswith("relgate: more: ")]
    return line.removeprefix("relgate: more: ")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["lists", "check", "bad.csv"], "docs/formats.md#judgment-lists"),
        (["score", "--run", "gone.jsonl", "--judgments", "good.csv"], "docs/formats.md#runs"),
        (["gaps", "--config", "bad.toml", "--run", "r.jsonl"], "docs/settings.md"),
        (["certificate", "show", "gone"], "docs/errors.md#bad-input"),
        (["explain", "R99"], "docs/rules.md"),
        (["rubric", "show", "gone.md"], "docs/judge.md#rubrics"),
        (["golden", "check", "gone.json"], "docs/golden.md"),
        (["report", "bad.csv"], "docs/ci.md#what-a-review-writes"),
        (["judge", "q", "--judge", "openai:gpt-4.1", "--text", "a=b"],
         "docs/errors.md#the-provider-refuses"),
    ],
)  # fmt: skip
def test_an_error_names_the_page_of_what_was_at_work(call, tmp_path, words, expected):
    (tmp_path / "bad.csv").write_text("query,doc_id,grade\na,b,9\n", "utf-8")
    (tmp_path / "good.csv").write_text("query,doc_id,grade\na,b,2\n", "utf-8")
    (tmp_path / "bad.toml").write_text("judgmets = 'a'\n", "utf-8")
    done = call(*words)
    assert done.code in {2, 6}, done.err
    assert page(done) == expected


def test_a_toml_file_that_is_no_settings_file_has_its_own_page(call, shop):
    (shop.folder / "change.toml").write_text("type = \n", "utf-8")
    done = call("review", *shop.sides(), "--judgments", "judgments.csv", "--change", "change.toml")
    assert (done.code, page(done)) == (2, "docs/change.md")


def test_a_judge_of_the_pipelines_family_has_its_own_page(call, shop):
    done = call(*shop.review("--system-model", "gpt-4o", "--judge", "openai:gpt-4.1", judge=None))
    assert (done.code, page(done)) == (5, "docs/judge.md#families-and-circles")


def test_a_mistake_on_the_command_line_names_the_help_instead(call):
    done = call("review", "--nonsense")
    assert done.code == 2
    assert "relgate: see: relgate review --help" in done.err
    assert "more:" not in done.err
