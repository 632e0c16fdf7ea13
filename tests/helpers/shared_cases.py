"""The cases with their right outcomes that lie beside the real data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["shared_case", "shared_cases"]


def shared_cases(shared: Path) -> dict[str, dict[str, Any]]:
    """All of them, by id."""
    lines = (shared / "cases" / "cases.jsonl").read_text("utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


def shared_case(shared: Path, case_id: str) -> dict[str, Any]:
    return shared_cases(shared)[case_id]
