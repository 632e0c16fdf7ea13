"""Reads a change description from TOML. I/O."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from relgate.eval.project import first_problem, read_toml
from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.rubrics.errors import InputError

__all__ = ["ChangeFile", "read_change"]

_NOT_YET = ("filter_strategy", "latency", "ground_truth")
"""Keys of the description that no rule of this version looks at; the reader says so."""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    type: str | tuple[str, ...] = ()
    intent: Literal["improve", "neutral"] | None = None
    description: str | None = None
    sha: str | None = None
    head_queries: tuple[str, ...] = ()
    critical_queries: tuple[str, ...] = ()
    system_models: tuple[str, ...] | None = None
    ranker_judges: tuple[str, ...] = ()
    filter_strategy: dict[str, Any] | None = None
    latency: dict[str, Any] | None = None
    ground_truth: dict[str, Any] | None = None


class ChangeFile(BaseModel):
    """A change description and what the reader has to say of it."""

    model_config = ConfigDict(frozen=True)

    change: ChangeDescription
    warnings: tuple[str, ...] = ()


def read_change(path: Path) -> ChangeFile:
    """The change description of a file.

    Raises:
        InputError: not TOML, an unknown key or type of change.
    """
    try:
        file = _File.model_validate(read_toml(path))
    except ValidationError as error:
        raise first_problem(error, _File.model_fields, path) from None
    unheeded = [name for name in _NOT_YET if getattr(file, name) is not None]
    return ChangeFile(
        change=ChangeDescription(
            types=change_types(file.type if isinstance(file.type, tuple) else (file.type,), path),
            intent=file.intent,
            description=file.description,
            sha=file.sha,
            head_queries=file.head_queries,
            critical_queries=file.critical_queries,
            system_models=file.system_models,
            ranker_judges=file.ranker_judges,
        ),
        warnings=tuple(
            f"the change description gives {name}, which no rule of this version looks at"
            for name in unheeded
        ),
    )


def change_types(names: tuple[str, ...], path: Path | None = None) -> tuple[ChangeType, ...]:
    """Types of change by name.

    Raises:
        InputError: an unknown one; the message lists them all.
    """
    out: list[ChangeType] = []
    for name in names:
        try:
            out.append(ChangeType(name))
        except ValueError:
            raise InputError(
                f"unknown type of change {name!r}",
                path=path,
                mend=f"one of: {', '.join(ChangeType)}",
            ) from None
    return tuple(out)
