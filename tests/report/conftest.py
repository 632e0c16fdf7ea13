"""A review with every part of a report in it, of whatever text it is told to carry."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from types import MappingProxyType

import pytest

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Source
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.eval.review.evidence import Extras, build_evidence
from relgate.eval.review.types import FillFacts, JudgeUse, Review, Unrated
from relgate.eval.review.verdict import review
from relgate.eval.runs.types import Run

MakeReview = Callable[..., Review]


@pytest.fixture(scope="session")
def make_review() -> MakeReview:
    """Five queries: one head that falls, one that rises, one flat, one that fails, one unjudged.

    `text` stands wherever a report shows text from data: query, document, error, description,
    commit, judge, warning.
    """

    def build(text: str = "red shoe", *, stale: bool = False) -> Review:
        queries = [Query(f"q{i}", f"{text} {i}") for i in range(5)]
        doc = f"doc {text}"
        judge = Provenance(Source.JUDGE, judge_version=text, fingerprint="f1", model=text)
        builder = ListBuilder(SCALES["0-3"])
        for query in queries[:4]:
            builder.add(query, doc, 3, Provenance(Source.HUMAN))
            builder.add(query, "weak", 1, judge)
        best, worst = (doc, "weak"), ("weak", f"new {text}", doc)
        after: list[tuple[str, ...] | None] = [worst, best, best, None, ("x",)]
        if stale:
            after = [(f"new {text}", "other", doc)] * 5
        before = (best, worst, best, best, ("x",))
        failures = {} if stale else {"q3": f"no field {text}"}
        found = build_evidence(
            builder.build(),
            Run("before", tuple(queries), before),
            Run("after", tuple(queries), tuple(after), MappingProxyType(failures)),
            Conventions(),
            Extras(
                change=ChangeDescription(
                    types=(ChangeType.SYNONYMS,),
                    intent="improve",
                    description=text,
                    sha=text,
                    system_models=(),
                ),
                heads=frozenset({"q0", f"missing {text}"}),
                heads_given=True,
                weights={"q0": 3.0, "q1": 1.0},
                judges=(JudgeUse(text, "f1", text, "openai", 4, f"no certificate for {text}"),),
                fill=FillFacts(
                    judge=text, asked=200, graded=198, cached=3,
                    errors={"timeout": 2}, no_text=1, calls=7, seconds=0.5,
                ),
                at_first=Unrated(known=True, mean_before=nan, mean_after=0.5, queries=5, mostly=3,
                                 empty=0),
                overrides=(f"overridden by name: {text}",),
                warnings=(f"a warning of {text}",),
            ),
        )  # fmt: skip
        return review(found)

    return build
