"""Parquet files as rows of named values, and back; needs the extra `parquet`. I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from relgate.eval.files import write_bytes_atomic
from relgate.eval.lists.jsontext import Json
from relgate.rubrics.errors import InputError

__all__ = ["is_parquet", "parquet_batches", "parquet_columns", "parquet_rows", "write_parquet"]

_MAGIC = b"PAR1"
_BATCH_ROWS = 65_536


def is_parquet(path: str | Path) -> bool:
    """Whether the file begins as Parquet does; False too when it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):
        return False  # the text reader says what is wrong


def _arrow(path: str | Path) -> tuple[Any, Any]:
    try:  # an extra, and slow to load
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise InputError(
            "a Parquet file needs pyarrow", path=path, mend="pip install 'relgate[parquet]'"
        ) from error


def _damaged(path: str | Path, error: Exception) -> InputError:
    why = " ".join(str(error).split())[:200]
    return InputError(f"a damaged Parquet file ({why})", path=path, mend="write it again")


def parquet_columns(path: str | Path) -> tuple[str, ...]:
    """The names of the columns.

    Raises:
        InputError: a damaged file, or no pyarrow.
    """
    arrow, parquet = _arrow(path)
    try:
        return tuple(parquet.read_schema(path).names)
    except (arrow.ArrowException, OSError) as error:
        raise _damaged(path, error) from error


def parquet_batches(
    path: str | Path, columns: Iterable[str] | None = None
) -> Iterator[dict[str, list[Json]]]:
    """The values by column, a batch of rows at a time.

    Args:
        path: the file.
        columns: those to read; None reads all.

    Raises:
        InputError: a damaged file, or no pyarrow.
    """
    arrow, parquet = _arrow(path)
    wanted = None if columns is None else list(columns)
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=wanted):
                values = [column.to_pylist() for column in batch.columns]
                yield dict(zip(batch.schema.names, values, strict=True))
    except (arrow.ArrowException, OSError) as error:
        raise _damaged(path, error) from error


def parquet_rows(
    path: str | Path, columns: Iterable[str] | None = None
) -> Iterator[tuple[int, dict[str, Json]]]:
    """Each row's number (from 1) and its values; arguments and errors as `parquet_batches`."""
    number = 0
    for batch in parquet_batches(path, columns):
        for values in zip(*batch.values(), strict=True):
            number += 1
            yield number, dict(zip(batch, values, strict=True))


def write_parquet(path: str | Path, columns: Mapping[str, Sequence[str | int | None]]) -> None:
    """Writes columns of text, or of whole numbers, as `write_bytes_atomic` does.

    Raises:
        InputError: no pyarrow, or half a surrogate pair in a text.
        PlatformError: the file cannot be written.
    """
    arrow, parquet = _arrow(path)
    sink = arrow.BufferOutputStream()
    try:
        arrays = {name: _array(arrow, values) for name, values in columns.items()}
    except UnicodeEncodeError as error:
        raise InputError(
            "half a surrogate pair cannot be written", path=path, mend="mend the text"
        ) from error
    parquet.write_table(arrow.table(arrays), sink)
    write_bytes_atomic(path, sink.getvalue().to_pybytes())


def _array(arrow: Any, values: Sequence[str | int | None]) -> Any:  # noqa: ANN401 - an extra
    whole = any(isinstance(value, int) for value in values)
    return arrow.array(values, arrow.int64() if whole else arrow.string())
