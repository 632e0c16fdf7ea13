"""`relgate rubric`: list, show, hash, lint, diff."""

from __future__ import annotations

from pathlib import Path

import pytest

from relgate.rubrics import builtin_names, load_rubric

MINE = """\
+++
tag = "shoes-v1"
floor = 1
label_field = "grade"
label_noun = "grade"
candidate_noun = "products"

[[labels]]
code = "1"
name = "Fits"
grade = 1
positive = [{ query = "red shoes", text = "Red canvas shoe", why = "a shoe, and red" }]

[[labels]]
code = "0"
name = "Misses"
grade = 0
+++
You are a judge of shoes. 1 (Fits) is what was asked for; 0 (Misses) is anything else.
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    folder = tmp_path / "rubrics"
    folder.mkdir()
    file = folder / "shoes-v1.md"
    file.write_text(MINE, "utf-8")
    return file


def test_list_has_the_builtin_rubrics_and_the_projects_own(call, mine: Path) -> None:
    done = call("rubric", "list", "--json")
    rows = done.json["rubrics"]
    assert [x["where"] for x in rows] == ["built-in"] * 3 + [str(Path("rubrics") / mine.name)]
    assert [x["version"].split("@")[0] for x in rows] == [*builtin_names(), "shoes-v1"]
    assert [x["state"] for x in rows] == ["clean"] * 3 + ["4 warning(s)"]
    shown = call("rubric", "list")
    assert "esci-v1@068b13cf" in shown.out
    assert "shoes-v1@" in shown.out


def test_list_without_a_folder_has_the_builtin_rubrics_alone(call) -> None:
    assert len(call("rubric", "list", "--json").json["rubrics"]) == 3


def test_list_shows_a_faulty_file_and_goes_on(call, mine: Path) -> None:
    mine.with_name("broken.md").write_text("no head", "utf-8")
    done = call("rubric", "list", "--json")
    assert done.code == 0
    broken, shoes = done.json["rubrics"][3:]
    assert broken["version"] is None
    assert broken["state"].startswith("error: line 1: no TOML head")
    assert shoes["version"].startswith("shoes-v1@")
    shown = call("rubric", "list").out
    assert "broken.md" in shown
    assert "shoes-v1@" in shown


def test_another_folder_is_named_with_dir(call, mine: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    mine.parent.rename(other)
    assert len(call("rubric", "list", "--dir", other, "--json").json["rubrics"]) == 4
    assert call("rubric", "hash", "shoes-v1", "--dir", other).out.startswith("shoes-v1@")
    assert "is no folder" in call("rubric", "list", "--dir", tmp_path / "none").complaint


def test_show_prints_the_text_and_the_examples_for_people(call) -> None:
    rubric = load_rubric("graded-v1")
    done = call("rubric", "show", "graded-v1")
    assert rubric.system in done.out
    for label in rubric.labels:
        for example in (*label.positive, *label.negative):
            assert example.text in done.out
            assert example.why in done.out
    first = call("rubric", "show", "graded-v1", "--json").json["labels"][0]
    assert len(first["positive"]) == len(first["negative"]) == 3
    assert set(first["positive"][0]) == {"query", "text", "why"}


def test_show_cannot_be_made_to_draw_on_the_terminal(call, mine: Path) -> None:
    mine.write_text(MINE.replace("Red canvas", "Red \\u001b[2J canvas"), "utf-8")
    done = call("rubric", "show", "shoes-v1")
    assert "\x1b" not in done.out
    assert "\\x1b[2J" in done.out


@pytest.mark.parametrize("name", [(), ("esci-v1",)])
def test_hash_prints_the_version_and_nothing_else(call, name: tuple[str, ...]) -> None:
    assert call("rubric", "hash", *name).out == "esci-v1@068b13cf\n"


def test_the_command_as_a_process(process, mine: Path) -> None:
    done = process("rubric", "hash", "shoes-v1")
    assert (done.code, done.err) == (0, "")
    assert done.out.strip() == load_rubric(mine).version
    broken = process("rubric", "hash", "nope")
    assert broken.code == 2
    assert "no rubric 'nope'" in broken.complaint


def test_lint_passes_the_builtin_rubrics(call) -> None:
    done = call("rubric", "lint", *builtin_names())
    assert done.code == 0
    assert done.out.splitlines() == [f"{name}.md: clean" for name in builtin_names()]


def test_lint_lets_warnings_pass_and_fails_on_an_error(call, mine: Path) -> None:
    done = call("rubric", "lint", "shoes-v1")
    assert done.code == 0
    assert done.out.count("warning: ") == 4
    mine.write_text(MINE.replace("asked for;", "asked for. Answer in XML."), "utf-8")
    done = call("rubric", "lint", "shoes-v1")
    assert done.code == 1
    assert "error: the system text asks for another reply: '. Answer in XML'" in done.out


def test_lint_without_a_name_looks_at_all(call, mine: Path) -> None:
    mine.with_name("broken.md").write_text(MINE.replace("floor = 1", "floor ="), "utf-8")
    done = call("rubric", "lint", "--json")
    assert done.code == 1
    found = {Path(x["where"]).name: x["problems"] for x in done.json["rubrics"]}
    assert set(found) == {*(f"{name}.md" for name in builtin_names()), "broken.md", mine.name}
    (problem,) = found["broken.md"]
    assert problem["severity"] == "error"
    assert problem["message"].startswith("line 3: the head is not TOML")


def test_lint_of_no_such_rubric_is_a_usage_fault_and_no_finding(call) -> None:
    assert call("rubric", "lint", "nope").code == 2


def test_lint_finds_a_file_that_borrows_a_builtin_tag(call, mine: Path) -> None:
    mine.write_text(MINE.replace("shoes-v1", "esci-v1"), "utf-8")
    done = call("rubric", "lint", mine)
    assert done.code == 1
    assert "tag 'esci-v1' is that of a built-in rubric with another text" in done.out


def test_lint_warns_of_a_file_that_its_tag_does_not_find(call, mine: Path) -> None:
    other = mine.rename(mine.with_name("boots.md"))
    done = call("rubric", "lint", other)
    assert done.code == 0
    assert "warning: the file is not named after its tag 'shoes-v1'" in done.out


def test_diff_says_what_changed_and_that_grades_are_lost(call, mine: Path) -> None:
    new = mine.with_name("shoes-v2.md")
    new.write_text(MINE.replace("shoes-v1", "shoes-v2").replace("anything else", "no shoe"))
    done = call("rubric", "diff", "shoes-v1", "shoes-v2")
    assert done.code == 0
    lines = done.out.splitlines()
    assert "-0 (Misses) is anything else." in lines
    assert "+0 (Misses) is no shoe." in lines
    assert "no paid grade is taken from the cache" in lines[-1]
    told = call("rubric", "diff", "shoes-v1", "shoes-v2", "--json").json
    assert told["version_changes"] is True
    assert told["grades_kept"] is False


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("a shoe, and red", "both", "paid grades and certificates are kept"),
        ('name = "Misses"', 'name = "Fails"', "the judge's fingerprint changes"),
        ("", "", "no change: both are shoes-v1@"),
    ],
)
def test_diff_says_what_is_kept(call, mine: Path, old: str, new: str, says: str) -> None:
    (mine.parent / "new.md").write_text(MINE.replace(old, new), "utf-8")
    assert says in call("rubric", "diff", mine, mine.parent / "new.md").out


def test_diff_of_a_floor_keeps_grades_and_asks_for_a_calibration(call, mine: Path) -> None:
    three = MINE.replace("grade = 1\n", "grade = 2\n", 1).replace(
        "[[labels]]", '[[labels]]\ncode = "H"\nname = "Half"\ngrade = 1\n\n[[labels]]', 1
    )
    mine.write_text(three, "utf-8")
    (mine.parent / "new.md").write_text(three.replace("floor = 1", "floor = 2"), "utf-8")
    done = call("rubric", "diff", mine, mine.parent / "new.md")
    assert "floor: 1 -> 2" in done.out
    assert "paid grades are kept" in done.out
    assert "calibrate anew" in done.out


def test_a_project_may_name_a_tag_of_its_own_folder(call, shop, mine: Path) -> None:
    (shop.folder / "relgate.toml").write_text('rubric = "shoes-v1"\nscale = "0-1"\n', "utf-8")
    done = call("judge", "red shoes", "--judge", shop.judge(), "--text", "a red shoe", "--json")
    assert load_rubric(mine).version in done.out, done.err
