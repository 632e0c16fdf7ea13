"""Reads and writes measured artifacts: ours, and the golden-query guide's relevance.json. I/O."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    ValidationError,
)

from relgate.eval.drift.means import core, means_of, weighted_means_of
from relgate.eval.drift.types import Artifact, Measured, MeasuredQuery, Signal
from relgate.eval.files import read_json, write_text_atomic
from relgate.eval.lists.jsontext import as_object
from relgate.rubrics.errors import InputError

__all__ = ["FORMAT", "artifact_text", "read_artifact", "write_artifact"]

FORMAT = 1
_TOLERANCE = 1e-6

_Number = StrictFloat | StrictInt
_Count = Annotated[StrictInt, Field(ge=0)]


class _Query(BaseModel):
    """A row of `per_query`: the guide's keys, and what we add."""

    model_config = ConfigDict(extra="ignore")

    id: str
    text: str | None = None
    ndcg: _Number | None
    mrr: _Number | None
    p_at_k: _Number | None
    empty: StrictBool
    returned: _Count | None = None
    failed: StrictBool = False
    set: Literal["core", "challenge", "shadow"] = "core"
    stratum: str | None = None
    filtered: StrictBool = False
    expect: str | None = None
    held: StrictBool | None = None
    weight: _Number | None = None


class _Run(BaseModel):
    model_config = ConfigDict(extra="ignore")

    stages: dict[str, str] = Field(default_factory=dict[str, str])
    ndcg: _Number
    mrr: _Number
    precision_at_k: _Number
    empty_rate: _Number
    lt3_rate: _Number | None = None
    per_query: list[_Query] = Field(default_factory=list[_Query])
    latency_ms: dict[str, _Number] | None = None


class _Ours(BaseModel):
    model_config = ConfigDict(extra="forbid")

    relgate_artifact: Literal[1]
    golden_version: str
    golden_sha256: str | None = None
    conventions: dict[str, str] = Field(default_factory=dict[str, str])
    settings: dict[str, str] = Field(default_factory=dict[str, str])
    about: dict[str, str] = Field(default_factory=dict[str, str])
    unresolved: dict[str, list[str]] = Field(default_factory=dict[str, list[str]])
    runs: Annotated[list[_Run], Field(min_length=1)]


class _Guide(_Run):
    """The guide's own artifact: one run, no stages."""

    golden_version: str


def read_artifact(path: str | Path) -> Artifact:
    """A measured artifact.

    Its means are computed again from its queries, where it lists them, and must be equal to
    1e-6: figures edited by hand are refused. NaN is let through: the alarm says so.

    Raises:
        InputError: not such an artifact, a query or a combination of stages twice, or means
            that are not those of its queries.
    """
    value = as_object(read_json(path), "the artifact", path)
    ours = "relgate_artifact" in value
    try:
        if ours:
            model = _Ours.model_validate(value)
            runs = model.runs
        else:
            guide = _Guide.model_validate(value)
            model = _Ours(relgate_artifact=1, golden_version=guide.golden_version, runs=[guide])
            runs = model.runs
    except ValidationError as error:
        raise _fault(error, path) from None
    made = tuple(_measured(run) for run in runs)
    _check(made, path)
    return Artifact(
        golden_version=model.golden_version,
        runs=made,
        golden_sha256=model.golden_sha256,
        conventions=model.conventions,
        settings=model.settings,
        about=model.about,
        unresolved={query: tuple(keys) for query, keys in model.unresolved.items()},
        path=str(path),
    )


def _fault(error: ValidationError, path: str | Path) -> InputError:
    problem = error.errors()[0]
    name = ".".join(str(part) for part in problem["loc"])
    shown = "" if problem["type"] == "missing" else f" (it is {problem.get('input')!r:.60})"
    what = f"{name or 'the artifact'}: {problem['msg']}{shown}"
    return InputError(what, path=path, mend="write it with relgate run, or as the guide has it")


def _measured(run: _Run) -> Measured:
    means = {signal: getattr(run, signal.value) for signal in Signal}
    return Measured(
        stages=run.stages,
        queries=tuple(_query(row) for row in run.per_query),
        means={signal: float(value) for signal, value in means.items() if value is not None},
        latency_ms=run.latency_ms,
    )


def _query(row: _Query) -> MeasuredQuery:
    return MeasuredQuery(
        id=row.id,
        text=row.id if row.text is None else row.text,
        ndcg=row.ndcg,
        mrr=row.mrr,
        precision=row.p_at_k,
        returned=row.returned,
        empty=row.empty,
        failed=row.failed,
        set=row.set,
        stratum=row.stratum,
        filtered=row.filtered,
        expect=row.expect,
        held=row.held,
        weight=row.weight,
    )


def _check(runs: tuple[Measured, ...], path: str | Path) -> None:
    seen: set[str] = set()
    for run in runs:
        if run.words in seen:
            raise InputError(
                f"stages {run.words!r} stand twice", path=path, mend="keep one of the two"
            )
        seen.add(run.words)
        ids: set[str] = set()
        for query in run.queries:
            if query.id in ids:
                raise InputError(
                    f"query {query.id!r} stands twice", path=path, mend="keep one of the two"
                )
            ids.add(query.id)
        _check_means(run, path)


def _check_means(run: Measured, path: str | Path) -> None:
    if not run.queries:
        return
    ours = means_of(core(run.queries))
    for signal, value in run.means.items():
        if signal not in ours:
            continue
        both = (value, ours[signal])
        if all(map(math.isfinite, both)) and abs(both[0] - both[1]) > _TOLERANCE:
            raise InputError(
                f"{signal.value} is {value:.6f}, and {ours[signal]:.6f} by its own queries "
                f"({run.words})",
                path=path,
                mend="measure again; figures of an artifact are not edited by hand",
            )


def artifact_text(artifact: Artifact) -> str:
    """The artifact as JSON, one query a line."""
    head = {
        "relgate_artifact": FORMAT,
        "golden_version": artifact.golden_version,
        "golden_sha256": artifact.golden_sha256,
        "conventions": dict(artifact.conventions),
        "settings": dict(artifact.settings),
        "about": dict(artifact.about),
        "unresolved": {query: list(keys) for query, keys in artifact.unresolved.items()},
    }
    lines = [f" {json.dumps(name)}: {_json(value)}," for name, value in head.items()]
    runs = ",\n".join(_run_text(run) for run in artifact.runs)
    return "\n".join(["{", *lines, ' "runs": [', runs, " ]", "}"]) + "\n"


def _run_text(run: Measured) -> str:
    head: dict[str, Any] = {
        "stages": dict(run.stages),
        "n": len(core(run.queries)),
        **{signal.value: run.means.get(signal) for signal in Signal},
        "weighted": {s.value: mean for s, mean in weighted_means_of(core(run.queries)).items()},
        "latency_ms": None if run.latency_ms is None else dict(run.latency_ms),
    }
    lines = [f"   {json.dumps(name)}: {_json(value)}," for name, value in head.items()]
    rows = ",\n".join(f"    {_json(_row(query))}" for query in run.queries)
    return "\n".join(["  {", *lines, '   "per_query": [', rows, "   ]", "  }"])


def _row(query: MeasuredQuery) -> Mapping[str, Any]:
    return {
        "id": query.id,
        "text": query.text,
        "ndcg": query.ndcg,
        "mrr": query.mrr,
        "p_at_k": query.precision,
        "empty": query.empty,
        "returned": query.returned,
        "failed": query.failed,
        "set": query.set,
        "stratum": query.stratum,
        "filtered": query.filtered,
        "expect": query.expect,
        "held": query.held,
        "weight": query.weight,
    }


def _json(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return json.dumps(value, ensure_ascii=False)


def write_artifact(path: Path, artifact: Artifact) -> None:
    """Writes an artifact."""
    write_text_atomic(path, artifact_text(artifact))
