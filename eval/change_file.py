"""Reads a change description from TOML. I/O."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, StrictBool, StrictFloat, ValidationError

from relgate.eval.change_filters import read_filters
from relgate.eval.change_latency import read_latency
from relgate.eval.change_values import Strict, Text, checked
from relgate.eval.project import first_problem, read_toml
from relgate.eval.review.change import ChangeDescription, ChangeType, Switch
from relgate.eval.review.supplied import GroundTruth, ModeRuns
from relgate.eval.runs.read import read_run
from relgate.rubrics.errors import InputError, UsageError

__all__ = ["ChangeFile", "change_types", "read_change", "read_mode"]

_ONLY_FOR = {
    "ground_truth": (ChangeType.EMBEDDING_MODEL,),
    "filter_strategy": (ChangeType.FILTER_LOGIC,),
    "stage": (ChangeType.RERANKER, ChangeType.REWRITER),
}
"""Keys that a rule looks at for these types of change; elsewhere the reader says so."""


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
    modes: dict[str, dict[str, Any]] | None = None
    exact: str | dict[str, Any] | None = None
    stage: dict[str, Any] | None = None


def _share(value: float) -> float:
    if not math.isnan(value) and not 0 <= value <= 1:
        raise ValueError("outside 0..1")
    return value


_Share = Annotated[StrictFloat, AfterValidator(_share)]


class _Truth(Strict):
    recomputed: StrictBool | None = None
    model: Text | None = None
    source: Text | None = None
    recall_before: _Share | None = None
    recall_after: _Share | None = None


class _Stage(Strict):
    before: Switch
    after: Switch


class _Sides(Strict):
    before: Text
    after: Text


class ChangeFile(BaseModel):
    """A change description and what the reader has to say of it.

    Attributes:
        change: the description; its exact neighbours are read later, at the depth of the review.
        exact: the files of exact neighbours, before and after.
        warnings: what the reader has to say.
    """

    model_config = ConfigDict(frozen=True)

    change: ChangeDescription
    exact: tuple[Path, Path] | None = None
    warnings: tuple[str, ...] = ()


def read_change(path: Path) -> ChangeFile:
    """The change description of a file.

    Raises:
        InputError: not TOML, an unknown key or type of change, a value of another kind, or a fault
            of a file that it names.
    """
    try:
        file = _File.model_validate(read_toml(path))
    except ValidationError as error:
        raise first_problem(error, _File.model_fields, path) from None
    change = ChangeDescription(
        types=change_types(file.type if isinstance(file.type, tuple) else (file.type,), path),
        intent=file.intent,
        description=file.description,
        sha=file.sha,
        head_queries=file.head_queries,
        critical_queries=file.critical_queries,
        system_models=file.system_models,
        ranker_judges=file.ranker_judges,
        latency=None if file.latency is None else read_latency(file.latency, path),
        ground_truth=(
            None if file.ground_truth is None else _ground_truth(file.ground_truth, path)
        ),
        filters=None if file.filter_strategy is None else read_filters(file.filter_strategy, path),
        modes=tuple(_mode(name, table, path) for name, table in (file.modes or {}).items()),
        stage=None if file.stage is None else _stage(file.stage, path),
    )
    return ChangeFile(
        change=change,
        exact=None if file.exact is None else _exact(file.exact, path),
        warnings=tuple(
            f"{name} counts for a change of type {' or '.join(kinds)} only"
            for name, kinds in _ONLY_FOR.items()
            if getattr(file, name) is not None and not set(kinds) & set(change.types)
        ),
    )


def _mode(name: str, data: Mapping[str, Any], path: Path) -> ModeRuns:
    """The runs of one mode, of any format that runs have; paths relative to the description.

    Raises:
        InputError: an unknown key, a side that is missing, or a fault of a run.
    """
    mode = checked(_Sides, data, key=f"modes.{name}", path=path)
    return read_mode(name, path.parent / mode.before, path.parent / mode.after)


def read_mode(name: str, before: Path, after: Path) -> ModeRuns:
    """What a mode returned by itself on both sides.

    Raises:
        InputError: a fault of a run.
        UsageError: one file on both sides.
    """
    if before.exists() and after.exists() and before.samefile(after):
        raise UsageError(f"mode {name}: before and after are the same file")
    return ModeRuns(
        name, read_run(before, name=f"{name} before"), read_run(after, name=f"{name} after")
    )


def _exact(value: str | dict[str, Any], path: Path) -> tuple[Path, Path]:
    """One file for both sides, or one for each; relative to the description."""
    if isinstance(value, str):
        return path.parent / value, path.parent / value
    sides = checked(_Sides, value, key="exact", path=path)
    return path.parent / sides.before, path.parent / sides.after


def _stage(data: Mapping[str, Any], path: Path) -> tuple[Switch, Switch]:
    """Whether the stage ran, before and after.

    Raises:
        InputError: an unknown key, a side that is missing, anything but `on` and `off`.
    """
    stage = checked(_Stage, data, key="stage", path=path)
    return stage.before, stage.after


def _ground_truth(data: Mapping[str, Any], path: Path) -> GroundTruth:
    """What the description says of the ground truth; what it does not say stays None.

    Raises:
        InputError: an unknown key, a value of another kind, a recall outside 0..1.
    """
    truth = checked(_Truth, data, key="ground_truth", path=path)
    return GroundTruth(
        recomputed=truth.recomputed,
        model=truth.model,
        source=truth.source,
        recall_before=truth.recall_before,
        recall_after=truth.recall_after,
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
