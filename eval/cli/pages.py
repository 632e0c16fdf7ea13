"""Which page of the documentation helps with an error: one table. Pure.

What a reader needs is told by the part of relgate that was at work, so the table goes by the
modules that an error came through, the one nearest to the command first; where none has a page, by
the kind of error.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

from relgate.rubrics.errors import (
    CacheUnavailableError,
    CircularityError,
    FamilySeparationError,
    GoldenVersionError,
    HonestyError,
    InputError,
    PlatformError,
    ProviderUnavailableError,
    RelgateError,
    UsageError,
)

__all__ = ["KIND_PAGES", "MODULE_PAGES", "page_of"]

KIND_PAGES: dict[type[RelgateError], str] = {
    RelgateError: "docs/errors.md#exit-codes",
    InputError: "docs/errors.md#bad-input",
    UsageError: "docs/errors.md#a-command-that-cannot-mean-anything",
    HonestyError: "docs/errors.md#honesty-rules",
    FamilySeparationError: "docs/judge.md#families-and-circles",
    CircularityError: "docs/judge.md#families-and-circles",
    GoldenVersionError: "docs/errors.md#two-golden-sets",
    PlatformError: "docs/errors.md#machine-and-disk",
    CacheUnavailableError: "docs/errors.md#the-cache-cannot-be-used",
    ProviderUnavailableError: "docs/errors.md#the-provider-refuses",
}
"""By the kind of error."""

MODULE_PAGES: dict[str, str] = {
    "relgate.eval.agreement": "docs/calibration.md",
    "relgate.eval.agreement.canary": "docs/calibration.md#canary-has-the-judge-moved",
    "relgate.eval.agreement.certificate": "docs/calibration.md#certificate",
    "relgate.eval.agreement.policy_file": "docs/calibration.md#policy",
    "relgate.eval.agreement.split": "docs/calibration.md#hygiene",
    "relgate.eval.batch": "docs/batch.md",
    "relgate.eval.catalogue": "docs/formats.md#catalogues",
    "relgate.eval.change_diff": "docs/ci.md#the-types-of-change-from-a-diff",
    "relgate.eval.change_file": "docs/change.md",
    "relgate.eval.change_filters": "docs/change.md#filter-cases",
    "relgate.eval.change_latency": "docs/change.md#latency-files",
    "relgate.eval.cluster": "docs/ray.md",
    "relgate.eval.drift": "docs/drift.md#the-alarm",
    "relgate.eval.golden": "docs/golden.md",
    "relgate.eval.golden.log": "docs/golden.md#what-is-drawn-from-a-log",
    "relgate.eval.harness": "docs/drift.md#enginetoml",
    "relgate.eval.label": "docs/label.md",
    "relgate.eval.large": "docs/scale.md#lists-larger-than-memory",
    "relgate.eval.lists": "docs/formats.md#judgment-lists",
    "relgate.eval.lists.locate": "docs/formats.md#relgate-convert",
    "relgate.eval.lists.merge": "docs/formats.md#relgate-lists",
    "relgate.eval.lists.raters": "docs/formats.md#relgate-convert",
    "relgate.eval.neighbours": "docs/vector.md",
    "relgate.eval.project": "docs/settings.md",
    "relgate.eval.queries": "docs/formats.md#query-tables",
    "relgate.eval.refresh": "docs/refresh.md",
    "relgate.eval.report.rule_book": "docs/rules.md",
    "relgate.eval.report.saved": "docs/ci.md#what-a-review-writes",
    "relgate.eval.review.settings": "docs/rules.md#every-number-is-a-setting",
    "relgate.eval.runs": "docs/formats.md#runs",
    "relgate.eval.sampling": "docs/refresh.md#relgate-sample",
    "relgate.eval.sidebyside": "docs/sxs.md",
    "relgate.eval.web": "docs/label.md#what-is-safe-and-what-is-not",
    "relgate.judge.baseline": "docs/judge.md#the-baseline",
    "relgate.judge.prompt": "docs/judge.md#what-the-model-is-asked",
    "relgate.judge.providers.select": "README.md#the-judge",
    "relgate.judge.robustness": "docs/judge.md#how-it-holds-out-judge-check",
    "relgate.rubrics": "docs/judge.md#rubrics",
}
"""By a module that the error came through, or a package above it; the longest name counts."""


def page_of(error: RelgateError) -> str:
    """The page, with its section, that helps with an error."""
    if type(error) in {InputError, UsageError}:  # the other kinds tell more than the place
        pages = map(_listed, _modules(error.__traceback__))
        found = next((page for page in pages if page is not None), None)
        if found is not None:
            return found
    return next(KIND_PAGES[kind] for kind in type(error).__mro__ if kind in KIND_PAGES)


def _modules(trace: TracebackType | None) -> Iterator[str]:
    """The modules that an error came through, the one that was called first ahead."""
    while trace is not None:
        yield trace.tb_frame.f_globals.get("__name__", "")
        trace = trace.tb_next


def _listed(module: str) -> str | None:
    while module:
        if module in MODULE_PAGES:
            return MODULE_PAGES[module]
        module = module.rpartition(".")[0]
    return None
