"""The parts of a judge's fingerprint, a short hash each, so that a miss can say what changed. Pure.

The fingerprint itself is one hash. Its parts are taken from what the judge shows in public: a
sample of what it would ask (`request`) and its batch size. What it does not show (the endpoint, the
rules for suspicious texts) can only be told to be none of these.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final, Literal

__all__ = ["PART_NAMES", "PartName", "key_parts"]

PartName = Literal["rubric", "template", "schema", "parameters"]

PART_NAMES: Final[tuple[PartName, ...]] = ("rubric", "template", "schema", "parameters")

_SAMPLE: Final = ("a" * 10_000, "b")  # one text that is cut, one that is not
_DEPTH: Final = 8


def key_parts(judge: object) -> dict[PartName, str] | None:
    """A hash of 8 hex digits for each part, or None for a judge that shows no request."""
    asking = _asking(judge)
    if asking is None:
        return None
    request = asking.request("q", list(_SAMPLE))
    parameters = (request.temperature, request.max_output_tokens, asking.batch_size)
    return {
        "rubric": _hash(request.system),
        "template": _hash(request.prompt),
        "schema": _hash(json.dumps(request.schema, sort_keys=True)),
        "parameters": _hash(json.dumps(parameters)),
    }


def _asking(judge: object) -> Any | None:  # noqa: ANN401 - whichever judge has a `request`
    """The judge that makes the requests, inside those that wrap it."""
    for _ in range(_DEPTH):
        if judge is None or callable(getattr(judge, "request", None)):
            return judge
        judge = getattr(judge, "_inner", None)
    return None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
