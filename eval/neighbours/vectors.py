"""Reads vectors from NumPy, Parquet or JSONL, with their ids. I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from relgate.eval.files import load_content, read_text
from relgate.eval.lists.columns import fold
from relgate.eval.lists.jsontext import Json, as_text, json_lines
from relgate.eval.lists.parquet import is_parquet, parquet_table
from relgate.eval.lists.types import match_key
from relgate.rubrics.errors import InputError

__all__ = ["Vectors", "read_vectors"]

_IDS = ("id", "query_id", "qid", "doc_id", "docid", "_id", "product_id")
_VECTORS = ("vector", "embedding", "values")
_NPY = b"\x93NUMPY"


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Vectors and their ids.

    Attributes:
        ids: one a row.
        values: shape (n, d); memory-mapped where the file is NumPy's.
        path: the file.
    """

    ids: tuple[str, ...]
    values: NDArray[np.generic]
    path: str


def read_vectors(path: Path, ids: Path | None = None) -> Vectors:
    """Vectors of a file.

    NumPy (`.npy`, never pickled): one row a vector; ids are the lines of `ids`, or the row numbers
    from 0. Parquet and JSONL: an id (`id`, `query_id`, `doc_id` ...) and a list of numbers
    (`vector` or `embedding`).

    Args:
        path: the file.
        ids: one id a line, for NumPy files.

    Raises:
        InputError: any fault of a file, with its line or row.
    """
    if _is_npy(path):
        values = _load(path)
        names = _names(ids, len(values)) if ids else tuple(str(i) for i in range(len(values)))
    elif ids is not None:
        raise InputError("ids are in this file itself", path=path, mend="drop the file of ids")
    elif is_parquet(path):
        names, values = _of_rows(parquet_table(path).rows(), path)
    else:
        content = load_content(path, text_only=True)
        names, values = _of_rows(json_lines(content.text, content.path), path)
    _check_ids(names, ids or path)
    return Vectors(names, values, str(path))


def _is_npy(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_NPY)) == _NPY
    except OSError:
        return False  # the text reader says what is wrong


def _load(path: Path) -> NDArray[np.generic]:
    try:
        values: NDArray[np.generic] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        why = " ".join(str(error).split())[:120]
        raise InputError(
            f"no NumPy array of numbers ({why})", path=path, mend="save it with numpy.save"
        ) from None
    if values.ndim != 2:  # noqa: PLR2004 - rows and components
        raise InputError(f"an array of shape {values.shape}", path=path, mend="one row a vector")
    return values


def _names(path: Path, n: int) -> tuple[str, ...]:
    names = tuple(line.strip() for line in read_text(path).splitlines() if line.strip())
    if len(names) != n:
        raise InputError(f"{len(names)} ids for {n} vectors", path=path, mend="one id a line")
    return names


def _of_rows(
    rows: Iterable[tuple[int, dict[str, Json]]], path: Path
) -> tuple[tuple[str, ...], NDArray[np.generic]]:
    names: list[str] = []
    vectors: list[NDArray[np.float64]] = []
    for line, row in rows:
        name, vector = _row(row, path, line)
        if vectors and len(vector) != len(vectors[0]):
            raise InputError(
                f"a vector of {len(vector)} components after those of {len(vectors[0])}",
                path=path, line=line, mend="take all from one model",
            )  # fmt: skip
        names.append(name)
        vectors.append(vector)
    if not vectors:
        raise InputError("no vector in it", path=path, mend="export it again")
    return tuple(names), np.stack(vectors)


def _row(row: dict[str, Json], path: Path, line: int) -> tuple[str, NDArray[np.float64]]:
    ids = [value for name, value in row.items() if fold(name) in _IDS]
    found = [value for name, value in row.items() if fold(name) in _VECTORS]
    if len(ids) != 1 or len(found) != 1:
        raise InputError(
            f"no single id and vector; found {', '.join(map(repr, list(row)[:12]))}",
            path=path, line=line, mend=f"name them id and {_VECTORS[0]}",
        )  # fmt: skip
    vector = found[0]
    plain = isinstance(vector, list) and all(
        isinstance(x, int | float) and not isinstance(x, bool) for x in vector
    )
    if not plain or not vector:
        raise InputError("the vector is no list of numbers", path=path, line=line, mend="mend it")
    return as_text(ids[0], "the id", path), np.array(vector, np.float64)


def _check_ids(names: tuple[str, ...], path: Path) -> None:
    seen: set[str] = set()
    for name in names:
        key = match_key(name)
        if key in seen:
            raise InputError(f"id {name!r} stands twice", path=path, mend="keep one of the two")
        seen.add(key)
