"""Every error that relgate raises on purpose. Pure.

They live in the lowest layer so that each layer above can raise them::

    RelgateError                exit code 2
    +-- InputError              2  bad input, with its place and its mend
    +-- UsageError              2  a command or call that cannot mean anything
    +-- HonestyError            5  an answer would flatter itself
    |   +-- FamilySeparationError
    |   +-- CircularityError
    +-- GoldenVersionError      4  two golden sets, or two contents of one version, would be mixed
    +-- PlatformError           6  the machine or the provider, not the input
        +-- CacheUnavailableError
        +-- ProviderUnavailableError

A user's mistake ends in one line (`str(error)`) and `error.exit_code`, never in a traceback.
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "CacheUnavailableError",
    "CircularityError",
    "FamilySeparationError",
    "GoldenVersionError",
    "HonestyError",
    "InputError",
    "PlatformError",
    "ProviderUnavailableError",
    "RelgateError",
    "UsageError",
]


class RelgateError(Exception):
    """Base of all deliberate errors; `exit_code` is what the command line returns."""

    exit_code: int = 2


class InputError(RelgateError):
    """Bad input. Its text is one line: `file:line: what; mend`.

    Args:
        what: what is wrong, naming the offending value with `!r`.
        path: the file, if there is one.
        line: 1-based line number, if it is known.
        mend: what to do about it, as a command or an imperative.
    """

    def __init__(
        self,
        what: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        mend: str | None = None,
    ) -> None:
        self.what = what
        self.path = None if path is None else str(path)
        self.line = line
        self.mend = mend
        place = "" if path is None else f"{path}:{line}: " if line is not None else f"{path}: "
        super().__init__(f"{place}{what}" + (f"; {mend}" if mend else ""))


class UsageError(RelgateError):
    """A command or call whose parts cannot be meant together."""


class HonestyError(RelgateError):
    """An answer was asked for that would flatter itself; nothing was called."""

    exit_code = 5


class FamilySeparationError(HonestyError):
    """The judge's model family is, or may be, that of a model it would judge."""


class CircularityError(HonestyError):
    """The judge that would evaluate the ranking also made it."""


class GoldenVersionError(RelgateError):
    """Figures would be compared across golden sets, or one version has two contents."""

    exit_code = 4


class PlatformError(RelgateError):
    """The machine, the disk, the network or the provider is at fault."""

    exit_code = 6


class CacheUnavailableError(PlatformError):
    """The cache cannot be used and the caller said that it must be."""


class ProviderUnavailableError(PlatformError):
    """The provider refused for good: a dead key, no quota, no such model."""
