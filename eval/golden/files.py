"""Reads and writes golden sets (JSON, JSONL) and the lock that freezes their versions. I/O.

The lock stands beside the set, `queries.lock.json` for `queries.json`, and is committed with it. It
says which content each version has: the same version with other content is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from relgate.eval.files import load_content, read_json, write_text_atomic
from relgate.eval.golden.check import faults
from relgate.eval.golden.content import content_hash, plain
from relgate.eval.golden.types import GoldenSet
from relgate.eval.lists.jsontext import Content, Json, as_object, json_lines
from relgate.rubrics.errors import GoldenVersionError, InputError, UsageError

__all__ = [
    "Frozen",
    "freeze",
    "golden_schema",
    "lock_path",
    "read_golden",
    "read_lock",
    "tag",
    "write_golden",
]

_LOCK_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Frozen:
    """What the lock says of one version.

    Attributes:
        sha256: `content_hash` of the set.
        frozen_at: ISO 8601 time.
        tags: names of the baselines that were accepted on it.
    """

    sha256: str
    frozen_at: str
    tags: tuple[str, ...] = ()


@cache
def _adapter() -> TypeAdapter[GoldenSet]:
    return TypeAdapter(GoldenSet)


@cache
def _lock_adapter() -> TypeAdapter[dict[str, Frozen]]:
    return TypeAdapter(dict[str, Frozen])


def golden_schema() -> dict[str, Any]:
    """The JSON Schema of a golden set in one JSON value."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "relgate golden set",
        **_adapter().json_schema(),
    }


def read_golden(path: str | Path, *, unfrozen: bool = False, faulty: bool = False) -> GoldenSet:
    """A golden set from JSON, or JSONL: `{"version", "k"}` first, then one query a line.

    `vertical` is read as `stratum`.

    Args:
        path: the file, plain or gzip.
        unfrozen: do not hold it against its lock; for commands that make the next version.
        faulty: read it with the faults that `relgate golden check` lists.

    Raises:
        InputError: any fault, with its place.
        GoldenVersionError: its version is frozen with other content.
    """
    content = load_content(path)
    value, lines = _value(content)
    try:
        golden = _adapter().validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        raise _fault(error, value, lines, content.path) from None
    if not faulty:
        _sound(golden, path)
    if not unfrozen:
        _hold(golden, path)
    return golden


def _sound(golden: GoldenSet, path: str | Path) -> None:
    found = faults(golden)
    if found:
        first = f"{found[0].count} {found[0].what}, say {found[0].examples[0]}"
        raise InputError(first, path=path, mend=f"see all: relgate golden check {path}")


def _value(content: Content) -> tuple[dict[str, Json], list[int] | None]:
    """The set as one JSON value, and for JSONL the line of each query."""
    if content.kind == "jsonl":
        (_, head), *rows = json_lines(content.text, content.path)
        queries: list[Json] = [_normal(row) for _, row in rows]
        return {**head, "queries": queries}, [line for line, _ in rows]
    value = dict(as_object(content.value, "the golden set", content.path))
    found = value.get("queries")
    if isinstance(found, list):
        value["queries"] = [_normal(query) for query in found]
    return value, None


def _normal(query: Json) -> Json:
    """A query with `vertical` called `stratum`, and whole numbers as ids written as text."""
    if not isinstance(query, dict):
        return query
    names = {"vertical": "stratum"} if "stratum" not in query else {}
    out = {names.get(name, name): _id(name, value) for name, value in query.items()}
    judgments = out.get("judgments")
    if isinstance(judgments, list):
        out["judgments"] = [
            {name: _id(name, value) for name, value in judgment.items()}
            if isinstance(judgment, dict)
            else judgment
            for judgment in judgments
        ]
    return out


def _id(name: str, value: Json) -> Json:
    whole = name in {"id", "doc_id"} and isinstance(value, int) and not isinstance(value, bool)
    return str(value) if whole else value


def _fault(
    error: ValidationError, value: Mapping[str, Json], lines: list[int] | None, path: str
) -> InputError:
    """The first complaint, with the query's id and, for JSONL, its line."""
    problem = error.errors()[0]
    loc = list(problem["loc"])
    line, where = None, ""
    if len(loc) > 1 and loc[0] == "queries" and isinstance(loc[1], int):
        line = lines[loc[1]] if lines is not None else None
        where = f"query {_id_at(value, loc[1])}: "
        loc = loc[2:]
    name = ".".join(str(part) for part in loc if part != "function-wrap")
    if problem["type"] == "unexpected_keyword_argument":
        what = f"unknown key {name!r}"
        return InputError(where + what, path=path, line=line, mend="mend or remove it")
    shown = "" if problem["type"] == "missing" else f" (it is {problem.get('input')!r:.60})"
    what = f"{name or 'the set'}: {problem['msg']}{shown}"
    return InputError(where + what, path=path, line=line, mend="correct that value")


def _id_at(value: Mapping[str, Json], number: int) -> str:
    queries = value["queries"]
    entry = queries[number] if isinstance(queries, list) else None
    query_id = entry.get("id") if isinstance(entry, dict) else None
    return repr(query_id) if isinstance(query_id, str) else str(number + 1)


def write_golden(path: Path, golden: GoldenSet) -> None:
    """Writes a set as JSON, or as JSONL when the name ends in `.jsonl`; short lines to diff."""
    body = plain(golden)
    if path.suffix == ".jsonl":
        queries = body.pop("queries")
        lines = [json.dumps(row, ensure_ascii=False) for row in (body, *queries)]
        write_text_atomic(path, "\n".join(lines) + "\n")
    else:
        write_text_atomic(path, json.dumps(body, ensure_ascii=False, indent=1) + "\n")


def lock_path(path: str | Path) -> Path:
    """Where the lock of a golden set stands."""
    return Path(path).with_suffix(".lock.json")


def read_lock(path: str | Path) -> dict[str, Frozen]:
    """What the lock beside the set at `path` says, {version: frozen}; empty without a lock.

    Raises:
        InputError: the lock cannot be understood.
    """
    there = lock_path(path)
    if not there.exists():
        return {}
    value = as_object(read_json(there), "the lock", there)
    if value.get("format") != _LOCK_FORMAT:
        raise InputError(
            f"a lock of format {value.get('format')!r}, not {_LOCK_FORMAT}",
            path=there,
            mend="use the relgate that wrote it, or restore it from version control",
        )
    try:
        return _lock_adapter().validate_python(value.get("versions"))
    except ValidationError as error:
        raise InputError(
            f"not a lock: {error.errors()[0]['msg']}",
            path=there,
            mend="restore it from version control",
        ) from None


def _write_lock(path: str | Path, lock: Mapping[str, Frozen]) -> None:
    versions = _lock_adapter().dump_python(dict(lock), mode="json")
    text = json.dumps({"format": _LOCK_FORMAT, "versions": versions}, indent=1)
    write_text_atomic(lock_path(path), text + "\n")


def _hold(golden: GoldenSet, path: str | Path) -> None:
    frozen = read_lock(path).get(golden.version)
    if frozen is not None and frozen.sha256 != content_hash(golden):
        raise GoldenVersionError(
            f"{path}: version {golden.version!r} is frozen with other content; give the changed "
            "set a new version, and see what changed with: relgate golden diff"
        )


def freeze(path: Path, at: str) -> Frozen:
    """Freezes the version of the set at `path`; a version that is frozen already stays as it is.

    Raises:
        InputError: any fault of the set.
        GoldenVersionError: the version is frozen with other content.
    """
    golden = read_golden(path)
    lock = read_lock(path)
    if golden.version not in lock:
        lock[golden.version] = Frozen(content_hash(golden), at)
        _write_lock(path, lock)
    return lock[golden.version]


def tag(path: Path, name: str) -> Frozen:
    """Notes in the lock that a baseline was accepted on this version, under a name.

    Raises:
        InputError: any fault of the set.
        GoldenVersionError: the version is frozen with other content.
        UsageError: it is not frozen, or the name is taken by another version.
    """
    golden = read_golden(path)
    lock = read_lock(path)
    if golden.version not in lock:
        raise UsageError(
            f"version {golden.version!r} is not frozen; run: relgate golden freeze {path}"
        )
    for version, entry in lock.items():
        if name in entry.tags and version != golden.version:
            raise UsageError(f"the tag {name!r} is on version {version!r} already")
    entry = lock[golden.version]
    if name not in entry.tags:
        entry = Frozen(entry.sha256, entry.frozen_at, (*entry.tags, name))
        lock[golden.version] = entry
        _write_lock(path, lock)
    return entry
