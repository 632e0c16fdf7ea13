"""Parquet files as rows of named values, and back; needs the extra `parquet`. I/O."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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

__all__ = ["ParquetTable", "arrow_of", "is_parquet", "parquet_table", "row_count", "write_parquet"]

_MAGIC = b"PAR1"
_BATCH_ROWS = 65_536


def is_parquet(path: str | Path) -> bool:
    """Whether the file begins as Parquet does; False too when it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):
        return False  # the text reader says what is wrong


def arrow_of(path: str | Path) -> tuple[Any, Any]:
    """The library pyarrow and its Parquet part, for the file `path`.

    Raises:
        InputError: it is not installed.
    """
    try:  # an extra, and slow to load
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise InputError(
            "a Parquet file needs pyarrow", path=path, mend="pip install 'relgate[parquet]'"
        ) from error


def _damaged(path: str | Path, error: Exception) -> InputError:
    why = " ".join(str(error).split())[:200]
    return InputError(f"a damaged Parquet file ({why})", path=path, mend="write it again")


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """Rows of a Parquet file: all of them, or some.

    Attributes:
        path: the file, for messages.
        names: its columns.
        batches: given the columns that are wanted (None is all), the numbers of some rows, from 1,
            and an Arrow batch of them, over and over.
    """

    path: str
    names: tuple[str, ...]
    batches: Callable[[Sequence[str] | None], Iterator[tuple[Sequence[int], Any]]]

    def blocks(
        self, columns: Mapping[str, str], numbers: Collection[str] = ()
    ) -> Iterator[dict[str, Ids | NDArray[Any]]]:
        """The values by column, many rows at a time, for those who read clean files only.

        Args:
            columns: {what it is: its name in the file}.
            numbers: which of them are wanted as numbers, where they are numbers.

        Raises:
            NotCleanError: a value is missing or odd, or a column holds neither text nor numbers.
            InputError: a damaged file.
        """
        arrow, _ = arrow_of(self.path)
        for _, batch in self.batches(list(dict.fromkeys(columns.values()))):
            yield {
                what: _column(arrow, batch.column(name), as_number=what in numbers)
                for what, name in columns.items()
            }

    def rows(self, columns: Iterable[str] | None = None) -> Iterator[tuple[int, dict[str, Json]]]:
        """Each row's number and its values.

        Args:
            columns: those to read; None reads all.

        Raises:
            InputError: a damaged file.
        """
        for numbers, batch in self.batches(None if columns is None else list(columns)):
            names, values = batch.schema.names, [c.to_pylist() for c in batch.columns]
            for number, row in zip(numbers, zip(*values, strict=True), strict=True):
                yield number, dict(zip(names, row, strict=True))


def parquet_table(path: str | Path) -> ParquetTable:
    """All rows of a file; they are read when they are asked for.

    Raises:
        InputError: a damaged file, or no pyarrow.
    """
    arrow, parquet = arrow_of(path)
    try:
        names = tuple(parquet.read_schema(path).names)
    except (arrow.ArrowException, OSError) as error:
        raise _damaged(path, error) from error

    def batches(columns: Sequence[str] | None) -> Iterator[tuple[Sequence[int], Any]]:
        done = 0
        try:
            with parquet.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=columns):
                    yield range(done + 1, done + 1 + len(batch)), batch
                    done += len(batch)
        except (arrow.ArrowException, OSError) as error:
            raise _damaged(path, error) from error

    return ParquetTable(str(path), names, batches)


def row_count(path: str | Path) -> int:
    """How many rows a file has, by its own account.

    Raises:
        InputError: a damaged file, or no pyarrow.
    """
    arrow, parquet = arrow_of(path)
    try:
        return int(parquet.read_metadata(path).num_rows)
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


def write_parquet(path: str | Path, columns: Mapping[str, Sequence[str | int | None]]) -> None:
    """Writes columns of text, or of whole numbers, as `write_bytes_atomic` does.

    Raises:
        InputError: no pyarrow, or half a surrogate pair in a text.
        PlatformError: the file cannot be written.
    """
    arrow, parquet = arrow_of(path)
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
