"""Parquet files as rows of named values, and back; needs the extra `parquet`. I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relgate.eval.files import write_bytes_atomic
from relgate.eval.lists.cells import need, sound_column
from relgate.eval.lists.ids import Ids
from relgate.eval.lists.jsontext import Json
from relgate.rubrics.errors import InputError

__all__ = ["is_parquet", "parquet_blocks", "parquet_columns", "parquet_rows", "write_parquet"]

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


def parquet_blocks(
    path: str | Path, columns: Mapping[str, str], numbers: Collection[str] = ()
) -> Iterator[dict[str, Ids | NDArray[Any]]]:
    """The values by column, many rows at a time, for those who read clean files only.

    Args:
        path: the file.
        columns: {what it is: its name in the file}.
        numbers: which of them are wanted as numbers, where they are numbers.

    Raises:
        NotCleanError: a value is missing or odd, or a column holds neither text nor numbers.
        InputError: a damaged file, or no pyarrow.
    """
    arrow, parquet = _arrow(path)
    names = list(dict.fromkeys(columns.values()))
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=names):
                yield {
                    what: _column(arrow, batch.column(name), as_number=what in numbers)
                    for what, name in columns.items()
                }
    except (arrow.ArrowException, OSError) as error:
        raise _damaged(path, error) from error


def _column(arrow: Any, array: Any, *, as_number: bool) -> Ids | NDArray[Any]:  # noqa: ANN401
    types = arrow.types
    need(not array.null_count)
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if as_number and (types.is_integer(array.type) or types.is_floating(array.type)):
        whole = types.is_integer(array.type)
        array = array.cast(arrow.int64() if whole else arrow.float64())
        values = np.frombuffer(array.buffers()[1], np.int64 if whole else np.float64)
        return values[array.offset : array.offset + len(array)]
    if types.is_integer(array.type):
        array = array.cast(arrow.string())
    need(types.is_string(array.type) or types.is_large_string(array.type))
    wide = np.int64 if types.is_large_string(array.type) else np.int32
    _, places, held = array.buffers()
    ends = np.frombuffer(places, wide)[array.offset : array.offset + len(array) + 1]
    ends = ends.astype(np.int64)
    data = np.frombuffer(held or b"", np.uint8)[ends[0] : ends[-1]]
    return sound_column(data, ends[:-1] - ends[0], np.diff(ends).astype(np.int32))


def parquet_rows(
    path: str | Path, columns: Iterable[str] | None = None
) -> Iterator[tuple[int, dict[str, Json]]]:
    """Each row's number (from 1) and its values.

    Args:
        path: the file.
        columns: those to read; None reads all.

    Raises:
        InputError: a damaged file, or no pyarrow.
    """
    arrow, parquet = _arrow(path)
    wanted = None if columns is None else list(columns)
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=wanted):
                names, values = batch.schema.names, [c.to_pylist() for c in batch.columns]
                for row in zip(*values, strict=True):
                    number += 1
                    yield number, dict(zip(names, row, strict=True))
    except (arrow.ArrowException, OSError) as error:
        raise _damaged(path, error) from error


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
