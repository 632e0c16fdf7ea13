"""The change under review, as its author describes it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from relgate.eval.neighbours.recall import ExactLists
from relgate.eval.review.supplied import FilterStrategy, GroundTruth, Latency, ModeRuns

__all__ = ["ChangeDescription", "ChangeType", "Detected", "Switch"]


Switch = Literal["on", "off"]


class ChangeType(StrEnum):
    """What kind of change it is; each must be judged on evidence that fits it."""

    QUERY_TEMPLATE = "query-template"
    MAPPINGS = "mappings"
    ANALYZER = "analyzer"
    SYNONYMS = "synonyms"
    EMBEDDING_MODEL = "embedding-model"
    HNSW_PARAMS = "hnsw-params"
    HYBRID_WEIGHTS = "hybrid-weights"
    FILTER_LOGIC = "filter-logic"
    REWRITER = "rewriter"
    RERANKER = "reranker"


@dataclass(frozen=True, slots=True)
class Detected:
    """A type of change that a diff shows.

    Attributes:
        kind: the type.
        file: the file, as the diff names it.
        line: the line, from 1; of a removed line, in the old file.
        key: the key whose value changed, as it is written there.
        removed: the line is gone.
    """

    kind: ChangeType
    file: str
    line: int
    key: str
    removed: bool = False

    @property
    def place(self) -> str:
        """`config/synonyms.txt:12`."""
        return f"{self.file}:{self.line}{' (removed)' if self.removed else ''}"


@dataclass(frozen=True, slots=True)
class ChangeDescription:
    """What the author says of the change.

    Attributes:
        types: what kind it is; empty when not said.
        intent: `improve`, `neutral` (no relevance change wanted), or None when not said.
        description: free text.
        sha: the commit.
        head_queries: ids or texts of queries that must not suffer.
        critical_queries: ids or texts.
        system_models: every model that writes, rewrites or reranks what is judged; empty for
            none; None when not said.
        ranker_judges: versions of judges that rerank inside the pipeline.
        latency: measured on both sides; None when not given.
        ground_truth: of an embedding upgrade; None when not given.
        filters: strategy and cases of a filter change; None when not given.
        detected: what the diff shows; None when no diff was given.
        types_from_diff: nobody said the types, so they are those that the diff shows.
        modes: runs of each mode of a hybrid search by itself.
        exact: the exact neighbours that each side's are held against; None when not given.
        stage: whether the reranker or rewriter was `on` or `off`, before and after; None when
            not said.
    """

    types: tuple[ChangeType, ...] = ()
    intent: Literal["improve", "neutral"] | None = None
    description: str | None = None
    sha: str | None = None
    head_queries: tuple[str, ...] = ()
    critical_queries: tuple[str, ...] = ()
    system_models: tuple[str, ...] | None = None
    ranker_judges: tuple[str, ...] = ()
    latency: Latency | None = None
    ground_truth: GroundTruth | None = None
    filters: FilterStrategy | None = None
    modes: tuple[ModeRuns, ...] = ()
    exact: tuple[ExactLists, ExactLists] | None = None
    detected: tuple[Detected, ...] | None = None
    types_from_diff: bool = False
    stage: tuple[Switch, Switch] | None = None
