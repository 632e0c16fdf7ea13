"""Reads a trust policy: a preset by name, or a team's own from a TOML file. I/O."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from relgate.eval.agreement.policy import POLICIES, TrustPolicy, policy_named
from relgate.eval.project import first_problem, read_toml
from relgate.rubrics.errors import InputError, UsageError

__all__ = ["read_policy"]

_Count = Annotated[int, Field(ge=0, strict=True)]
_Share = Annotated[float, Field(ge=0, le=1, strict=True)]
_Bar = _Share | Literal["none"]
_Margin = Annotated[float, Field(ge=0, le=0.5, strict=True)] | Literal["none"]


class _PolicyFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, strict=True)]
    base: str = "default"
    min_labels: _Count | None = None
    min_each_side: _Count | None = None
    f1_bar: _Bar | None = None
    quadratic_kappa_bar: _Bar | None = None
    beat_constant: Annotated[bool, Field(strict=True)] | None = None
    by_lower_bound: Annotated[bool, Field(strict=True)] | None = None
    people_only: Annotated[bool, Field(strict=True)] | None = None
    max_error_rate: _Bar | None = None
    people_margin: _Margin | None = None


def read_policy(name: str) -> TrustPolicy:
    """The policy that a name or a path stands for.

    A file states `name`, and what differs from the preset in `base` (`default` when left out), by
    the names of `TrustPolicy`. `"none"` takes a bar away.

    Args:
        name: a preset, or a path that ends in `.toml`.

    Raises:
        UsageError: no such preset.
        InputError: the file is missing, no TOML, has an unknown key or a value that cannot be
            meant, asks for nothing at all, or takes a preset's name.
    """
    if not name.endswith(".toml"):
        return policy_named(name)
    path = Path(name)
    data = read_toml(path)
    try:
        stated = _PolicyFile.model_validate(data)
    except ValidationError as error:
        raise first_problem(error, _PolicyFile.model_fields, path) from None
    policy = _built(stated, path)
    bars = (policy.f1_bar, policy.quadratic_kappa_bar, policy.people_margin)
    if not policy.beat_constant and all(bar is None for bar in bars):
        raise InputError(
            "asks for no agreement at all, so it would trust any judge",
            path=path,
            mend="set f1_bar, quadratic_kappa_bar or people_margin",
        )
    return policy


def _built(stated: _PolicyFile, path: Path) -> TrustPolicy:
    if stated.name in POLICIES:
        raise InputError(
            f"name {stated.name!r} is that of a preset", path=path, mend="give it one of its own"
        )
    try:
        base = policy_named(stated.base)
    except UsageError as error:
        raise InputError(f"base: {error}", path=path, mend="name one of these presets") from None
    said: dict[str, Any] = stated.model_dump(exclude={"name", "base"}, exclude_none=True)
    said |= {key: None for key, value in said.items() if value == "none"}
    return replace(base, name=stated.name, **said)
