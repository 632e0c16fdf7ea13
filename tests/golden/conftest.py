"""Small golden sets, made by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GUIDE = {
    "version": "2026-08-01",
    "k": 10,
    "queries": [
        {
            "id": "q-0471",
            "text": "refund policy for annual plan",
            "locale": "en-US",
            "filters": {"product": "billing", "status": "published"},
            "judgments": [
                {"doc_id": "doc-8821", "grade": 3},
                {"doc_id": "doc-4410", "grade": 2},
                {"doc_id": "doc-1199", "grade": 1},
            ],
        }
    ],
}
"""The sample of the golden-query guide, to the letter."""


@pytest.fixture
def guide() -> dict[str, Any]:
    return json.loads(json.dumps(GUIDE))


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a set as JSON and gives its path."""

    def to(value: Any, name: str = "queries.json") -> Path:
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return path

    return to
