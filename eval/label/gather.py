"""Makes the pairs to grade: out of sheets, a pool, or what a judge graded. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from relgate.eval.catalogue import Catalogue
from relgate.eval.label.types import JudgeGrade, Task
from relgate.eval.lists.types import JudgmentList, Query, Source, match_key
from relgate.eval.queries import QueryTable
from relgate.eval.sampling.sheet import SheetRow

__all__ = ["Gathered", "gather", "judge_grades", "judged_rows"]

_NEED = ("need", "information_need", "narrative")


@dataclass(frozen=True, slots=True)
class Gathered:
    """The pairs to grade.

    Attributes:
        tasks: no pair twice, in order.
        no_text: pairs left out because there is nothing to show of the document.
        changed: pairs whose text in the catalogue is not the sheet's any more; today's is shown.
        images: pairs with an image.
        images_held_back: those of them whose image the page may not load.
    """

    tasks: tuple[Task, ...]
    no_text: int
    changed: int
    images: int
    images_held_back: int


def gather(
    rows: Iterable[SheetRow],
    *,
    catalogue: Catalogue | None,
    table: QueryTable | None,
    image_address: Callable[[str], str | None],
) -> Gathered:
    """The tasks of rows.

    Args:
        rows: pairs, with the text that a sheet holds; empty where it holds none.
        catalogue: what the documents are today, or None to show the sheets' texts.
        table: needs, filters and locales of queries, or None.
        image_address: what the page may load for an image of the catalogue, or None.
    """
    tasks: dict[tuple[str, str], Task] = {}
    no_text = changed = 0
    for row in rows:
        text = _text(row, catalogue)
        if not text:
            no_text += 1
            continue
        task = _task(row, text, catalogue, table, image_address)
        if task.pair not in tasks:
            tasks[task.pair] = task
            changed += bool(row.text) and row.text != text
    images = sum(task.image is not None or task.image_held_back for task in tasks.values())
    held_back = sum(task.image_held_back for task in tasks.values())
    return Gathered(tuple(tasks.values()), no_text, changed, images, held_back)


def _text(row: SheetRow, catalogue: Catalogue | None) -> str:
    candidate = None if catalogue is None else catalogue.candidate(row.doc_id)
    return row.text if candidate is None else candidate.text


def _task(
    row: SheetRow,
    text: str,
    catalogue: Catalogue | None,
    table: QueryTable | None,
    image_address: Callable[[str], str | None],
) -> Task:
    known = None if table is None else table.by_key(row.query.id) or table.by_key(row.query.shown)
    image = None if catalogue is None else catalogue.image(row.doc_id)
    address = None if image is None else image_address(image)
    stated = next((row.more[name] for name in _NEED if row.more.get(name)), None)
    query = row.query
    if query.text is None and known is not None:
        query = Query(query.id, known.text)
    return Task(
        query=query,
        doc_id=row.doc_id,
        text=text,
        fields=() if catalogue is None else catalogue.fields(row.doc_id),
        need=stated or (None if known is None else known.need),
        filters=None if known is None else known.filters,
        locale=None if known is None else known.locale,
        image=address,
        image_held_back=image is not None and address is None,
    )


def judged_rows(judgments: JudgmentList) -> list[SheetRow]:
    """The pairs that a judge graded, without its grades."""
    index: list[int] = judgments.query.tolist()
    return [
        SheetRow(judgments.queries[q], row.doc_id, "")
        for q, row in zip(index, judgments.rows(), strict=True)
        if row.provenance.source is Source.JUDGE
    ]


def judge_grades(
    judgments: JudgmentList, tasks: Iterable[Task]
) -> dict[tuple[str, str], JudgeGrade]:
    """What a judge said of the tasks, by their pairs; queries meet by id, else by text."""
    index: list[int] = judgments.query.tolist()
    by_name: dict[tuple[str, str], JudgeGrade] = {}
    for q, row in zip(index, judgments.rows(), strict=True):
        if row.provenance.source is Source.JUDGE:
            said, doc = JudgeGrade(row.grade, row.reason), match_key(row.doc_id)
            query = judgments.queries[q]
            by_name[match_key(query.id), doc] = said
            by_name.setdefault((match_key(query.shown), doc), said)
    found: dict[tuple[str, str], JudgeGrade] = {}
    for task in tasks:
        doc = match_key(task.doc_id)
        names = (match_key(task.query.id), match_key(task.query.shown))
        said_of = (by_name.get((name, doc)) for name in names)
        said_first = next((said for said in said_of if said is not None), None)
        if said_first is not None:
            found[task.pair] = said_first
    return found
