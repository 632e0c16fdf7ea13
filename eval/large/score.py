"""Scores runs against a list, both larger than memory: part by part, as small files are. I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from relgate.eval.inputs import query_texts, with_texts
from relgate.eval.large.lists import ListReader, has_rows, no_rows, wanted_list
from relgate.eval.large.parts import Wanted, parts
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.notes import Notes
from relgate.eval.lists.parquet import ParquetTable, parquet_table, row_count
from relgate.eval.lists.sink import Options
from relgate.eval.lists.summary import ListSummary
from relgate.eval.lists.types import JudgmentList
from relgate.eval.metrics.align import align
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.metrics.overlap import Overlap, overlap
from relgate.eval.metrics.score import score_runs
from relgate.eval.metrics.totals import RunTotals, Totals
from relgate.eval.metrics.types import RunScores
from relgate.eval.queries import QueryTable
from relgate.eval.runs.read import parquet_run_table
from relgate.eval.runs.table import read_table_run, run_columns
from relgate.eval.runs.types import Run

__all__ = ["PartScores", "score_parts"]

_NOT_SCORED = ("reason", "text_hash")  # columns that may be long and that no figure looks at


@dataclass(frozen=True, slots=True)
class PartScores:
    """Runs scored part by part.

    Attributes:
        runs: the totals of each run.
        listed: what was read of the list.
        list_notes: what is odd in the list, a line each.
        run_queries: how many queries each run has.
        run_notes: what is odd in each run, a line each.
        overlap: how far the list covers the runs.
        warnings: ids that met although their texts differ.
    """

    runs: tuple[RunTotals, ...]
    listed: ListSummary
    list_notes: tuple[str, ...]
    run_queries: tuple[int, ...]
    run_notes: tuple[tuple[str, ...], ...]
    overlap: Overlap
    warnings: tuple[str, ...]


def score_parts(
    listed: Path,
    runs: Sequence[Path],
    options: Options,
    conventions: Conventions,
    *,
    table: QueryTable | None,
    memory: int,
    each: Callable[[RunScores], None],
    report: Callable[[int, int], None],
) -> PartScores:
    """Scores Parquet files of any size; the figures are those of files that fit.

    Args:
        listed: the judgment list.
        runs: the runs; each goes by the name of its file.
        options: what the caller says of the list.
        conventions: depth, floor, gain.
        table: the query table, or None.
        memory: bytes to keep to, roughly.
        each: is given the scores of every run in every part.
        report: is told how many parts are done, of how many.

    Raises:
        InputError: as `read_list`, `read_run` and `align` raise it, of the first part with a fault.
        UsageError: the floor lies above the list's scale.
        PlatformError: the disk that holds what is sorted is full.
    """
    scorer = _Scorer([path.name for path in runs], options, conventions, table, each)
    wanted = [wanted_list(listed, options, without=_NOT_SCORED), *map(_wanted_run, runs)]
    with parts(wanted, texts=query_texts(table), memory=memory) as cut:
        for done, (first, *rest) in enumerate(cut.tables, start=1):
            scorer.add(first, rest)
            report(done, cut.n)
    return scorer.scores(listed, runs)


def _wanted_run(path: Path) -> Wanted:
    names = parquet_table(path).names
    columns = run_columns(names, str(path))
    if "rank" in columns:
        columns.pop("score", None)
    return Wanted(
        path=str(path),
        names=names,
        rows=row_count(path),
        columns=tuple(dict.fromkeys(columns.values())),
        query_id=columns.get("query_id"),
        query=columns.get("query"),
        run=columns.get("run"),
    )


class _Scorer:
    """Reads and scores each part, and adds up what is to be said of all."""

    def __init__(
        self,
        names: Sequence[str],
        options: Options,
        conventions: Conventions,
        table: QueryTable | None,
        each: Callable[[RunScores], None],
    ) -> None:
        self._conventions, self._table, self._each = conventions, table, each
        self._totals = [Totals(name, conventions) for name in names]
        self._listed = ListReader(options)
        self._run_notes = [Notes() for _ in names]
        self._run_queries = [0] * len(names)
        self._empty = ListBuilder(options.scale.once_read).build()
        self._overlap: Overlap | None = None
        self._warnings: dict[str, None] = {}

    def add(self, listed: ParquetTable, runs: Sequence[ParquetTable]) -> None:
        """Takes in a part."""
        judgments = self._read_list(listed)
        read = [self._read_run(number, table) for number, table in enumerate(runs)]
        axis = align(judgments, read, self._known_texts(judgments, read))
        self._warnings |= dict.fromkeys(axis.warnings)
        found = overlap(judgments, read, axis, k=self._conventions.k)
        self._overlap = found if self._overlap is None else self._overlap + found
        scores = score_runs(judgments, read, axis, self._conventions)
        for totals, side in zip(self._totals, scores, strict=True):
            totals.add(side)
            self._each(side)

    def _known_texts(self, judgments: JudgmentList, runs: Sequence[Run]) -> dict[str, str]:
        """What the query table says of this part's queries: it may be long."""
        if self._table is None:
            return {}
        sides = (judgments.queries, *(run.queries for run in runs))
        ids = {query.id for queries in sides for query in queries}
        known = ((query_id, self._table.text_of(query_id)) for query_id in ids)
        return {query_id: text for query_id, text in known if text is not None}

    def _read_list(self, table: ParquetTable) -> JudgmentList:
        file = self._listed.read(table)
        return self._empty if file is None else with_texts(file.judgments, self._table)

    def _read_run(self, number: int, table: ParquetTable) -> Run:
        name = self._totals[number].name
        if not has_rows(table):
            return Run(name, (), ())
        notes = self._run_notes[number]
        run = read_table_run(parquet_run_table(table), name=name, notes=notes)
        notes.let_go()
        self._run_queries[number] += len(run.queries)
        return replace(run, notes=())

    def scores(self, listed: Path, runs: Sequence[Path]) -> PartScores:
        """What all parts come to.

        Raises:
            InputError: a file without rows.
        """
        for path, n in zip(runs, self._run_queries, strict=True):
            if not n:
                raise no_rows(path)
        told = self._listed.told(listed)
        if self._overlap is None:
            raise no_rows(listed)
        return PartScores(
            runs=tuple(totals.totals() for totals in self._totals),
            listed=told.summary,
            list_notes=told.notes,
            run_queries=tuple(self._run_queries),
            run_notes=tuple(notes.lines() for notes in self._run_notes),
            overlap=self._overlap,
            warnings=tuple(self._warnings),
        )
