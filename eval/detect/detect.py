"""Finds the types of change in the changed lines of a diff. Pure.

What is found has its file and line; what changed but cannot be told apart is said, not guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from relgate.eval.detect.keys import (
    BY_FILE,
    KEYS,
    NOT_SEARCH,
    SEARCH_PATH,
    VALUES,
    WEAK,
    plain_key,
)
from relgate.eval.detect.tokens import Pair, Reader
from relgate.eval.review.change import ChangeType, Detected

__all__ = ["DiffFile", "DiffHunk", "DiffLine", "Found", "detect"]

_ANALYSIS = frozenset({"analysis", "analyzer", "analyzers", "tokenizer", "charfilter", "fieldtype"})
_ASKING = """
query bool knn postfilter constantscore retriever retrievers rrf functionscore hybrid standard must
should
"""
_GRAPH = """
hnsw indexoptions method parameters knnvector densevector efconstruction efsearch numcandidates
hnswefconstruction
"""
_BLENDS = "rrf linear retriever retrievers combination hybrid"
_RERANKS = "rerank reranker textsimilarityreranker mlopensearch"
_EMBEDS = "embedder textembedding neural knn queryvectorbuilder embeddings"

# A key of several meanings -> what may stand around it, and what it then is.
_BY_PLACE: Mapping[str, tuple[tuple[frozenset[str], ChangeType], ...]] = {
    "filter": (
        (_ANALYSIS, ChangeType.ANALYZER),
        (frozenset(_ASKING.split()), ChangeType.FILTER_LOGIC),
    ),
    **dict.fromkeys(("m", "ef"), ((frozenset(_GRAPH.split()), ChangeType.HNSW_PARAMS),)),
    "weight": ((frozenset(_BLENDS.split()), ChangeType.HYBRID_WEIGHTS),),
    **dict.fromkeys(
        ("model", "modelid"),
        (
            (frozenset(_RERANKS.split()), ChangeType.RERANKER),
            (frozenset(_EMBEDS.split()), ChangeType.EMBEDDING_MODEL),
        ),
    ),
}
_TELLING = frozenset({"class", "type", "model", "modelid", "id", "name", "component", "field"})


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a hunk.

    Attributes:
        text: without its mark.
        mark: ` `, `+` or `-`.
        number: its line in the new file, of a removed line in the old one; from 1.
    """

    text: str
    mark: str
    number: int


@dataclass(frozen=True, slots=True)
class DiffHunk:
    """Lines that stand together."""

    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class DiffFile:
    """A file that the diff changes; `path` is the new one, or the old of a removed file."""

    path: str
    hunks: tuple[DiffHunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What a diff shows.

    Attributes:
        detected: each type with the file and line of each key that told it, in the diff's order.
        unclear: what changed and could be more than one type, likewise in words.
        files: how many files the diff changes.
    """

    detected: tuple[Detected, ...] = ()
    unclear: tuple[str, ...] = ()
    files: int = 0

    @property
    def kinds(self) -> tuple[ChangeType, ...]:
        """The types, in the order of their first sight."""
        return tuple(dict.fromkeys(found.kind for found in self.detected))


@dataclass(slots=True)
class _Seen:
    detected: dict[tuple[ChangeType, str, str], Detected]
    unclear: dict[tuple[str, int, str], str]


def detect(files: Iterable[DiffFile]) -> Found:
    """The types of change in a diff: by file names, and by the keys whose values changed.

    A line that only moved or was indented anew is no change; nor is one in prose or CI files.
    """
    seen = _Seen({}, {})
    count = 0
    for file in files:
        count += 1
        if NOT_SEARCH.search(file.path):
            continue
        whole = next((kind for pattern, kind in BY_FILE if pattern.search(file.path)), None)
        about_search = bool(SEARCH_PATH.search(file.path)) or _has_strong(file)
        for line, pair in _changes(file):
            if whole is not None:
                _note(seen, whole, file.path, line, pair.key or "file")
            else:
                _tell(seen, file.path, line, pair, about_search=about_search)
    told = {(found.file, found.line) for found in seen.detected.values()}
    unclear = tuple(
        what for (path, line, _), what in seen.unclear.items() if (path, line) not in told
    )
    return Found(tuple(seen.detected.values()), unclear, count)


def _note(seen: _Seen, kind: ChangeType, path: str, line: DiffLine, key: str) -> None:
    found = Detected(kind, path, line.number, key, removed=line.mark == "-")
    seen.detected.setdefault((kind, path, key), found)


def _tell(seen: _Seen, path: str, line: DiffLine, pair: Pair, *, about_search: bool) -> None:
    told = _kind_of(pair, about_search=about_search)
    if told is not None:
        kind, key = told
        _note(seen, kind, path, line, key)
    elif about_search and plain_key(pair.key) in _BY_PLACE:
        what = f"{path}:{line.number}: {pair.key} changed, and the diff does not show what it is of"
        seen.unclear.setdefault((path, line.number, pair.key), what)


def _changes(file: DiffFile) -> Iterator[tuple[DiffLine, Pair]]:
    """The pairs that stand on one side of the file only, in the diff's order; added ones first."""
    lines: list[tuple[DiffLine, Pair]] = []
    for hunk in file.hunks:
        for marks in (" +", " -"):
            reader = Reader(file.path)
            for line in hunk.lines:
                if line.mark in marks:
                    pairs = reader.read(line.text) or _words(line)
                    lines += [(line, pair) for pair in pairs if line.mark != " "]
    added = Counter(pair for line, pair in lines if line.mark == "+")
    removed = Counter(pair for line, pair in lines if line.mark == "-")
    only = {"+": added - removed, "-": removed - added}
    for line, pair in lines:
        if only[line.mark][pair] > 0:
            only[line.mark][pair] -= 1
            yield line, pair


def _words(line: DiffLine) -> list[Pair]:
    """A line of words, as synonym files have; nothing for a comment."""
    text = line.text.strip()
    return (
        [] if not text or text.startswith(("#", "//", "{", "}", "[", "]")) else [Pair((), "", text)]
    )


def _kind_of(pair: Pair, *, about_search: bool) -> tuple[ChangeType, str] | None:
    """The type and the key that told it: the innermost key that is known."""
    path = [plain_key(key) for key in pair.path]
    around = set(path)
    own = plain_key(pair.key)
    if own in _TELLING:
        for pattern, kind in VALUES:
            if pattern.search(pair.value):
                return kind, pair.key
    for depth in range(len(path), -1, -1):
        key = own if depth == len(path) else path[depth]
        outside = around if depth == len(path) else set(path[:depth])
        if key in _BY_PLACE:
            placed = _by_place(key, outside | _beside(pair, depth))
            if placed is not None:
                return placed, pair.key or key
            if depth == len(path):
                return None
        elif key in KEYS and (about_search or key not in WEAK):
            return KEYS[key], pair.key or key
    return None


def _beside(pair: Pair, depth: int) -> set[str]:
    """Keys further in: `{"filter": {"bool": ...}}` asks, whatever it stands in."""
    return {plain_key(key) for key in pair.path[depth + 1 :]}


def _by_place(key: str, around: set[str]) -> ChangeType | None:
    """What a key of several meanings is, by what stands around it; None where that is not told."""
    return next((kind for words, kind in _BY_PLACE[key] if around & words), None)


def _has_strong(file: DiffFile) -> bool:
    """Whether any line of it, changed or not, has a word that only search engines use."""
    for hunk in file.hunks:
        reader = Reader(file.path)
        for line in hunk.lines:
            keys = [plain_key(pair.key) for pair in reader.read(line.text)]
            if any(key in KEYS and key not in WEAK for key in keys):
                return True
    return False
