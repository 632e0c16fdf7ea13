"""Whether work is done in memory, or on disk for Parquet files larger than that. I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from relgate.eval.cli.common import Output
from relgate.eval.lists.parquet import is_parquet, row_count
from relgate.rubrics.errors import UsageError

__all__ = ["MEMORY", "on_disk"]

MEMORY = 2 * 10**9
"""Bytes that the disk engine keeps to where nothing is said."""

_BYTES_A_ROW = 150  # what a row of a file takes in memory while it is read and scored: measured
_PARQUET = (None, "esci", "parquet")


def on_disk(
    files: Sequence[Path], formats: Sequence[str | None], flags: Mapping[str, Any], output: Output
) -> bool:
    """Whether the disk engine is to do it; it says so.

    Args:
        files: what is read.
        formats: what the caller says that they are.
        flags: `engine` and `memory`, as they were given.
        output: where remarks go.

    Raises:
        UsageError: it is asked for and the files are not Parquet, or `--memory` without it.
    """
    engine, memory = flags["engine"], flags["memory"]
    if engine == "memory":
        if memory is not None:
            raise UsageError("--memory is for the disk engine; drop it, or --engine memory")
        return False
    if not all(path.exists() for path in files):
        return False  # the reader says which
    others = [str(path) for path in files if not is_parquet(path)]
    if others or not set(formats) <= set(_PARQUET):
        if engine == "disk":
            raise UsageError(
                f"the disk engine reads Parquet alone, and not {', '.join(others) or formats}; "
                "relgate convert --to parquet writes it"
            )
        return False
    if engine == "disk":
        return True
    need, limit = sum(map(row_count, files)) * _BYTES_A_ROW, memory or MEMORY
    return need > limit and _can_be(need, limit, output)


def _can_be(need: int, limit: int, output: Output) -> bool:
    from relgate.eval.large.parts import has_duckdb  # noqa: PLC0415 - most files are small

    told = f"about {need / 1e9:.1f} GB would be needed in memory, more than {limit / 1e9:g} GB"
    if not has_duckdb():
        output.remark(f"{told}; pip install 'relgate[large]' does such files from disk")
        return False
    output.remark(f"{told}: done from disk; --engine memory does not")
    return True
