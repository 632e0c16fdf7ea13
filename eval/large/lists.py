"""Judgment lists larger than memory: read, checked and written part by part. I/O."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from relgate.eval.large.names import StoredNames
from relgate.eval.large.parts import Parts, Wanted, parts
from relgate.eval.large.table import list_table
from relgate.eval.lists.check import SHOWN, Checked, Finding
from relgate.eval.lists.columns import OPTIONAL, list_columns
from relgate.eval.lists.notes import Notes
from relgate.eval.lists.parquet import ParquetTable, parquet_table, row_count
from relgate.eval.lists.read import read_parquet_list
from relgate.eval.lists.sink import ListFile, Options
from relgate.eval.lists.summary import ListSummary
from relgate.eval.lists.types import JudgmentList, Source
from relgate.rubrics.errors import InputError

__all__ = [
    "ListReader",
    "ListTold",
    "check_parts",
    "convert_parts",
    "has_rows",
    "no_rows",
    "wanted_list",
]

_NAMES = ("query_id", "query", "doc_id", "grade", *OPTIONAL)


@dataclass(frozen=True, slots=True)
class ListTold:
    """What was read of a list in parts.

    Attributes:
        summary: its figures.
        notes: what is odd in it, a line each.
        conflicts: pairs that equals graded differently, settled by the policy that was named.
        first_conflicts: the first that came of them.
    """

    summary: ListSummary
    notes: tuple[str, ...]
    conflicts: int
    first_conflicts: tuple[str, ...]


class ListReader:
    """Reads parts of one list, and adds up what is to be said of them."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._notes = Notes()
        self._summary: ListSummary | None = None
        self._conflicts = 0
        self._firsts: tuple[str, ...] = ()

    def read(self, table: ParquetTable) -> ListFile | None:
        """A part; None when no row of the list stands in it.

        Raises:
            InputError: as `read_list`.
        """
        if not has_rows(table):
            return None
        file = read_parquet_list(table, self._options, self._notes)
        self._notes.let_go()
        own = ListSummary.of(file)
        self._summary = own if self._summary is None else self._summary + own
        self._conflicts += len(file.conflicts)
        self._firsts = (*self._firsts, *(c.shown for c in file.conflicts[:SHOWN]))[:SHOWN]
        return file

    def told(self, path: Path) -> ListTold:
        """What there is to say of all parts.

        Raises:
            InputError: a file without rows.
        """
        if self._summary is None:
            raise no_rows(path)
        return ListTold(self._summary, self._notes.lines(), self._conflicts, self._firsts)


def has_rows(table: ParquetTable) -> bool:
    """Whether a table, or a part of one, holds any row."""
    return any(len(batch) for _, batch in table.batches(None))


def no_rows(path: Path) -> InputError:
    """The complaint about a file without rows."""
    return InputError("no row below the header", path=path, mend="export it again")


def wanted_list(path: Path, options: Options, *, without: Collection[str] = ()) -> Wanted:
    """What to read of a list.

    Args:
        path: the file.
        options: what the caller says of it.
        without: columns, by what they are, that nobody will look at.

    Raises:
        InputError: a needed column is missing, or two would serve as one.
    """
    names, columns = _columns(path, options)
    left = [columns[name] for name in without if name in columns]
    return Wanted(
        path=str(path),
        names=tuple(name for name in names if name not in left),
        rows=row_count(path),
        columns=tuple(c for c in dict.fromkeys(columns.values()) if c not in left),
        query_id=columns.get("query_id"),
        query=columns.get("query"),
    )


def _columns(path: Path, options: Options) -> tuple[tuple[str, ...], dict[str, str]]:
    names = parquet_table(path).names
    columns = list_columns(
        names,
        grade_column=options.grade_column,
        doc_column=options.doc_column,
        path=path,
        line=None,
    )
    return names, columns


@contextmanager
def _files(
    path: Path, options: Options, texts: Mapping[str, str], memory: int
) -> Generator[tuple[ListReader, Parts]]:
    wanted = [wanted_list(path, options)]
    with parts(wanted, texts=texts, memory=memory) as cut:
        yield ListReader(options), cut


def check_parts(
    path: Path, options: Options, *, memory: int, report: Callable[[int, int], None]
) -> tuple[ListTold, tuple[Finding, ...]]:
    """The findings of `lists.check`, of a Parquet file of any size; examples by their texts.

    Args:
        path: the judgment list.
        options: what the caller says of it; its policy settles conflicts.
        memory: bytes to keep to, roughly.
        report: is told how many parts are done, of how many.

    Raises:
        InputError: as `read_list`, of the first part with a fault.
        PlatformError: the disk that holds what is sorted is full.
    """
    with _files(path, options, {}, memory) as (reader, cut):
        checked = Checked(StoredNames(cut.base))
        for done, (table,) in enumerate(cut.tables, start=1):
            file = reader.read(table)
            if file is not None:
                checked.add(file)
            report(done, cut.n)
        return reader.told(path), checked.findings()


def convert_parts(
    path: Path,
    out: Path,
    options: Options,
    *,
    change: Callable[[JudgmentList], JudgmentList],
    texts: Mapping[str, str],
    memory: int,
    report: Callable[[int, int], None],
) -> ListTold:
    """Writes a Parquet list of any size as relgate's own columns; each query's rows together.

    Args:
        path: the judgment list.
        out: the file to write; it stands there once all is written.
        options: what the caller says of it.
        change: makes of each part the list that is written.
        texts: {query id: text} that `change` may give to queries.
        memory: bytes to keep to, roughly.
        report: is told how many parts are done, of how many.

    Raises:
        InputError: as `read_list`, of the first part with a fault.
        PlatformError: a disk is full, or the file cannot be written.
    """
    with (
        list_table(out, _written(path, options, has_texts=bool(texts))) as table,
        _files(path, options, texts, memory) as (reader, cut),
    ):
        for done, (part,) in enumerate(cut.tables, start=1):
            file = reader.read(part)
            if file is not None:
                table.add(change(file.judgments))
            report(done, cut.n)
        return reader.told(path)


def _written(path: Path, options: Options, *, has_texts: bool) -> Sequence[str]:
    """The columns of the file to write: all parts must have the same."""
    _, columns = _columns(path, options)
    added: set[str] = {"query_id", "query"} if has_texts else set()
    if options.source is not Source.IMPORT:
        added.add("source")
    return [name for name in _NAMES if name in columns or name in added]
