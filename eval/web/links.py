"""Links that last: a site's port and tokens in a file, for its owner alone. I/O."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from relgate.eval.files import read_text, write_text_atomic
from relgate.eval.web.access import Access
from relgate.rubrics.errors import InputError, PlatformError

__all__ = ["Links", "keep_links", "read_links"]

_MODE = 0o600


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    port: int = Field(ge=1, le=65_535)
    tokens: dict[str, str]


@dataclass(frozen=True, slots=True)
class Links:
    """What links are made of.

    Attributes:
        port: where the site listened.
        access: its tokens.
    """

    port: int
    access: Access


def read_links(path: Path, *roles: str) -> Links | None:
    """The links that a site kept; None where there is no file yet.

    Raises:
        InputError: a file that is something else, or has other roles.
    """
    if not path.exists():
        return None
    try:
        found = _File.model_validate_json(read_text(path))
    except ValidationError as error:
        raise InputError("no file of links", path=path, mend="name another --links") from error
    if set(found.tokens) != set(roles) or not all(found.tokens.values()):
        raise InputError("links of another page", path=path, mend="name another --links")
    return Links(found.port, Access(MappingProxyType(found.tokens)))


def keep_links(path: Path, links: Links) -> None:
    """Writes the links; nobody else on this machine may read them.

    Raises:
        PlatformError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, _MODE))
        path.chmod(_MODE)
    except OSError as error:
        raise PlatformError(f"{path}: cannot be written: {error.strerror or error}") from error
    write_text_atomic(
        path, json.dumps({"port": links.port, "tokens": dict(links.access.tokens)}) + "\n"
    )
