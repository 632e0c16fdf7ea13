"""What lies in a folder: judgment lists, runs, catalogues, query tables. I/O.

Files are told by their first lines, names do not count. What could be two things, or is none that
is known, is said and not guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from relgate.eval.catalogue import tells_products
from relgate.eval.change_file import read_change
from relgate.eval.files import load_content
from relgate.eval.lists.columns import fold, is_list_header
from relgate.eval.lists.jsontext import Content, json_lines
from relgate.eval.lists.parquet import is_parquet, parquet_table
from relgate.eval.lists.read import told_list
from relgate.eval.lists.table import open_table
from relgate.eval.queries import tells_queries
from relgate.eval.runs.read import told_run, why_no_run
from relgate.eval.runs.table import is_run_header
from relgate.rubrics.errors import RelgateError

__all__ = ["MAX_FILES", "Folder", "Lying", "Part", "look_into"]

MAX_FILES = 200
"""So many files of a folder are looked into, by name."""

_SUFFIXES = frozenset({".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".toml"})
_MAYBE = frozenset({"", ".txt", ".trec", ".run", ".qrels", ".qrel", ".dat"})  # TREC has no suffix


class Part(StrEnum):
    """What a file is to relgate: the setting that names it; a run has none."""

    JUDGMENTS = "judgments"
    CATALOGUE = "catalogue"
    QUERIES = "queries"
    CHANGE = "change"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Lying:
    """A file that lies in a folder.

    Attributes:
        name: its name in the folder.
        part: what it is; None where that cannot be told.
        says: its format; for a file without a part, why that cannot be told.
    """

    name: str
    part: Part | None
    says: str


@dataclass(frozen=True, slots=True)
class Folder:
    """What lies in a folder.

    Attributes:
        files: those that may be of use, by name.
        left: how many more files were not looked into.
    """

    files: tuple[Lying, ...]
    left: int = 0

    def of(self, part: Part) -> tuple[Lying, ...]:
        """The files that are this."""
        return tuple(file for file in self.files if file.part is part)

    @property
    def settings(self) -> dict[str, str]:
        """{setting: file name} where one file alone is meant."""
        parts = (part for part in Part if part is not Part.RUN)
        return {part.value: found[0].name for part in parts if len(found := self.of(part)) == 1}

    @property
    def untold(self) -> tuple[Lying, ...]:
        """The files of which it cannot be told what they are."""
        return tuple(file for file in self.files if file.part is None)


def look_into(folder: Path, *, leave_out: Path | None = None) -> Folder:
    """What lies in a folder itself; folders in it and hidden files are passed over.

    Args:
        folder: the folder; one that is not there holds nothing.
        leave_out: a file that is not meant.
    """
    there = sorted(folder.iterdir()) if folder.is_dir() else []
    paths = [
        path
        for path in there
        if path.is_file()
        and not path.name.startswith(".")
        and path != leave_out
        and _suffix(path) in _SUFFIXES | _MAYBE
    ]
    told = (_told(path) for path in paths[:MAX_FILES])
    return Folder(tuple(file for file in told if file is not None), len(paths[MAX_FILES:]))


def _suffix(path: Path) -> str:
    suffixes = [s.casefold() for s in path.suffixes if s.casefold() != ".gz"]
    return suffixes[-1] if suffixes else ""


def _told(path: Path) -> Lying | None:
    """What a file is; None for one that shows no mark of a data file, by content or by name."""
    try:
        found = list(_parts(path))
    except RelgateError as error:
        return None if _suffix(path) in _MAYBE else Lying(path.name, None, _why(error, path))
    if len(found) == 1:
        part, says = found[0]
        return Lying(path.name, part, says)
    if found:
        either = " or ".join(dict.fromkeys(f"{part.value} ({says})" for part, says in found))
        return Lying(path.name, None, f"it could be {either}")
    if _suffix(path) in _MAYBE | {".toml"}:
        return None
    return Lying(path.name, None, _nothing_known(path))


def _nothing_known(path: Path) -> str:
    what = "not known as a run" if is_parquet(path) else why_no_run(load_content(path))[0]
    known = "no judgment list, run, catalogue or query table that is known"
    return known if what == "not known as a run" else what


def _why(error: RelgateError, path: Path) -> str:
    """Without the path, which stands beside it; a line number is kept."""
    return str(error).removeprefix(f"{path}: ").replace(f"{path}:", "line ", 1)


def _parts(path: Path) -> Iterator[tuple[Part, str]]:
    if _suffix(path) == ".toml":
        if _is_change(path):
            yield Part.CHANGE, "change description"
        return
    if is_parquet(path):
        names = parquet_table(path).names
        yield from _by_names(names, "parquet")
        return
    content = load_content(path)
    listed, ranked = told_list(content), told_run(content)
    if listed is not None:
        yield Part.JUDGMENTS, listed
    if ranked is not None:
        yield Part.RUN, ranked
    if listed is None and ranked is None:
        yield from _by_names(_names(content), "table" if content.kind == "text" else content.kind)


def _is_change(path: Path) -> bool:
    try:
        read_change(path)
    except RelgateError:
        return False
    return True


def _by_names(names: Sequence[str], kind: str) -> Iterator[tuple[Part, str]]:
    """By the names of columns, or of a first object's fields."""
    if is_list_header(names):
        yield Part.JUDGMENTS, kind
    if is_run_header(names):
        yield Part.RUN, kind
    if is_list_header(names) or is_run_header(names):
        return
    if tells_queries(names):  # a table of queries may have a category too
        yield Part.QUERIES, kind
    elif tells_products(names):
        yield Part.CATALOGUE, kind
    elif {"id", "text"} <= {fold(name) for name in names}:  # texts of products, or of queries
        yield Part.CATALOGUE, kind
        yield Part.QUERIES, kind


def _names(content: Content) -> Sequence[str]:
    if content.kind == "jsonl":
        return tuple(next(json_lines(content.text, content.path))[1])
    if content.kind == "text":
        head = open_table(
            content.head,
            content.path,
            fits=lambda names: tells_products(names) or tells_queries(names),
        )
        return head.header
    first = content.value
    if isinstance(first, dict):  # one row, or a table of queries in an object
        first = next((first[n] for n in ("queries", "querySetQueries") if n in first), first)
    if isinstance(first, list):
        first = first[0] if first else None
    return tuple(first) if isinstance(first, dict) else ()
