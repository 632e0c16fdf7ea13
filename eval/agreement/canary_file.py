"""The frozen set of a canary as JSON: texts and grades, so no catalogue moves it. I/O."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from relgate.eval.files import read_json, write_text_atomic
from relgate.rubrics.errors import InputError

__all__ = ["CanaryFile", "CanaryPair", "read_canary", "write_canary"]

Grade = Annotated[int, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CanaryPair(_Strict):
    """A query, a candidate as the judge saw it, and its two grades at freezing."""

    query: str
    doc_id: str
    text: str
    grade: Grade
    again: Grade


class CanaryFile(_Strict):
    """A frozen set."""

    format: Literal["relgate-canary/1"] = "relgate-canary/1"
    judge_version: str
    fingerprint: str
    model: str | None
    frozen_at: str
    pairs: Annotated[tuple[CanaryPair, ...], Field(min_length=1)]


def write_canary(path: Path, canary: CanaryFile) -> None:
    """Writes it whole or not at all. Raises PlatformError where it cannot be written."""
    text = json.dumps(canary.model_dump(mode="json"), ensure_ascii=False, indent=1)
    write_text_atomic(path, text + "\n")


def read_canary(path: Path) -> CanaryFile:
    """The frozen set in a file. Raises InputError: no such file, or no canary."""
    try:
        return CanaryFile.model_validate(read_json(path))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(
            f"no canary: {place}: {first['msg']}", path=path, mend="relgate canary freeze"
        ) from error
