"""The page's words in several languages: a file each in `words/`, all with the same names. I/O."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

__all__ = ["LANGUAGES", "Language", "language"]

LANGUAGES = ("en", "de", "ar")
"""The languages there are; the first serves where none is asked for."""


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    Attributes:
        code: as in HTML's `lang`.
        name: what it calls itself.
        dir: `ltr` or `rtl`.
        words: {name: text}; braces are filled in by the page.
    """

    code: str
    name: str
    dir: str
    words: Mapping[str, str]


@cache
def language(code: str) -> Language:
    """A language by its code; the first where it is none of them."""
    known = code if code in LANGUAGES else LANGUAGES[0]
    place = files("relgate.eval.label").joinpath("words", f"{known}.toml")
    value = tomllib.loads(place.read_text(encoding="utf-8"))
    words: dict[str, str] = value["words"]
    return Language(known, value["name"], value["dir"], MappingProxyType(words))
