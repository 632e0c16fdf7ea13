"""Reads a product catalogue: JSONL, JSON, CSV, TSV or Parquet; ids are text for ever. I/O."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from relgate.eval.files import load_content
from relgate.eval.lists.columns import fold
from relgate.eval.lists.jsontext import Content, Json, as_list, as_object, as_text, json_lines
from relgate.eval.lists.parquet import is_parquet, parquet_table
from relgate.eval.lists.table import open_table
from relgate.eval.lists.types import match_key
from relgate.judge.prompt import candidate_fields, candidate_summary, one_line
from relgate.judge.types import Candidate
from relgate.rubrics.errors import InputError

__all__ = ["Catalogue", "read_catalogue", "tells_products"]

_ID = ("id", "doc_id", "product_id", "_id", "docid", "sku", "document_id", "docno")

_Row = tuple[int | None, dict[str, Json]]

_TITLES = ("title", "name", "product_title")
_TITLE_CHARS = 60
_IMAGES = (
    "image", "image_url", "imageurl", "image_link", "images", "img", "thumbnail", "picture",
    "photo",
)  # fmt: skip


class Catalogue:
    """Products by document id, compared in Unicode NFC.

    Args:
        products: `{match_key(id): (id as it stands, its fields)}`.
        path: the file they came from.
        format: what the file was taken for.
        id_field: the column that held the ids.
        repeats: rows that said again what another row had said.
    """

    def __init__(
        self,
        products: Mapping[str, tuple[str, Mapping[str, Any]]],
        *,
        path: str,
        format: str,  # noqa: A002 - as in every reader
        id_field: str,
        repeats: int = 0,
    ) -> None:
        self._products = products
        self.path = path
        self.format = format
        self.id_field = id_field
        self.repeats = repeats

    def __len__(self) -> int:
        return len(self._products)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids as they stand in the file, in its order."""
        return tuple(doc_id for doc_id, _ in self._products.values())

    def product(self, doc_id: str) -> Mapping[str, Any] | None:
        """The fields of a product, or None when the catalogue lacks it."""
        found = self._products.get(match_key(doc_id))
        return None if found is None else found[1]

    def ids_by(self, field: str) -> dict[str, tuple[str, ...]]:
        """The ids of the products by one of their fields, say a URL: {match_key(value): ids}.

        Raises:
            InputError: no product has that field, or a value of it is neither text nor a whole
                number.
        """
        found: dict[str, tuple[str, ...]] = {}
        for doc_id, fields in self._products.values():
            if field in fields:
                value = as_text(fields[field], f"{field} of {doc_id!r}", self.path)
                key = match_key(value)
                found[key] = (*found.get(key, ()), doc_id)
        if not found:
            raise InputError(
                f"no product has the field {field!r}",
                path=self.path,
                mend="name it as it stands in the catalogue",
            )
        return found

    def title(self, doc_id: str) -> str | None:
        """A product's title on one short line, or None when it has none."""
        product = self.product(doc_id) or {}
        named = {fold(name): value for name, value in product.items()}
        texts = (named.get(name) for name in _TITLES)
        text = next((t for t in texts if isinstance(t, str) and t.strip()), None)
        return None if text is None else one_line(text, _TITLE_CHARS)

    @property
    def has_titles(self) -> bool:
        """Whether any product has a title or a `text`; else a judge sees its other fields only."""
        return any(
            fold(name) in {*_TITLES, "text"} and value
            for _, product in self._products.values()
            for name, value in product.items()
        )

    def candidate(self, doc_id: str) -> Candidate | None:
        """What the judge sees of a product, under the id that was asked for.

        Its `text` field when it has one that is not blank, else `candidate_summary` of its
        fields. None when the catalogue lacks it, or nothing of it can be shown.
        """
        product = self.product(doc_id)
        if product is None:
            return None
        named = {fold(name): value for name, value in product.items()}
        text = _own_text(named) or candidate_summary(named)
        return Candidate(doc_id, text) if text.strip() else None

    def fields(self, doc_id: str) -> tuple[tuple[str, str], ...]:
        """The named parts of what `candidate` shows, for people; empty where it is one `text`."""
        named = {fold(name): value for name, value in (self.product(doc_id) or {}).items()}
        return () if _own_text(named) else candidate_fields(named)

    def image(self, doc_id: str) -> str | None:
        """Where a product's first image is: a path or an address, or None."""
        named = {fold(name): value for name, value in (self.product(doc_id) or {}).items()}
        firsts = (_first(named.get(name)) for name in _IMAGES)
        return next((text for text in firsts if text), None)


def _own_text(named: Mapping[str, Any]) -> str:
    own = named.get("text")
    return own if isinstance(own, str) and own.strip() else ""


def _first(value: Json) -> str:
    """A text, or the first of a list of texts; empty for anything else."""
    if isinstance(value, list):
        value = value[0] if value else None
    return value.strip() if isinstance(value, str) else ""


def tells_products(names: Iterable[str]) -> bool:
    """Whether columns of these names hold ids and a field of products that a judge sees."""
    folded = [fold(name) for name in names]
    shown = bool(candidate_fields(dict.fromkeys(folded, "x")))
    return "_source" in folded or (shown and any(name in _ID for name in folded))


def read_catalogue(
    path: str | Path, *, id_field: str | None = None, wanted: AbstractSet[str] | None = None
) -> Catalogue:
    """A catalogue from a file.

    Args:
        path: JSONL, a JSON list, CSV, TSV or Parquet; objects in `_source` are unwrapped.
        id_field: the column of the ids; None takes the first there is of `id`, `doc_id`,
            `product_id`, `_id`, `docid`, `sku`, `document_id`, `docno`.
        wanted: keep these ids only; None keeps all.

    Raises:
        InputError: any fault of the file, a row without id, one id with two different contents,
            or a Parquet file without pyarrow.
    """
    if is_parquet(path):
        return _gather(parquet_table(path).rows(), str(path), "parquet", id_field, wanted)
    content = load_content(path)
    rows, file_format = _text_rows(content, id_field)
    return _gather(rows, content.path, file_format, id_field, wanted)


def _text_rows(content: Content, id_field: str | None) -> tuple[Iterable[_Row], str]:
    if content.kind == "jsonl":
        return json_lines(content.text, content.path), "jsonl"
    if content.kind == "text":
        table = open_table(
            content.text, content.path, fits=lambda names: any(fold(n) in _ID for n in names)
        )
        _id_column(dict.fromkeys(table.header), id_field, content.path, table.line)
        rows: Iterable[_Row] = (
            (line, dict(zip(table.header, cells, strict=True))) for line, cells in table.rows()
        )
        return rows, "tsv" if table.delimiter == "\t" else "csv"
    if isinstance(content.value, dict):
        return [(1, content.value)], "jsonl"
    entries = enumerate(as_list(content.value, "the file", content.path), start=1)
    return ((None, as_object(e, f"entry {n}", content.path)) for n, e in entries), "json"


def _gather(
    rows: Iterable[_Row],
    path: str,
    file_format: str,
    id_field: str | None,
    wanted: AbstractSet[str] | None,
) -> Catalogue:
    keep = None if wanted is None else {match_key(doc_id) for doc_id in wanted}
    products: dict[str, tuple[str, Mapping[str, Any]]] = {}
    lines: dict[str, int | None] = {}
    repeats = 0
    everything = iter(rows)
    first = next(everything, None)
    if first is None:
        raise InputError("no product in it", path=path, mend="export it again")
    column = _id_column(first[1], id_field, path, first[0])
    for line, row in chain([first], everything):
        doc_id = _id_of(row, column, path, line)
        key = match_key(doc_id)
        if keep is not None and key not in keep:
            continue
        fields = _unwrapped(row)
        if key not in products:
            products[key], lines[key] = (doc_id, MappingProxyType(fields)), line
        elif products[key][1] == fields:
            repeats += 1
        else:
            raise _two_contents(doc_id, path, lines[key], line)
    return Catalogue(products, path=path, format=file_format, id_field=column, repeats=repeats)


def _two_contents(doc_id: str, path: str, first: int | None, second: int | None) -> InputError:
    where = "" if first is None else f" (lines {first} and {second})"
    return InputError(
        f"id {doc_id!r} stands twice with different contents{where}",
        path=path,
        line=second,
        mend="keep one of the two",
    )


def _id_column(row: Mapping[str, Json], stated: str | None, path: str, line: int | None) -> str:
    """The column of the ids, from the first row; a search hit's own `_id` comes before others."""
    inner = row.get("_source")
    names = [*row, *(inner if isinstance(inner, dict) else {})]
    order: tuple[str, ...] = ("_id", *_ID) if isinstance(inner, dict) else _ID
    if stated is not None:
        order = (stated,)
    for wanted in order:
        for name in names:
            if name == wanted or (stated is None and fold(name) == wanted):
                return name
    raise InputError(
        f"no id column ({stated or '|'.join(_ID)}); found {', '.join(map(repr, names[:12]))}",
        path=path,
        line=line,
        mend="name the column of the ids `id`",
    )


def _id_of(row: Mapping[str, Json], column: str, path: str, line: int | None) -> str:
    inner = row.get("_source")
    value = row.get(column)
    if value is None and isinstance(inner, dict):
        value = inner.get(column)
    try:
        return as_text("" if value is None else value, f"the id ({column})", path)
    except InputError as error:
        raise InputError(error.what, path=path, line=line, mend=error.mend) from error


def _unwrapped(row: Mapping[str, Json]) -> dict[str, Json]:
    """The fields that have a value; NaN and the empty text are how tables write "none"."""
    inner = row.get("_source")
    fields: Mapping[str, Json] = inner if isinstance(inner, dict) else row
    return {
        name: value
        for name, value in fields.items()
        if value is not None
        and not (isinstance(value, float) and math.isnan(value))
        and not (isinstance(value, str) and not value)
    }
