"""The parts of a judge's fingerprint, a short hash each, so that a miss can say what changed. Pure.

The fingerprint itself is one hash. A judge that wants to be explained has an attribute `parts`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from relgate.judge.suspicion import SUSPICION_VERSION
from relgate.judge.types import GenerateRequest

__all__ = ["PART_NAMES", "SAMPLE", "PartName", "joined_parts", "request_parts", "shown_parts"]

PartName = Literal["rubric", "template", "schema", "parameters", "endpoint", "suspicion", "panel"]
"""`suspicion` is the rules for texts that talk to the judge, `panel` who votes and how."""

PART_NAMES: Final[tuple[PartName, ...]] = (
    "rubric",
    "template",
    "schema",
    "parameters",
    "endpoint",
    "suspicion",
    "panel",
)

SAMPLE: Final = ("q", ("a" * 10_000, "b"))
"""Query and texts of the request that stands for the template: one text is cut, one is not."""


def request_parts(
    sample: GenerateRequest, *, batch_size: int, endpoint: str | None
) -> dict[PartName, str]:
    """A hash of 8 hex digits for each part of a judge that makes requests.

    Args:
        sample: what it asks for `SAMPLE`.
        batch_size: candidates a call.
        endpoint: what answers, beside the model's name.
    """
    parameters = (sample.temperature, sample.max_output_tokens, batch_size)
    return {
        "rubric": _hash(sample.system),
        "template": _hash(sample.prompt),
        "schema": _hash(json.dumps(sample.schema, sort_keys=True)),
        "parameters": _hash(json.dumps(parameters)),
        "endpoint": _hash(json.dumps(endpoint)),
        "suspicion": _hash(SUSPICION_VERSION),
    }


def shown_parts(judge: object) -> Mapping[PartName, str] | None:
    """The `parts` of `judge`; None for a judge that does not show them."""
    return getattr(judge, "parts", None)


def joined_parts(
    members: Sequence[Mapping[PartName, str] | None], *, panel: str
) -> dict[PartName, str] | None:
    """The parts of a panel: those its members have in common, else a hash over theirs.

    Args:
        members: the parts of each.
        panel: how their votes are combined.

    Returns:
        None when a member does not show its parts.
    """
    shown = [parts for parts in members if parts is not None]
    if len(shown) < len(members):
        return None
    joined: dict[PartName, str] = {"panel": _hash(panel)}
    for name in PART_NAMES[:-1]:
        found = sorted({parts.get(name, "") for parts in shown})
        joined[name] = found[0] if len(found) == 1 else _hash(" ".join(found))
    return joined


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
