"""The pictures of the concepts: made by their script, right, and told in words."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from relgate.eval.bounds.pool import make_pool
from relgate.eval.bounds.query import delta_bounds
from relgate.eval.metrics.conventions import Conventions

NAMES = ("bounds", "calibration", "gap", "verdict")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawn(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    script = root / "docs" / "_site" / "pictures.py"
    subprocess.run([sys.executable, script, folder], check=True)  # noqa: S603 - our own script
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_what_its_script_draws(root, drawn, name):
    kept = (root / "docs" / "pictures" / f"{name}.svg").read_text("utf-8")
    assert kept == (drawn / f"{name}.svg").read_text("utf-8")  # else: make docs


def test_every_picture_is_on_the_page_and_there_is_no_other(root):
    page = (root / "docs" / "concepts.md").read_text("utf-8")
    assert sorted(re.findall(r"\]\(pictures/(\w+)\.svg\)", page)) == list(NAMES)
    assert sorted(p.stem for p in (root / "docs" / "pictures").iterdir()) == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_tells_in_words_what_it_shows(root, name):
    """Every number of the words beside the picture stands in the picture or its description."""
    tree = ET.parse(root / "docs" / "pictures" / f"{name}.svg").getroot()  # noqa: S314 - ours
    assert tree.get("role") == "img"
    told = f"{tree.findtext(f'{SVG}title')} {tree.findtext(f'{SVG}desc')}"
    shown = " ".join(t.text or "" for t in tree.iter(f"{SVG}text"))
    page = (root / "docs" / "concepts.md").read_text("utf-8")
    (words,) = re.findall(rf"!\[([^\]]+)\]\(pictures/{name}\.svg\)", page)
    numbers = set(re.findall(r"[-+]?\d+\.?\d*", words))
    assert numbers
    missing = {n for n in numbers if n.strip("+").rstrip(".") not in f"{told} {shown}"}
    assert missing <= {"131"}  # the sum of the diagonal of the table of calibration
    assert len(told) > 100


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_all_words_stand_out_from_their_ground(root, name):
    """4.5 to 1 on the card and on each tint that is used: WCAG 2, AA."""
    tree = ET.parse(root / "docs" / "pictures" / f"{name}.svg").getroot()  # noqa: S314 - ours
    inks = {t.get("fill", "") for t in tree.iter(f"{SVG}text")}
    grounds = {r.get("fill", "") for r in tree.iter(f"{SVG}rect")}
    for ink in inks:
        for ground in grounds:
            light, dark = sorted((luminance(ink), luminance(ground)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, ground)


def test_the_bounds_of_the_picture_are_those_of_the_review(root):
    """The picture goes through all fills; a review computes the same ends in another way."""
    pictures = runpy.run_path(str(root / "docs" / "_site" / "pictures.py"))
    page = (root / "docs" / "pictures" / "bounds.svg").read_text("utf-8")
    for known in ({}, {"sock X": 3}):
        pool = make_pool(
            {**pictures["RATED"], **known}, pictures["BEFORE"], pictures["AFTER"],
            Conventions(k=pictures["K"]), max_grade=3,
        )  # fmt: skip
        found = delta_bounds(pool, Conventions(k=pictures["K"]))
        assert f">{found.low:+.2f} to {found.high:+.2f}<" in page
