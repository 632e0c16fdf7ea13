"""Every shared case is named by a test: none may be left out in silence."""

from __future__ import annotations

import json
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PARSED = TESTS / "judge" / "test_parse_cases.py"  # names its cases by their numbers


def _named() -> set[str]:
    texts = [path.read_text("utf-8") for path in TESTS.rglob("test_*.py")]
    found = {name.upper() for text in texts for name in re.findall(r"(?i)\b[a-z]\d\d\b", text)}
    found |= {name.upper() for text in texts for name in re.findall(r"(?i)_([a-z]\d\d)_", text)}
    numbers = re.search(r"for n in \(([\d, ]+)\)", PARSED.read_text("utf-8"))
    assert numbers is not None
    return found | {f"P{int(n):02d}" for n in numbers.group(1).split(",")}


def test_every_case_has_a_test_that_names_it(shared: Path) -> None:
    lines = (shared / "cases" / "cases.jsonl").read_text("utf-8").splitlines()
    ids = {json.loads(line)["id"] for line in lines if line.strip()}
    assert ids
    assert ids - _named() == set()


def test_a_case_that_no_test_names_is_found() -> None:
    assert "Z" + "99" not in _named()
