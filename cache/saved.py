"""What was saved: one record a run, beside the grades that it was served. Pure.

A record counts the pairs that a run got from the cache and the tokens that those had cost. Records
are only ever added, so runs at the same time lose none; a run that is killed leaves none. Prices
change, so tokens are kept and money is worked out when it is asked for.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from relgate.cache.rows import Name, StoredRow, Time, decode_row, seal, unseal
from relgate.judge.prices import Price, cost_usd
from relgate.judge.types import Usage

__all__ = ["SavedRecord", "Tokens", "decode_item", "encode_saved", "new_saved_key", "tokens_of"]

_PREFIX = "saved "
_Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of so many grades, as far as they record them.

    Attributes:
        grades: how many there are.
        uncounted: how many of them do not record their tokens.
        prompt: tokens sent for the others.
        completion: tokens that came back for them.
        batch_prompt: those of `prompt` that were paid at the price of a provider's batch.
        batch_completion: those of `completion`, likewise.
    """

    grades: int = 0
    uncounted: int = 0
    prompt: int = 0
    completion: int = 0
    batch_prompt: int = 0
    batch_completion: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        """Both together."""
        return Tokens(
            self.grades + other.grades,
            self.uncounted + other.uncounted,
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.batch_prompt + other.batch_prompt,
            self.batch_completion + other.batch_completion,
        )

    def __sub__(self, other: Tokens) -> Tokens:
        """What came since `other`."""
        return Tokens(
            self.grades - other.grades,
            self.uncounted - other.uncounted,
            self.prompt - other.prompt,
            self.completion - other.completion,
            self.batch_prompt - other.batch_prompt,
            self.batch_completion - other.batch_completion,
        )

    def usd(self, price: Price | None) -> float | None:
        """US dollars at `price`, of the counted ones alone; None without a price or a count.

        Args:
            price: of single calls; tokens of batches count at the price of a batch.
        """
        if price is None or self.grades == self.uncounted:
            return None
        return cost_usd(
            price,
            prompt_tokens=self.prompt - self.batch_prompt,
            completion_tokens=self.completion - self.batch_completion,
        ) + cost_usd(
            price.in_a_batch(),
            prompt_tokens=self.batch_prompt,
            completion_tokens=self.batch_completion,
        )


def tokens_of(usages: Iterable[Usage]) -> Tokens:
    """The sum over one grade a usage."""
    grades = uncounted = prompt = completion = batch_prompt = batch_completion = 0
    for usage in usages:
        grades += 1
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            uncounted += 1
        else:
            prompt += usage.prompt_tokens
            completion += usage.completion_tokens
            batch_prompt += usage.prompt_tokens * usage.batch
            batch_completion += usage.completion_tokens * usage.batch
    return Tokens(grades, uncounted, prompt, completion, batch_prompt, batch_completion)


class SavedRecord(BaseModel):
    """What one run was served, validated on every read.

    Attributes:
        format: number of the record's format.
        version: the judge's version.
        model: the model asked for, or None.
        at: ISO 8601 time with its offset.
        grades: pairs that it got from the cache.
        uncounted: those of them whose grade does not record its tokens.
        prompt_tokens: what was sent for the others when they were paid for.
        completion_tokens: what came back for them.
        batch_prompt_tokens: those of the first that were paid at a batch's price; since format 2.
        batch_completion_tokens: those of the second, likewise.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", hide_input_in_errors=True)

    format: Literal[1, 2] = 2
    version: Name
    model: Name | None
    at: Time
    grades: _Count
    uncounted: _Count
    prompt_tokens: _Count
    completion_tokens: _Count
    batch_prompt_tokens: _Count = 0
    batch_completion_tokens: _Count = 0

    @property
    def tokens(self) -> Tokens:
        """The counts alone."""
        return Tokens(
            self.grades,
            self.uncounted,
            self.prompt_tokens,
            self.completion_tokens,
            self.batch_prompt_tokens,
            self.batch_completion_tokens,
        )


def new_saved_key() -> str:
    """The key of a new record: no grade has such a key."""
    return f"{_PREFIX}{uuid.uuid4().hex}"


def encode_saved(tokens: Tokens, *, version: str, model: str | None, at: datetime, key: str) -> str:
    """The text to store under `key`.

    Args:
        tokens: what the run was served.
        version: the judge's version.
        model: the model asked for, or None.
        at: the time, with its offset.
        key: from `new_saved_key`.
    """
    record = SavedRecord(
        version=version,
        model=model,
        at=at.isoformat(timespec="seconds"),
        grades=tokens.grades,
        uncounted=tokens.uncounted,
        prompt_tokens=tokens.prompt,
        completion_tokens=tokens.completion,
        batch_prompt_tokens=tokens.batch_prompt,
        batch_completion_tokens=tokens.batch_completion,
    )
    return seal(record.model_dump_json(), key=key)


def decode_item(key: str, text: str) -> StoredRow | SavedRecord | None:
    """What a cache keeps under `key`, a grade or a record, if it is whole and unaltered."""
    if not key.startswith(_PREFIX):
        return decode_row(text, key=key)
    body = unseal(text, key=key)
    try:
        return None if body is None else SavedRecord.model_validate_json(body)
    except ValidationError:
        return None
