"""The files beside a refreshed list: retired judgments, and the sheet for people. I/O."""

from __future__ import annotations

from pathlib import Path

from relgate.eval.catalogue import Catalogue
from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import Source
from relgate.eval.refresh.apply import retired_rows, with_texts
from relgate.eval.refresh.stale import State
from relgate.eval.refresh.work import Look, shown_text
from relgate.eval.sampling.sheet import SheetRow
from relgate.rubrics.errors import UsageError

__all__ = ["people_rows", "spare_retired"]


def people_rows(looked: Look, catalogue: Catalogue) -> list[SheetRow]:
    """The stale judgments that no judge made, with the text of today, the old grade and why."""
    queries = with_texts(looked.judgments.queries, looked.texts)
    index: list[int] = looked.judgments.query.tolist()
    return [
        SheetRow(
            queries[q],
            row.doc_id,
            shown_text(catalogue, row.doc_id) or "",
            {"old_grade": str(row.grade), "why": ", ".join(found.why)},
        )
        for q, row, found in zip(index, looked.judgments.rows(), looked.staleness.rows, strict=True)
        if found.state is State.STALE and row.provenance.source is not Source.JUDGE
    ]


def spare_retired(path: Path, looked: Look, *, mend: str) -> None:
    """Refuses a place where another refresh left its retired judgments: they are nowhere else.

    Raises:
        UsageError: other judgments are there.
        InputError: what is there is no judgment list.
    """
    retired = retired_rows(looked.judgments, looked.staleness)
    if not len(retired) or not path.exists():
        return
    there = read_list(path, scale=looked.judgments.scale, format="jsonl").judgments
    if list(there.rows()) != list(retired.rows()):
        raise UsageError(f"{path} holds judgments that another refresh retired; {mend}")
