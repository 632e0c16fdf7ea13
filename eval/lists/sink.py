"""Takes the rows of any format and makes the list, with all that must be said of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.columns import grade_of, source_of
from relgate.eval.lists.docids import DocIds
from relgate.eval.lists.jsontext import Json, as_text
from relgate.eval.lists.notes import Notes
from relgate.eval.lists.raters import Conflict, Raters
from relgate.eval.lists.types import (
    JudgmentList,
    Provenance,
    Query,
    Scale,
    Source,
    match_key,
)
from relgate.rubrics.errors import InputError

__all__ = ["ListFile", "Options", "Sink"]

_PROVENANCE = ("rater", "judge_version", "fingerprint", "model", "certificate", "judged_at")


@dataclass(frozen=True, slots=True)
class ListFile:
    """A judgment list as it was read.

    Attributes:
        judgments: the list.
        format: what the file was taken for.
        path: the file.
        repeats: rows that said again what another row had said.
        outranked: rows that a source of higher rank overruled.
        unlabelled: rows with a document but no grade; their queries are listed.
        notes: what is odd but readable, a line each.
        votes: the pairs that several equals graded, alike or not.
    """

    judgments: JudgmentList
    format: str
    path: str
    repeats: int
    outranked: int
    unlabelled: int
    notes: tuple[str, ...]
    votes: tuple[Conflict, ...] = ()

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The pairs that equals graded differently, settled by the policy that was named."""
        return tuple(c for c in self.votes if len({vote.grade for vote in c.votes}) > 1)


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller says of a list that its file may not.

    Attributes:
        scale: the scale its grades lie on.
        source: who made the judgments where no row says.
        grade_column: the column of the grade, where several may be it.
        negative_as_zero: map TREC's negative grades to 0 rather than refuse them.
        raters: how two grades of equals for one pair are settled.
        doc_column: the column of the document, where it has a name of its own.
        doc_ids: how `_index` and `_id` become one id.
        texts: query id -> text, where the list has ids only.
    """

    scale: Scale
    source: Source = Source.IMPORT
    grade_column: str | None = None
    negative_as_zero: bool = False
    raters: Raters = Raters.REFUSE
    doc_column: str | None = None
    doc_ids: DocIds = field(default_factory=DocIds)
    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class Sink:
    """Collects rows of named values into a `ListFile`.

    Args:
        options: what the caller said of the list.
        path: the file, for messages.
        notes: takes what is odd, beside what is there already; None begins anew.
    """

    def __init__(self, options: Options, path: str, notes: Notes | None = None) -> None:
        self.options = options
        self.path = path
        self.notes = Notes() if notes is None else notes
        self._builder = ListBuilder(options.scale.once_read, path=path, raters=options.raters)
        self._texts: dict[str, str] = {}
        self._origins: dict[tuple[Json, ...], Provenance] = {}
        self._queries: dict[tuple[str | None, ...], Query] = {}  # one query has many rows
        self._grades: dict[str, int | None] = {}
        self._unlabelled = 0

    def add(self, row: Mapping[str, Json], *, line: int | None = None) -> None:
        """Adds one row of `query_id`, `query`, `doc_id`, `grade` and provenance.

        A row without document and grade only lists its query.

        Raises:
            InputError: any fault of the row.
        """
        query = self._query(row, line)
        doc, value = row.get("doc_id"), row.get("grade")
        no_doc = doc is None or doc == ""
        if no_doc and (value is None or value == ""):
            self._builder.add_query(query)
            return
        doc_id = self._id(doc, "the document id", line)
        grade = self._grade(value, query, doc_id, line)
        if grade is None:
            self._builder.add_query(query)
            self._unlabelled += 1
            return
        self._builder.add(
            query,
            doc_id,
            grade,
            self._provenance(row, line),
            reason=_optional(row.get("reason"), "the reason", self.path, line),
            text_hash=_optional(row.get("text_hash"), "the text hash", self.path, line),
            line=line,
        )

    def finish(self, file_format: str) -> ListFile:
        """The list, once all rows are in.

        Raises:
            InputError: two grades for one pair, or no query at all.
        """
        judgments = self._builder.build()
        if not judgments.queries:
            raise InputError("no row below the header", path=self.path, mend="export it again")
        votes = self._builder.votes()
        differ = [c for c in votes if len({vote.grade for vote in c.votes}) > 1]
        for conflict in differ:
            self.notes.add(f"pair(s) settled by --raters {self.options.raters}", conflict.shown)
        return ListFile(
            judgments=judgments,
            format=file_format,
            path=self.path,
            repeats=self._builder.repeats,
            outranked=self._builder.outranked,
            unlabelled=self._unlabelled,
            notes=self.notes.lines(),
            votes=votes,
        )

    def _id(self, value: Json, what: str, line: int | None) -> str:
        try:
            text = as_text("" if value is None else value, what, self.path)
        except InputError as error:
            raise _at(error, line) from error
        self.notes.look(text, line=line)
        return text

    def _query(self, row: Mapping[str, Json], line: int | None) -> Query:
        text, number = row.get("query"), row.get("query_id", "")
        if not isinstance(number, str) or not (text is None or isinstance(text, str)):
            return self._new_query(row, line)
        key = (number, text) if "query_id" in row else (text,)
        known = self._queries.get(key)
        if known is None:
            known = self._queries[key] = self._new_query(row, line)
        return known

    def _new_query(self, row: Mapping[str, Json], line: int | None) -> Query:
        text = row.get("query")
        if text is None and self.options.texts:
            text = self.options.texts.get(match_key(str(row.get("query_id"))))
        words = None if text is None or text == "" else self._id(text, "the query", line)
        if "query_id" not in row:
            words = words or self._id("", "the query", line)
            return Query(words, words)
        if words is not None and row["query_id"] in (None, ""):
            self.notes.add("queries have a text and no id; keyed by the text", words, line=line)
            return Query(words, words)
        query = Query(self._id(row["query_id"], "the query id", line), words)
        if words is not None:
            first = self._texts.setdefault(match_key(query.id), words)
            if match_key(first) != match_key(words):
                raise InputError(
                    f"query {query.id!r} has two texts: {first!r} and {words!r}",
                    path=self.path,
                    line=line,
                    mend="give each query an id of its own",
                )
        return query

    def _grade(self, value: Json, query: Query, doc_id: str, line: int | None) -> int | None:
        if isinstance(value, str) and value in self._grades:
            return self._grades[value]
        pair = f"query {query.shown!r}, document {doc_id!r}"
        grade = grade_of(value, self.options.scale, pair=pair, path=self.path, line=line)
        if grade is None or grade >= 0:
            if isinstance(value, str):
                self._grades[value] = grade
            return grade
        if self.options.negative_as_zero:
            self.notes.add("negative grade(s) taken as 0", f"{doc_id} {grade}", line=line)
            return 0
        raise InputError(
            f"negative grade {grade} ({pair})",
            path=self.path,
            line=line,
            mend="map negative grades to 0: relgate convert --negative-as-zero",
        )

    def _provenance(self, row: Mapping[str, Json], line: int | None) -> Provenance:
        key = tuple(map(row.get, ("source", *_PROVENANCE)))
        try:
            known = self._origins.get(key)
        except TypeError as error:  # a list or an object has no hash
            raise InputError(
                "a column of provenance holds a list or an object",
                path=self.path,
                line=line,
                mend="write text",
            ) from error
        if known is None:
            known = self._origins[key] = self._new_provenance(row, line)
        return known

    def _new_provenance(self, row: Mapping[str, Json], line: int | None) -> Provenance:
        named = _optional(row.get("source"), "the source", self.path, line)
        texts = {
            name: _optional(row.get(name), f"the {name}", self.path, line) for name in _PROVENANCE
        }
        source = self.options.source
        if named:
            source = source_of(named, path=self.path, line=line)
        return Provenance(source, **texts)


def _optional(value: Json, what: str, path: str, line: int | None) -> str | None:
    """Text that may be absent; the empty text is text."""
    if value is None or (isinstance(value, str) and not value):
        return value
    try:
        return as_text(value, what, path)
    except InputError as error:
        raise _at(error, line) from error


def _at(error: InputError, line: int | None) -> InputError:
    return InputError(error.what, path=error.path, line=line, mend=error.mend)
