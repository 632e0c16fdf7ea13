"""Parquet files cut into parts of whole queries, in bounded memory, by DuckDB. I/O.

DuckDB gives each query the number of a part by a hash of its name and sorts the rows of each file
by it, on disk where memory does not hold them. So each part comes out of all files at once, its
rows in the order of their file, and it is read and scored as a small file would be: nothing is
defined here a second time.

Queries that may meet by their texts, as `metrics.align` has it, must come into one part. They are
the connected components of all names: an id is tied to each of its texts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from relgate.eval.lists.parquet import ParquetTable
from relgate.eval.runs.table import several_runs
from relgate.rubrics.errors import InputError, PlatformError

__all__ = ["Parts", "Wanted", "has_duckdb", "parts"]

_BATCH_ROWS = 1 << 16
_NO_ROOM = re.compile(
    "Out of Memory|No space left|could not allocate|failed to (?:offload|allocate)", re.IGNORECASE
)
_SHARE = 0.5  # of the memory for DuckDB; the rest is for the part at hand
_BYTES_A_ROW = 800  # of a part, as Arrow, as columns of ours and as figures: measured, rounded up


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file, and what of it is wanted.

    Attributes:
        path: the file.
        names: all its columns.
        rows: how many rows it has.
        columns: those that are wanted.
        query_id: the column of the query's id, or None.
        query: the column of its text, or None; one of the two there is.
        run: the column of a run's name, which may be one only, or None.
    """

    path: str
    names: tuple[str, ...]
    rows: int
    columns: tuple[str, ...]
    query_id: str | None
    query: str | None
    run: str | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """Files in parts; every query stands in one of them with all its rows.

    Attributes:
        n: how many parts.
        base: DuckDB's, for what is gathered of all parts and may be more than memory holds.
        tables: per part, a table of each file; its rows keep their order and numbers.
    """

    n: int
    base: Any
    tables: Iterator[tuple[ParquetTable, ...]]


def has_duckdb() -> bool:
    """Whether DuckDB can be loaded."""
    try:
        import_module("duckdb")
    except ImportError:
        return False
    return True


def _duckdb() -> Any:  # noqa: ANN401 - an extra
    try:  # an extra, and slow to load
        return import_module("duckdb")
    except ImportError as error:
        raise InputError(
            "files larger than memory need DuckDB", mend="pip install 'relgate[large]'"
        ) from error


@contextmanager
def parts(files: Sequence[Wanted], *, texts: Mapping[str, str], memory: int) -> Generator[Parts]:
    """The files part by part; every query stands in one part with all its rows.

    Args:
        files: one or more.
        texts: {query id: text} that is known besides.
        memory: bytes to keep to, roughly; one query with all its rows must fit.

    Raises:
        InputError: DuckDB is not there, or a file is damaged.
        PlatformError: the disk that holds what is sorted is full.
    """
    duckdb = _duckdb()
    try:
        with (
            TemporaryDirectory(prefix="relgate-") as folder,
            duckdb.connect(config=_config(folder, memory)) as base,
        ):
            yield _cut(_Names(base, files, folder, texts), files, memory)
    except duckdb.Error as error:
        raise _fault(error, files) from error


def _fault(error: Exception, files: Sequence[Wanted]) -> InputError | PlatformError:
    """What went wrong in DuckDB; Arrow hands its errors on as words."""
    said = " ".join(str(error).split("Possible solutions")[0].split())[:300]
    if _NO_ROOM.search(said):
        return PlatformError(
            f"no room to sort in ({said}); give more with --memory, or a larger disk for "
            "temporary files with TMPDIR"
        )
    return InputError(
        f"cannot be read ({said})",
        path=", ".join(file.path for file in files),
        mend="write the file again",
    )


def _config(folder: str, memory: int) -> dict[str, str | bool]:
    return {
        "memory_limit": f"{int(memory * _SHARE) // 1024}KiB",
        "temp_directory": str(Path(folder) / "sorted"),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _text(column: str | None) -> str:
    return "NULL" if column is None else f"nullif(CAST({_name(column)} AS VARCHAR), '')"


class _Names:
    """Gives each file's rows the number of their part.

    Args:
        base: the database.
        files: what is read.
        folder: for links under plain names: a path may hold what SQL or globs heed.
        texts: {query id: text} that is known besides.
    """

    def __init__(
        self,
        base: Any,  # noqa: ANN401 - DuckDB's
        files: Sequence[Wanted],
        folder: str,
        texts: Mapping[str, str],
    ) -> None:
        self.base = base
        self._sources: list[str] = []
        for number, file in enumerate(files):
            link = Path(folder) / f"{number}.parquet"
            link.symlink_to(os.path.realpath(file.path))
            self._sources.append(f"read_parquet('{link}', file_row_number = true)")
            self._need_one_run(number, file)
        self._tied = self._tie(files, texts)

    def _need_one_run(self, number: int, file: Wanted) -> None:
        if file.run is None:
            return
        sql = f"SELECT DISTINCT {_name(file.run)} FROM {self._sources[number]}"  # noqa: S608 - quoted
        found = [name for (name,) in self.base.execute(sql).fetchall()]
        if len(found) > 1:
            raise several_runs(found, file.path)

    def _tie(self, files: Sequence[Wanted], texts: Mapping[str, str]) -> bool:
        """Makes the table of names that have another name; False when there is none."""
        self.base.execute("CREATE TABLE ties (a VARCHAR, b VARCHAR)")
        for file, source in zip(files, self._sources, strict=True):
            if file.query_id is not None and file.query is not None:
                a, b = _key(file), f"nfc_normalize({_text(file.query)})"
                self.base.execute(
                    f"INSERT INTO ties SELECT DISTINCT {a}, {b} FROM {source} "  # noqa: S608 - quoted
                    f"WHERE {b} IS NOT NULL AND {a} != {b}"
                )
        if texts:
            columns = {"a": list(texts), "b": list(texts.values())}
            self.base.register("given", import_module("pyarrow").table(columns))
            self.base.execute(
                "INSERT INTO ties SELECT a, b FROM "
                "(SELECT nfc_normalize(a) AS a, nfc_normalize(b) AS b FROM given) WHERE a != b"
            )
        (n,) = self.base.execute("SELECT count(*) FROM ties").fetchone()
        if n:
            self._spread()
        return bool(n)

    def _spread(self) -> None:
        """Gives every name the least name that it is tied to, over any number of steps."""
        self.base.execute("CREATE TABLE links AS SELECT a, b FROM ties UNION SELECT b, a FROM ties")
        self.base.execute(
            "CREATE TABLE labels AS SELECT a AS name, least(a, min(b)) AS label FROM links "
            "GROUP BY a"
        )
        while True:
            self.base.execute(
                "CREATE OR REPLACE TABLE next AS SELECT l.name, least(l.label, min(m.label)) AS "
                "label FROM labels l JOIN links ON links.a = l.name JOIN labels m "
                "ON m.name = links.b GROUP BY l.name, l.label"
            )
            (moved,) = self.base.execute(
                "SELECT count(*) FROM labels l JOIN next n USING (name) WHERE l.label != n.label"
            ).fetchone()
            self.base.execute("CREATE OR REPLACE TABLE labels AS FROM next")
            if not moved:
                return

    def sorted(self, number: int, file: Wanted, n_parts: int) -> Any:  # noqa: ANN401 - Arrow's reader
        """The rows of a file by part: the part, the row's number from 0, the columns."""
        source, key = self._sources[number], _key(file)
        columns = "".join(f", {_name(c)} AS c{i}" for i, c in enumerate(file.columns))
        aliases = "".join(f", c{i}" for i in range(len(file.columns)))
        if self._tied:
            rows = (
                f"SELECT coalesce(label, key) AS key, row{aliases} FROM "  # noqa: S608 - quoted
                f"(SELECT {key} AS key, file_row_number AS row{columns} FROM {source}) "
                "LEFT JOIN labels ON name = key"
            )
        else:
            rows = f"SELECT {key} AS key, file_row_number AS row{columns} FROM {source}"  # noqa: S608
        return (
            self.base.cursor()
            .sql(
                f"SELECT CAST(hash(key) % {n_parts} AS INTEGER) AS part, row{aliases} "  # noqa: S608
                f"FROM ({rows}) ORDER BY part, row"
            )
            .to_arrow_reader(_BATCH_ROWS)
        )


def _key(file: Wanted) -> str:
    return f"nfc_normalize(coalesce({_text(file.query_id)}, {_text(file.query)}, ''))"


def _cut(names: _Names, files: Sequence[Wanted], memory: int) -> Parts:
    rows = sum(file.rows for file in files)
    n = max(1, -(-rows * _BYTES_A_ROW // int(memory * (1 - _SHARE))))

    def tables() -> Iterator[tuple[ParquetTable, ...]]:
        try:
            streams = [_Stream(names.sorted(i, file, n)) for i, file in enumerate(files)]
            for part in range(n):
                taken = [stream.take(part) for stream in streams]
                yield tuple(map(_table, files, taken))
        except (import_module("pyarrow").ArrowException, OSError) as error:
            raise _fault(error, files) from error

    return Parts(n, names.base.cursor(), tables())


class _Stream:
    """Batches in the order of their parts, cut where a part ends."""

    def __init__(self, reader: Any) -> None:  # noqa: ANN401 - Arrow's
        self._reader = iter(reader)
        self._left: Any = None

    def take(self, part: int) -> list[Any]:
        """The batches of this part; the parts before it were taken."""
        taken: list[Any] = []
        while True:
            if self._left is None:
                self._left = next(self._reader, None)
                if self._left is None:
                    return taken
            end = int(self._left.column(0).to_numpy().searchsorted(part, side="right"))
            if end:
                taken.append(self._left.slice(0, end))
            if end < len(self._left):
                self._left = self._left.slice(end)
                return taken
            self._left = None


def _table(file: Wanted, batches: Sequence[Any]) -> ParquetTable:
    def some(columns: Sequence[str] | None) -> Iterator[tuple[Sequence[int], Any]]:
        wanted = list(file.columns if columns is None else columns)
        places = [file.columns.index(name) + 2 for name in wanted]  # after the part and the row
        for batch in batches:
            yield _Numbers(batch.column(1)), batch.select(places).rename_columns(wanted)

    return ParquetTable(file.path, file.names, some)


class _Numbers(Sequence[int]):
    """The numbers of rows, from 1; made into Python's only when they are asked for."""

    def __init__(self, column: Any) -> None:  # noqa: ANN401 - Arrow's
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, at: Any) -> Any:  # noqa: ANN401 - one or several
        return (self._column.to_numpy() + 1)[at]

    def __iter__(self) -> Iterator[int]:
        return (number + 1 for number in self._column.to_pylist())
