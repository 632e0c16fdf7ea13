"""The sheet's rows of a sample, and the file beside it: how it was drawn, and its split. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from relgate.eval.agreement.split import SALT, TUNING_SHARE, split_hash, split_of
from relgate.eval.sampling.draw import Sample
from relgate.eval.sampling.pool import Pool
from relgate.eval.sampling.sheet import SheetRow, sheet_text
from relgate.judge.types import Candidate

__all__ = ["sample_document", "sample_rows"]


def sample_rows(sample: Sample, candidate_of: Callable[[str], Candidate | None]) -> list[SheetRow]:
    """The rows to label, each with the part of the split that its query is in.

    Args:
        sample: the pairs, all of documents with a text.
        candidate_of: what a judge would see of a document; raters see the same.
    """
    return [
        SheetRow(pair.query, pair.doc_id, candidate.text, {"part": split_of(pair.query.shown)})
        for pair in sample.pairs
        if (candidate := candidate_of(pair.doc_id)) is not None
    ]


def sample_document(
    pool: Pool, sample: Sample, rows: Sequence[SheetRow], path: str | Path
) -> dict[str, Any]:
    """How the sample was drawn, as counts, with the split's hash and the blank sheet's.

    Args:
        pool: what could be labelled.
        sample: what was drawn.
        rows: the sheet's rows.
        path: the sheet.
    """
    queries = sorted({pair.query.shown for pair in sample.pairs})
    parts = [split_of(query) for query in queries]
    return {
        "pool": len(pool.pairs),
        "from_runs": pool.from_runs,
        "known_good": pool.known_good,
        "sampled": len(sample.pairs),
        "queries": len(queries),
        "queries_without_documents": pool.no_documents,
        "left_out": {
            "human_rated": pool.human_rated,
            "no_text": pool.no_text,
            "over_budget": len(pool.pairs) - len(sample.pairs),
        },
        "strata": [
            {
                "stratum": share.stratum.name,
                "head": share.stratum.head,
                "queries": share.queries,
                "pool": share.pool,
                "sampled": share.sampled,
            }
            for share in sample.strata
        ],
        "split": {
            "hash": split_hash(queries),
            "salt": SALT,
            "tuning_share": TUNING_SHARE,
            "tuning_queries": parts.count("tuning"),
            "calibration_queries": parts.count("calibration"),
        },
        "blank_sheet_sha256": hashlib.sha256(sheet_text(rows, path).encode()).hexdigest(),
    }
