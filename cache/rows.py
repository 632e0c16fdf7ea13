"""The stored row: a grade with what is needed to trust and to explain it. Pure.

A row is one line of JSON text. Its last field is a checksum over the key and everything before it,
so a cut, altered or moved row is found out. Whatever does not validate is no row: a miss.
"""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from relgate.judge.parts import PartName
from relgate.rubrics import Rubric

__all__ = [
    "MAX_REASON_CHARS",
    "ROW_FORMAT",
    "SHORT_HASH_CHARS",
    "Name",
    "StoredRow",
    "Time",
    "clean_reason",
    "decode_row",
    "encode_row",
    "fits",
    "seal",
    "unseal",
]

ROW_FORMAT: Final = 4
"""The row format that this version writes. It reads 1 to 3 too; another number is a miss."""

MAX_REASON_CHARS: Final = 2_000
"""Reasons are short by the prompt; what runs on past this is cut, so that rows stay small."""

SHORT_HASH_CHARS: Final = 16
"""Length of the hashes kept in a row: enough to tell texts apart, not to find them."""

_SINCE_3: Final = frozenset({"prompt_tokens", "completion_tokens", "probabilities"})
_LACKING: Final = {
    1: {"doc_hash", "parts", "batch", *_SINCE_3},
    2: {"batch", *_SINCE_3},
    3: {"batch"},
    4: None,
}
"""Fields that a format does not have, so that an old row is written again as it was."""
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_CHECKSUM_CHARS: Final = 32
_TAIL: Final = ',"checksum":"'
_TAIL_CHARS: Final = len(_TAIL) + _CHECKSUM_CHARS + len('"}')


def _is_time(text: str) -> str:
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError("a time without an offset")
    return text


def _in_order(parts: dict[PartName, str]) -> dict[PartName, str]:
    return dict(sorted(parts.items()))  # one order, so that a row can be written again the same


_ShortHash = Annotated[str, Field(pattern=rf"^[0-9a-f]{{{SHORT_HASH_CHARS}}}$")]
_PartHash = Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]
_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_Tokens = Annotated[int, Field(ge=0)] | None
Name = Annotated[str, Field(min_length=1, max_length=500)]
Time = Annotated[str, Field(max_length=40), AfterValidator(_is_time)]


class StoredRow(BaseModel):
    """A grade as it is stored, validated on every read.

    Attributes:
        format: number of the row format.
        version: the judge's version, `<tag>@<hash>`.
        fingerprint: the judge's fingerprint.
        model: the model asked for, or None.
        esci: the rubric's label.
        grade: the grade on the rubric's scale, 0 and up.
        reason: the judge's reason, without NUL and lone surrogates.
        judged_at: ISO 8601 time with its offset.
        batch_size: how many candidates were judged in the same call, if known.
        position: 1-based place within that call, if known.
        expected_grade: mean grade under class probabilities, if the judge gave them.
        spread: standard deviation of the grade, if known.
        query_hash: start of the query's hash, to explain a miss.
        text_hash: start of the text's hash, to explain a miss.
        doc_hash: start of the hash of the first id that the text was graded under, to explain a
            miss; since format 2.
        parts: a short hash of each part of the fingerprint, to explain a miss; None for a judge
            that does not show them; since format 2, with endpoint and panel since format 3.
        prompt_tokens: its part of the tokens sent for it, None where the provider did not count
            them; since format 3.
        completion_tokens: its part of the tokens that came back, likewise.
        probabilities: share of each grade, if the judge gave them; since format 3.
        batch: whether its tokens were paid at the price of a provider's batch; since format 4.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", hide_input_in_errors=True)

    format: Literal[1, 2, 3, 4] = ROW_FORMAT
    version: Name
    fingerprint: Name
    model: Name | None
    esci: Annotated[str, Field(min_length=1, max_length=100)]
    grade: Annotated[int, Field(ge=0, le=100)]
    reason: Annotated[str, Field(max_length=MAX_REASON_CHARS)]
    judged_at: Time
    batch_size: Annotated[int, Field(ge=1)] | None = None
    position: Annotated[int, Field(ge=1)] | None = None
    expected_grade: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] | None = None
    spread: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] | None = None
    query_hash: _ShortHash
    text_hash: _ShortHash
    doc_hash: _ShortHash | None = None
    parts: Annotated[dict[PartName, _PartHash], AfterValidator(_in_order)] | None = None
    prompt_tokens: _Tokens = None
    completion_tokens: _Tokens = None
    probabilities: Annotated[tuple[_Share, ...], Field(max_length=101)] | None = None
    batch: bool = False


def clean_reason(reason: str) -> str:
    """`reason` as it can be stored: NUL and lone surrogates become U+FFFD, the end is cut."""
    return _UNSTORABLE.sub("\ufffd", reason[:MAX_REASON_CHARS])


def fits(*, grade: int, label: str, rubric: Rubric) -> bool:
    """Whether `rubric` has a label `label` and it means `grade`."""
    return any(x.code == label and x.grade == grade for x in rubric.labels)


def encode_row(row: StoredRow, *, key: str) -> str:
    """The text to store for `row` under `key`."""
    return seal(row.model_dump_json(exclude=_LACKING[row.format]), key=key)


def decode_row(text: str, *, key: str) -> StoredRow | None:
    """The row in `text` if it is whole, unaltered and stored under its own `key`; else None."""
    body = unseal(text, key=key)
    try:
        return None if body is None else StoredRow.model_validate_json(body)
    except ValidationError:
        return None


def seal(document: str, *, key: str) -> str:
    """A JSON object with a checksum over `key` and all of it as its last field."""
    body = document[: -len("}")]
    return f'{body}{_TAIL}{_checksum(key, body)}"}}'


def unseal(text: str, *, key: str) -> str | None:
    """The object that `seal` made `text` of, or None when it was cut, altered or moved."""
    body = text[:-_TAIL_CHARS]
    whole = text[-_TAIL_CHARS:] == f'{_TAIL}{_checksum(key, body)}"}}'
    return body + "}" if whole else None


def _checksum(key: str, body: str) -> str:
    data = f"{key}\n{body}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:_CHECKSUM_CHARS]
