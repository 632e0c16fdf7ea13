"""R10: an embedding upgrade is measured against ground truth of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite

from relgate.eval.neighbours.recall import ExactLists
from relgate.eval.review.change import ChangeType
from relgate.eval.review.rules.base import Rule, failed, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.supplied import GroundTruth
from relgate.eval.review.types import TOLERANCE, Evidence, Finding, RuleOutcome, Verdict

__all__ = ["RULE"]

# A word that is denied ("not synthetic", "no GloVe") says nothing of the kind.
_DENIED = r"(\b(?:not|no|non|never|without)[\s-]+(?:(?:from|of|on|in|a|an|the|any)\s+)*)?"
_PRODUCTION = re.compile(rf"{_DENIED}\b(?:production|prod|live|logs?|traffic)\b", re.IGNORECASE)
_BENCHMARK = re.compile(
    rf"{_DENIED}\b(?:synthetic|glove|sift(?:\d+[mk]|small)?|gist|deep\d+[bm]|(?:fashion-)?mnist|"
    r"ann-benchmarks?|big-?ann)\b",
    re.IGNORECASE,
)


def check(evidence: Evidence, _settings: ReviewSettings) -> RuleOutcome:
    """Refuses ground truth that is reused, unstated or of a benchmark; blocks recall that fell.

    Recall is that of the files when they are recall@k reports, and that of the description. When
    neither is there the rule refuses too: "not below the baseline" is one of its three parts.
    """
    change = evidence.change
    if change is None or ChangeType.EMBEDDING_MODEL not in change.types:
        return not_checked("R10", "no embedding upgrade")
    truth = change.ground_truth or GroundTruth()
    recalls = list(_recalls(evidence, truth))
    findings = [
        *_recomputed(truth),
        *_shared(change.exact),
        *_source(truth.source),
        *(f for name, before, after in recalls for f in _fell(name, before, after)),
    ]
    if not recalls:
        findings.append(_refused("recall against the new ground truth is not stated on both sides"))
    line = "; ".join(
        [
            f"ground truth {_made(truth)}, source {truth.source or 'not stated'}",
            *(f"{name} {before:.4f} to {after:.4f}" for name, before, after in recalls),
        ]
    )
    return failed("R10", line, *findings) if findings else passed("R10", line)


def _made(truth: GroundTruth) -> str:
    how = {True: "computed anew", False: "reused", None: "not stated"}[truth.recomputed]
    return f"{how} with {truth.model}" if truth.model else how


def _recalls(evidence: Evidence, truth: GroundTruth) -> Iterator[tuple[str, float, float]]:
    if evidence.gives_recall:
        yield evidence.main.name, evidence.main.before, evidence.main.after
    if truth.recall_before is not None and truth.recall_after is not None:
        yield "stated recall", truth.recall_before, truth.recall_after


def _refused(message: str) -> Finding:
    return Finding(
        "R10",
        Verdict.REFUSE,
        message,
        advice=(
            "compute the exact neighbours anew with the new model, on queries and documents "
            "sampled from production, and state ground_truth in the change description"
        ),
    )


def _recomputed(truth: GroundTruth) -> Iterator[Finding]:
    if truth.recomputed is None:
        yield _refused("nothing says that the ground truth was computed anew")
    elif not truth.recomputed:
        yield _refused("the embedding upgrade reused the ground truth of the old model")


def _shared(exact: tuple[ExactLists, ExactLists] | None) -> Iterator[Finding]:
    """Two models have two sets of exact neighbours; one for both is the old model's or the new."""
    if exact is not None and exact[0].sha256 == exact[1].sha256:
        yield _refused("both sides are held against the same exact neighbours")


def _source(source: str | None) -> Iterator[Finding]:
    if source is None:
        yield _refused("the source of the ground truth is not stated")
    elif _says(_BENCHMARK, source):
        yield _refused(f"the ground truth is of a synthetic benchmark: {source}")
    elif not _says(_PRODUCTION, source):
        yield _refused(f"the source of the ground truth does not name production: {source}")


def _says(words: re.Pattern[str], text: str) -> bool:
    return any(match[1] is None for match in words.finditer(text))


def _fell(name: str, before: float, after: float) -> Iterator[Finding]:
    if not (isfinite(before) and isfinite(after)):
        yield _refused(f"{name} is not a finite number: {before} before, {after} after")
    elif after < before - TOLERANCE:
        yield Finding(
            "R10",
            Verdict.BLOCK,
            f"{name} fell {before:.4f} to {after:.4f} ({after - before:+.4f}); it must not be "
            "below the baseline",
            {"recall_before": before, "recall_after": after},
            advice="do not merge: tune the index for the new model, or keep the old one",
        )


RULE = Rule(
    id="R10",
    name="ground truth",
    asks=(
        "For an embedding upgrade: new ground truth, recall not below the baseline, and a sample "
        "that names production (or its log or traffic) and no synthetic benchmark?"
    ),
    default="all three",
    severity="REFUSE when reused, unstated or synthetic; BLOCK when recall fell",
    source="R",
    unchecked="no embedding upgrade: note",
    mend=(
        "compute the neighbours anew with the new model on a sample of production "
        "queries, and say so under [ground_truth]"
    ),
    check=check,
)
