"""A sheet on which people label pairs: CSV for spreadsheets, JSONL for programs. Pure.

A filled sheet is a judgment list: its blank columns are those that a list reader knows, its rows
say that a person made them and which text they saw, and rows left blank are no judgments. Cells
that a spreadsheet would run as a formula are guarded, and reading takes the guard off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from relgate.cache.keys import text_hash
from relgate.eval.lists.csv_list import cell_text
from relgate.eval.lists.table import cell
from relgate.eval.lists.types import Query, Source
from relgate.rubrics.errors import UsageError

__all__ = ["SHEET_ENDINGS", "SheetRow", "sheet_text"]

SHEET_ENDINGS = (".csv", ".jsonl")

_BLANK = ("grade", "rater", "judged_at", "reason")
_HALF_PAIR = re.compile("[\ud800-\udfff]")  # UTF-8 cannot carry it
_SHOWN_CHARS = 32_000  # a spreadsheet's cell holds 32,767


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A pair to label.

    Attributes:
        query: its query.
        doc_id: its document.
        text: what the rater sees of the document; cut where a spreadsheet's cell ends.
        more: further columns by name, the same in every row.
    """

    query: Query
    doc_id: str
    text: str
    more: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def sheet_text(rows: Sequence[SheetRow], path: str | Path) -> str:
    """The sheet as its file's text.

    Args:
        rows: in the order in which they are to be labelled.
        path: its ending, `.csv` or `.jsonl`, says which format.

    Raises:
        UsageError: another ending.
    """
    ending = Path(path).suffix
    if ending not in SHEET_ENDINGS:
        raise UsageError(f"{path}: end it in {' or '.join(SHEET_ENDINGS)}")
    named = [_named(row) for row in rows]
    if ending == ".jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in named)
    columns = list(named[0]) if named else list(_named(SheetRow(Query(""), "", "")))
    lines = [",".join(columns)]
    lines += [",".join(cell(cell_text(name, row[name])) for name in columns) for row in named]
    return "\n".join(lines) + "\n"


def _named(row: SheetRow) -> dict[str, str | None]:
    text = _HALF_PAIR.sub("\ufffd", row.text)
    if len(text) > _SHOWN_CHARS:
        text = text[:_SHOWN_CHARS] + " …"
    return {
        "query_id": row.query.id,
        "query": row.query.text,
        "doc_id": row.doc_id,
        "text": text,
        **row.more,
        **dict.fromkeys(_BLANK),
        "source": Source.HUMAN.value,
        "text_hash": text_hash(row.text),
    }
