"""Reads a run of any known format, and says what it took the file for. I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from relgate.eval.files import load_content
from relgate.eval.lists.jsontext import Content, json_lines
from relgate.eval.lists.quepid import quepid_kind
from relgate.eval.runs.plain import is_plain_run, is_run_row, read_jsonl_run, read_plain_run
from relgate.eval.runs.quepid import read_quepid_snapshot
from relgate.eval.runs.rank_eval import is_rank_eval_response, read_rank_eval
from relgate.eval.runs.trec import looks_like_run, read_trec_run
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError, UsageError

__all__ = ["RUN_FORMATS", "read_run"]

_READERS: Mapping[str, Callable[[Content, str | None], Run]] = MappingProxyType(
    {
        "json": lambda content, name: read_plain_run(content.value, content.path, name),
        "jsonl": read_jsonl_run,
        "quepid-snapshot": lambda content, name: read_quepid_snapshot(
            content.value, content.path, name
        ),
        "rank-eval-response": lambda content, name: read_rank_eval(
            content.value, content.path, name
        ),
        "trec": lambda content, name: read_trec_run(content.text, content.path, name),
    }
)

_TEXT = frozenset({"jsonl", "trec"})

RUN_FORMATS: tuple[str, ...] = tuple(_READERS)
"""The formats that `read_run` knows by name; a recall@k report is a `rank-eval-response`."""


def read_run(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - the flag's own name
    name: str | None = None,
) -> Run:
    """A run from a file.

    Args:
        path: the file, plain or gzip.
        format: one of `RUN_FORMATS`; None finds it out from the content.
        name: how reports call it; None is the name in the file, or the file's own.

    Raises:
        InputError: any fault of the file.
        UsageError: no such format.
    """
    if format is not None and format not in _READERS:
        raise UsageError(f"no run format {format!r}; use one of: {', '.join(RUN_FORMATS)}")
    content = load_content(path, text_only=format in _TEXT)
    return _READERS[format or _detect(content)](content, name)


def _detect(content: Content) -> str:
    found = {"text": _detect_text, "jsonl": _detect_jsonl, "json": _detect_json}[content.kind](
        content
    )
    if found is None:
        raise InputError(
            "not known as a run",
            path=content.path,
            mend=f"state its format; known are {', '.join(RUN_FORMATS)}",
        )
    return found


def _detect_text(content: Content) -> str | None:
    return "trec" if looks_like_run(content.text) else None


def _detect_jsonl(content: Content) -> str | None:
    return "jsonl" if is_run_row(next(json_lines(content.text, content.path))[1]) else None


def _detect_json(content: Content) -> str | None:
    value = content.value
    if quepid_kind(value) == "quepid-snapshot":
        return "quepid-snapshot"
    if is_run_row(value):
        return "jsonl"
    if is_rank_eval_response(value):
        return "rank-eval-response"
    return "json" if is_plain_run(value) else None
