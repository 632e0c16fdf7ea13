"""Quepid books: one row a pair with a column a rater, or JSON with a list of judgements. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from relgate.eval.lists.columns import fold, is_list_header
from relgate.eval.lists.csv_list import unspaced
from relgate.eval.lists.jsontext import Content, Json, as_list, as_object
from relgate.eval.lists.sink import ListFile, Options, Sink
from relgate.eval.lists.table import Table, open_table
from relgate.rubrics.errors import InputError

__all__ = ["has_book_header", "is_book", "read_book_csv", "read_book_json"]

ANONYMOUS = "Anonymous"
"""The column of the raters without a name."""

_PAIR = ["query", "docid"]


def is_book(value: Json) -> bool:
    """Whether `value` is a book's JSON export."""
    return isinstance(value, dict) and isinstance(value.get("query_doc_pairs"), list)


def has_book_header(content: Content) -> bool:
    """Whether the header is that of a book: `query,docid`, then raters, no column of a grade."""
    header = _open(content.head, content.path).header
    return _fits(header) and not is_list_header(header)


def _fits(names: Sequence[str]) -> bool:
    return list(names[:2]) == _PAIR and len(names) > len(_PAIR)


def _open(text: str, path: str) -> Table:
    return open_table(text, path, fits=_fits)


def read_book_csv(content: Content, options: Options) -> ListFile:
    """The grades of all raters; how raters that differ are settled is for the options to say.

    Raises:
        InputError: any fault, or two raters of one name: whose grade is whose is lost then.
    """
    path = content.path
    table = _open(content.text, content.path)
    raters = table.header[2:]
    if not _fits(table.header):
        raise InputError(
            "no columns query, docid and raters", path=path, line=table.line, mend="export it again"
        )
    for place, rater in enumerate(raters):
        if not rater or fold(rater) in map(fold, raters[:place]):
            raise InputError(
                f"two columns of raters are called {rater!r}" if rater else "a rater has no name",
                path=path,
                line=table.line,
                mend="give each a name of its own",
            )
    sink = Sink(options, path)
    for line, cells in table.rows():
        query, doc_id = unspaced(cells[0]), unspaced(cells[1])
        given = [(r, c) for r, c in zip(raters, cells[2:], strict=True) if c.strip()]
        if not given:
            sink.add({"query": query, "doc_id": doc_id}, line=line)
        for rater, grade in given:
            row: dict[str, Json] = {"query": query, "doc_id": doc_id, "grade": grade}
            sink.add(row | {"rater": None if rater == ANONYMOUS else rater}, line=line)
    return sink.finish("quepid-book-csv")


def read_book_json(content: Content, options: Options) -> ListFile:
    """The ratings of all judgements; those marked unrateable or for later are not grades.

    Raises:
        InputError: any fault, or a book whose own scale ends elsewhere than the stated one.
    """
    path = content.path
    top = as_object(content.value, "the file", path)
    _check_scale(top.get("scale"), options, path)
    sink = Sink(options, path)
    for number, entry in enumerate(as_list(top.get("query_doc_pairs"), "pairs", path), start=1):
        pair = as_object(entry, f"pair {number}", path)
        names = {"query": pair.get("query_text"), "doc_id": pair.get("doc_id")}
        if names["doc_id"] is None or names["doc_id"] == "":
            raise InputError(f"pair {number} has no doc_id", path=path, mend="export it again")
        rated = list(_judgements(pair.get("judgements"), f"the judgements of pair {number}", sink))
        for row in rated:
            sink.add(names | row)
        if not rated:
            sink.add(names)
        if pair.get("document_fields"):
            sink.notes.add("pair(s) have document fields; left out", str(names["doc_id"]))
    return sink.finish("quepid-book")


def _judgements(value: Json, where: str, sink: Sink) -> Iterator[dict[str, Json]]:
    for entry in as_list([] if value is None else value, where, sink.path):
        item = as_object(entry, where, sink.path)
        if item.get("unrateable") is True:
            sink.notes.add("judgement(s) say unrateable; no grade", str(item.get("user_email")))
        elif item.get("rating") is not None:
            yield {
                "grade": item["rating"],
                "rater": item.get("user_email"),
                "reason": item.get("explanation"),
            }


def _check_scale(value: Json, options: Options, path: str) -> None:
    """A book that states its scale must be read on one that ends alike."""
    numbers = [n for n in value if isinstance(n, int)] if isinstance(value, list) else []
    if numbers and not options.scale.values and max(numbers) != options.scale.max_grade:
        raise InputError(
            f"the book's scale ends at {max(numbers)}, the scale {options.scale.name} at "
            f"{options.scale.max_grade}",
            path=path,
            mend="name the book's own with --scale",
        )
