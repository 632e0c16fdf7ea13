"""What is wrong with a golden set, and what a set of its kind should have. Pure.

The advice (size, share of past failures, kinds of query) is that of the golden-query guide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from relgate.eval.golden.raters import disagreements
from relgate.eval.golden.types import GoldenQuery, GoldenSet
from relgate.eval.lists.check import Finding, near_form
from relgate.eval.lists.types import SCALES, match_key

__all__ = ["check_set", "faults", "gating_words"]

LEAST_QUERIES, MOST_QUERIES = 200, 2000
LEAST_FAILURES, MOST_FAILURES = 0.10, 0.20
RELEVANT = 2

_SHOWN = 5
_WANTED = {
    "no-typo": ("typo", "a typo"),
    "no-zero-hit": ("zero-hit", "a query that once found nothing"),
    "no-sku": ("exact-sku", "an exact SKU or part number"),
}


def faults(golden: GoldenSet) -> tuple[Finding, ...]:
    """What makes a set unusable: figures from it would mean nothing, or two things."""
    found = [
        _of("scale", "scale(s) not known", [] if golden.scale in SCALES else [golden.scale]),
        _of("ids", "query id(s) used twice", _twice(match_key(q.id) for q in golden.queries)),
        _of("retired", "retired id(s) used again", _used_again(golden)),
        _of("same-query", "queries alike in text, surface, locale and filters", _alike(golden)),
        _of("no-document", "judgment(s) with neither doc_id nor locator", _unnamed(golden)),
        _of("documents", "document(s) judged twice for one query", _documents_twice(golden)),
        _of("grades", f"grade(s) off the scale {golden.scale}", _off_scale(golden)),
        _of("expectations", "expectation(s) that the judgments contradict", _contradicted(golden)),
    ]  # fmt: skip
    return tuple(finding for finding in found if finding.count)


def check_set(golden: GoldenSet) -> tuple[Finding, ...]:
    """Every fault, and after them what is worth knowing."""
    core = golden.of_set("core")
    notes = [
        *_size(core),
        _of("bare", "core queries without a judgment", _bare(core)),
        _of("no-good", "core queries with grade 0 alone: no ideal, left apart", _poor(core)),
        _of("near-equal", "queries alike but for case, blanks or marks", _near(golden)),
        _of("no-locale", "queries without a locale", _unplaced(golden)),
        _of(
            "disputed", "core queries whose raters disagree (golden disagreements moves them)",
            [d.query for d in disagreements(golden) if d.set == "core" and d.high],
        ),
        *_kinds(core),
    ]  # fmt: skip
    return (*faults(golden), *(_note(finding) for finding in notes if finding.count))


def gating_words(golden: GoldenSet) -> str:
    """How many queries gate and how many are only reported, for one line of a report."""
    sizes = Counter(query.set for query in golden.queries)
    others = ", ".join(f"{sizes[s]} {s}" for s in ("challenge", "shadow") if sizes[s])
    return f"{sizes['core']} core" + (
        f" (beside them {others}: reported, never gating)" if others else ""
    )


def _of(kind: str, what: str, examples: Sequence[str]) -> Finding:
    return Finding(kind, what, len(examples), tuple(examples[:_SHOWN]))


def _note(finding: Finding) -> Finding:
    return Finding(finding.kind, finding.what, finding.count, finding.examples, fault=False)


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, n in Counter(names).items() if n > 1]


def _used_again(golden: GoldenSet) -> list[str]:
    gone = {match_key(entry.id) for entry in golden.retired}
    return [query.id for query in golden.queries if match_key(query.id) in gone]


def _groups(golden: GoldenSet, form: Callable[[GoldenQuery], object]) -> list[str]:
    groups: dict[object, list[str]] = {}
    for query in golden.queries:
        groups.setdefault(form(query), []).append(query.id)
    return [", ".join(ids) for ids in groups.values() if len(ids) > 1]


def _alike(golden: GoldenSet) -> list[str]:
    return _groups(golden, lambda query: repr(query.scope))


def _near(golden: GoldenSet) -> list[str]:
    """Alike in form but not to the letter: those are a fault already."""
    exact = set(_alike(golden))
    found = _groups(golden, lambda query: (near_form(query.text), repr(query.scope[1:])))
    return [group for group in found if group not in exact]


def _unnamed(golden: GoldenSet) -> list[str]:
    return [query.id for query, judgment in golden.pairs() if not judgment.key]


def _documents_twice(golden: GoldenSet) -> list[str]:
    return [
        f"{query.id} {key}"
        for query in golden.queries
        for names in ([j.locator for j in query.judgments], [j.doc_id for j in query.judgments])
        for key in _twice(match_key(name) for name in names if name is not None)
    ]


def _off_scale(golden: GoldenSet) -> list[str]:
    scale = SCALES.get(golden.scale)
    if scale is None:
        return []
    return [
        f"{query.id} {judgment.key}: {grade}"
        for query, judgment in golden.pairs()
        for grade in (judgment.grade, *(rating.grade for rating in judgment.ratings))
        if grade > scale.once_read.max_grade
    ]


def _contradicted(golden: GoldenSet) -> list[str]:
    out: list[str] = []
    for query in golden.queries:
        best = max((j.grade for j in query.judgments), default=None)
        if query.expect == ">=1 grade>=2" and (best is None or best < RELEVANT):
            out.append(f"{query.id} expects a grade of {RELEVANT} and judges none")
        if query.expect == "empty" and best is not None and best >= RELEVANT:
            out.append(f"{query.id} expects nothing and judges a document {best}")
    return out


def _bare(core: Sequence[GoldenQuery]) -> list[str]:
    return [query.id for query in core if not query.judgments and query.expect != "empty"]


def _poor(core: Sequence[GoldenQuery]) -> list[str]:
    return [
        query.id
        for query in core
        if query.judgments
        and query.expect != "empty"
        and all(j.grade == 0 for j in query.judgments)
    ]


def _unplaced(golden: GoldenSet) -> list[str]:
    return [query.id for query in golden.queries if not query.locale]


def _size(core: Sequence[GoldenQuery]) -> list[Finding]:
    n = len(core)
    failures = sum(query.failure_mode is not None for query in core)
    share = failures / n if n else 0.0
    found = [
        Finding("few", f"core queries, fewer than {LEAST_QUERIES}: deltas will be noisy", n, ())
        if n < LEAST_QUERIES
        else Finding("many", f"core queries, more than {MOST_QUERIES}: slow in CI", n, ()),
        Finding(
            "failures",
            f"of {n} core queries guard against a past failure (failure_mode): {share:.0%}, where "
            f"{LEAST_FAILURES:.0%} to {MOST_FAILURES:.0%} is advised",
            max(failures, 1),
            (),
        ),
    ]
    outside = (not LEAST_QUERIES <= n <= MOST_QUERIES, not LEAST_FAILURES <= share <= MOST_FAILURES)
    return [finding for finding, is_so in zip(found, outside, strict=True) if is_so]


def _kinds(core: Sequence[GoldenQuery]) -> list[Finding]:
    there = {word for query in core for word in (*query.tags, query.failure_mode) if word}
    found = [
        Finding(kind, f"core query guards against {what} (failure_mode or tag {tag!r})", 1, ())
        for kind, (tag, what) in _WANTED.items()
        if tag not in there
    ]
    if not any(query.filters for query in core):
        found.append(Finding("no-filters", "core query has filters", 1, ()))
    return [Finding(f.kind, f"no {f.what}", f.count, f.examples) for f in found]
