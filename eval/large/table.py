"""Parquet files that are written as their rows come: figures of queries, judgments. I/O."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from relgate.eval.files import new_file
from relgate.eval.lists.parquet import arrow_of
from relgate.eval.lists.types import JudgmentList
from relgate.eval.lists.write import columns_of
from relgate.eval.metrics.conventions import Further, Metric
from relgate.eval.metrics.types import RunScores

__all__ = ["FigureTable", "ListTable", "figure_table", "list_table"]


class FigureTable:
    """Takes scored queries and writes a row each; see `figure_table`."""

    def __init__(self, arrow: Any, writer: Any, schema: Any) -> None:  # noqa: ANN401 - an extra
        self._arrow, self._writer, self._schema = arrow, writer, schema

    def add(self, part: RunScores) -> None:
        """Writes the queries of a run, or some of them."""
        arrow, n = self._arrow, len(part.queries)
        values = part.all_values()
        columns = [
            arrow.array([part.name] * n, arrow.string()),
            arrow.array([query.id for query in part.queries], arrow.string()),
            arrow.array([query.text for query in part.queries], arrow.string()),
            arrow.array(part.returned, arrow.int64()),
            arrow.array(part.unrated, arrow.int64()),
            *(arrow.array(of, arrow.float64(), mask=np.isnan(of)) for of in values.values()),
        ]
        self._writer.write_table(arrow.table(columns, schema=self._schema))


@contextmanager
def figure_table(path: str | Path) -> Generator[FigureTable]:
    """A new Parquet file of figures; it stands at `path` once the block ends without an error.

    Columns: `run`, `query_id`, `query` (its text, null where unknown), `returned`, `unrated`, then
    every metric by its short name, null where it is undefined.

    Raises:
        InputError: no pyarrow.
        PlatformError: the file cannot be written.
    """
    arrow, parquet = arrow_of(path)
    texts = [(name, arrow.string()) for name in ("run", "query_id", "query")]
    counts = [(name, arrow.int64()) for name in ("returned", "unrated")]
    figures = [(metric.value, arrow.float64()) for metric in (*Metric, *Further)]
    schema = arrow.schema([*texts, *counts, *figures])
    with new_file(path) as file, parquet.ParquetWriter(file, schema) as writer:
        yield FigureTable(arrow, writer, schema)


class ListTable:
    """Takes lists that have no query in common and writes their rows; see `list_table`."""

    def __init__(self, arrow: Any, writer: Any, schema: Any) -> None:  # noqa: ANN401 - an extra
        self._arrow, self._writer, self._schema = arrow, writer, schema

    def add(self, judgments: JudgmentList) -> None:
        """Writes the rows of a list.

        Raises:
            ValueError: they have a value in a column that the file has not.
        """
        values = columns_of(judgments)
        if more := values.keys() - set(self._schema.names):
            raise ValueError(f"no column for {sorted(more)}")
        rows = len(values["doc_id"])
        columns = [
            self._arrow.array(values.get(field.name, [None] * rows), field.type)
            for field in self._schema
        ]
        self._writer.write_table(self._arrow.table(columns, schema=self._schema))


@contextmanager
def list_table(path: str | Path, columns: Sequence[str]) -> Generator[ListTable]:
    """A new Parquet file of judgments; it stands at `path` once the block ends without an error.

    Args:
        path: the file.
        columns: those of `lists.write.columns_of` that any row may have.

    Raises:
        InputError: no pyarrow.
        PlatformError: the file cannot be written.
    """
    arrow, parquet = arrow_of(path)
    kinds = {"grade": arrow.int64()}
    schema = arrow.schema([(name, kinds.get(name, arrow.string())) for name in columns])
    with new_file(path) as file, parquet.ParquetWriter(file, schema) as writer:
        yield ListTable(arrow, writer, schema)
