"""What an endpoint of OpenAI's protocol is asked for, and what it was found to refuse. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Literal

from relgate.judge.types import GenerateRequest

__all__ = ["Abilities", "Mode", "chat_format", "prompt_for", "responses_format", "without_refused"]

Mode = Literal["json_schema", "json_object", "text"]
"""How the reply's form is asked for: enforced schema, any JSON, or words alone."""

# From the strictest down. llama.cpp's servers take the schema beside json_object, others choke.
_LADDER: tuple[tuple[Mode, bool], ...] = (
    ("json_schema", True),
    ("json_object", True),
    ("json_object", False),
    ("text", False),
)
_NAME = "relgate_reply"
_FORMAT_WORDS = ("response_format", "json_schema", "json_object", "text.format")
_BAD_REQUEST = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
# llama_cpp.server says 500 for a format that it does not know
_FORMAT_STATUSES = (*_BAD_REQUEST, HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.NOT_IMPLEMENTED)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What an endpoint is still believed to understand; it only ever shrinks.

    Attributes:
        rung: place on the ladder of reply forms, 0 for the strictest.
        temperature: whether the model takes `temperature`.
        token_fields: names for the output limit yet to be tried, the first in use; empty when
            none is understood.
    """

    rung: int = 0
    temperature: bool = True
    token_fields: tuple[str, ...] = ("max_completion_tokens", "max_tokens")

    @property
    def mode(self) -> Mode:
        """How the reply's form is asked for."""
        return _LADDER[self.rung][0]

    @property
    def schema_beside(self) -> bool:
        """Whether the schema goes on the wire in the reply form."""
        return _LADDER[self.rung][1]

    def meet(self, other: Abilities) -> Abilities:
        """What both believe: calls that run at once may each have found a refusal."""
        return Abilities(
            rung=max(self.rung, other.rung),
            temperature=self.temperature and other.temperature,
            token_fields=tuple(f for f in self.token_fields if f in other.token_fields),
        )


def without_refused(
    abilities: Abilities, *, request: GenerateRequest, status: int, param: str | None, said: str
) -> Abilities | None:
    """The abilities less what the endpoint has just refused; None when it refused none of them.

    Args:
        abilities: those that the refused call was made with.
        request: that call's request.
        status: the HTTP status of the refusal.
        param: the parameter that the endpoint names, if it names one.
        said: the whole text of the refusal.
    """
    words = f"{param or ''} {said}".lower()
    can_step = abilities.rung < len(_LADDER) - 1
    if can_step and status in _FORMAT_STATUSES and any(w in words for w in _FORMAT_WORDS):
        return replace(abilities, rung=abilities.rung + 1)
    if status not in _BAD_REQUEST:
        return None
    if request.temperature is not None and abilities.temperature and "temperature" in words:
        return replace(abilities, temperature=False)
    fields = abilities.token_fields
    if request.max_output_tokens is not None and fields and fields[0] in words:
        return replace(abilities, token_fields=fields[1:])
    return None


def prompt_for(request: GenerateRequest, mode: Mode) -> str:
    """The user message; where the endpoint enforces no schema, it is written out below."""
    if mode == "json_schema":
        return request.prompt
    schema = json.dumps(dict(request.schema), ensure_ascii=False)
    return (
        f"{request.prompt}\n\nAnswer with one JSON object that matches this JSON Schema, and with "
        f"nothing else:\n{schema}"
    )


def chat_format(request: GenerateRequest, abilities: Abilities) -> Mapping[str, Any] | None:
    """`response_format` of a chat completion, or None to send none."""
    schema = dict(request.schema)
    match abilities.mode:
        case "json_schema":
            inner = {"name": _NAME, "strict": True, "schema": schema}
            return {"type": "json_schema", "json_schema": inner}
        case "json_object":
            return {"type": "json_object"} | ({"schema": schema} if abilities.schema_beside else {})
        case "text":
            return None


def responses_format(request: GenerateRequest, abilities: Abilities) -> Mapping[str, Any] | None:
    """`text` of a response, or None to send none."""
    schema = dict(request.schema)
    match abilities.mode:
        case "json_schema":
            form = {"type": "json_schema", "name": _NAME, "strict": True, "schema": schema}
            return {"format": form}
        case "json_object":
            return {"format": {"type": "json_object"}}
        case "text":
            return None
