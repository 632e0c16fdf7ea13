"""A canary's alarm, kept beside the certificates that it ends. I/O: JSON files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from relgate.eval.files import read_json, write_text_atomic
from relgate.rubrics.errors import InputError

__all__ = ["CanaryAlarm", "read_alarms", "write_alarm"]

_SUFFIX = ".canary.json"

P = Annotated[float, Field(ge=0, le=1)]


class CanaryAlarm(BaseModel):
    """That a judge grades a frozen set otherwise than it did.

    Attributes:
        format: name and version of this layout.
        judge_version: `<tag>@<hash>` of the rubric.
        fingerprint: the judge's; its certificates made up to `found_at` hold no longer.
        model: the model asked for, or null.
        canary: name of the frozen set's file.
        frozen_at: when it was frozen.
        found_at: UTC.
        pairs: pairs graded then and now.
        changed: those with another grade.
        p: the smallest Holm-adjusted p.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    format: Literal["relgate-canary-alarm/1"] = "relgate-canary-alarm/1"
    judge_version: str
    fingerprint: Annotated[str, Field(min_length=1)]
    model: str | None
    canary: str
    frozen_at: str
    found_at: AwareDatetime
    pairs: Annotated[int, Field(ge=1)]
    changed: Annotated[int, Field(ge=0)]
    p: P


def write_alarm(alarm: CanaryAlarm, certificates: Path) -> Path:
    """Writes it into the folder of the certificates, over an older one of the same judge.

    Raises:
        PlatformError: the place cannot be written.
    """
    path = _folder(certificates) / f"{alarm.fingerprint}{_SUFFIX}"
    text = json.dumps(alarm.model_dump(mode="json"), ensure_ascii=False, indent=2, sort_keys=True)
    write_text_atomic(path, text + "\n")
    return path


def read_alarms(certificates: str | Path) -> Mapping[str, datetime]:
    """When a canary last told each judge moved, {fingerprint: time}.

    Args:
        certificates: a folder of certificates, or one certificate's file.

    Raises:
        InputError: an alarm's file cannot be read as one; it is not taken for silence.
    """
    found: dict[str, datetime] = {}
    for path in sorted(_folder(Path(certificates)).glob(f"*{_SUFFIX}")):
        alarm = _parsed(read_json(path), path)
        found[alarm.fingerprint] = max(alarm.found_at, found.get(alarm.fingerprint, alarm.found_at))
    return found


def _folder(certificates: Path) -> Path:
    return certificates.parent if certificates.is_file() else certificates


def _parsed(data: Any, path: Path) -> CanaryAlarm:  # noqa: ANN401 - JSON
    try:
        return CanaryAlarm.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InputError(
            f"no canary alarm: {'.'.join(map(str, first['loc']))}: {first['msg']}",
            path=path,
            mend="restore it, or calibrate that judge anew and delete it",
        ) from error
