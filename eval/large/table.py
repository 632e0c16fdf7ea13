"""The figures of every query as a Parquet file, written as they come. I/O."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from relgate.eval.files import new_file
from relgate.eval.metrics.conventions import Further, Metric
from relgate.eval.metrics.types import RunScores
from relgate.rubrics.errors import InputError

__all__ = ["FigureTable", "figure_table"]


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
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise InputError(
            "a Parquet file needs pyarrow", path=path, mend="pip install 'relgate[parquet]'"
        ) from error
    texts = [(name, arrow.string()) for name in ("run", "query_id", "query")]
    counts = [(name, arrow.int64()) for name in ("returned", "unrated")]
    figures = [(metric.value, arrow.float64()) for metric in (*Metric, *Further)]
    schema = arrow.schema([*texts, *counts, *figures])
    with new_file(path) as file, parquet.ParquetWriter(file, schema) as writer:
        yield FigureTable(arrow, writer, schema)
