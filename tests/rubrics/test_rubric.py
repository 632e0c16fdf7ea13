"""Rubric files."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from relgate.rubrics import load_rubric
from relgate.rubrics.errors import InputError

GOOD = (
    '+++\ntag = "t"\nfloor = 1\nlabel_field = "label"\nlabel_noun = "label"\n'
    'candidate_noun = "passages"\n'
    'labels = [{code = "Y", name = "Yes", grade = 1}, {code = "N", name = "No", grade = 0}]\n'
    "+++\nJudge it.\n"
)


def test_the_version_is_the_tag_and_eight_digits_of_the_texts_hash() -> None:
    rubric = load_rubric()
    digest = hashlib.sha256(rubric.system.encode()).hexdigest()
    assert rubric.version == f"esci-v1@{digest[:8]}"


def test_one_character_more_is_another_version() -> None:
    rubric = load_rubric()
    assert replace(rubric, system=rubric.system + ".").version != rubric.version


def test_esci_grades_are_three_to_nought() -> None:
    rubric = load_rubric()
    assert {label.code: label.grade for label in rubric.labels} == {"E": 3, "S": 2, "C": 1, "I": 0}
    assert rubric.floor == 2


def test_a_users_own_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.md"
    file.write_text(GOOD, "utf-8")
    rubric = load_rubric(file)
    assert rubric.system == "Judge it."
    assert rubric.max_grade == 1


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("+++\ntag", "tag", "head"),
        ("floor = 1", "floor = 9", "floor"),
        ("grade = 1", "grade = 2", "grades are"),
        ('"Yes"', '"n"', "share"),
        ('tag = "t"', "", "tag"),
        ("Judge it.", "", "empty"),
        ("floor = 1", "floor = ", "TOML"),
    ],
)
def test_a_faulty_file_is_one_line_with_its_place(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    file = tmp_path / "bad.md"
    file.write_text(GOOD.replace(old, new, 1), "utf-8")
    with pytest.raises(InputError, match=says) as error:
        load_rubric(file)
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(InputError, match="esci-v1"):
        load_rubric("nope")
