"""The evidence that came with a change stands in both reports, and nothing is made up."""

from __future__ import annotations

import json
from dataclasses import replace
from math import nan

import pytest

from relgate.eval.report.document import review_document
from relgate.eval.report.markdown import review_markdown
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.filters import CheckedCase
from relgate.eval.review.supplied import (
    FilterCase,
    FilterStrategy,
    GroundTruth,
    Latency,
    Percentiles,
)
from relgate.eval.review.types import Stratum


@pytest.fixture
def told(make_review):
    """A review whose description is this, and whose evidence has these other parts."""

    def build(change: ChangeDescription | None, **parts):
        done = make_review()
        return replace(done, evidence=replace(done.evidence, change=change, **parts))

    return build


def test_latency_has_a_table_of_what_was_given(told):
    latency = Latency(Percentiles(8.0, 21.04), Percentiles(8.1, 22.0, 41.0))
    done = told(ChangeDescription(latency=latency))
    section = review_markdown(done).partition("### Latency\n\n")[2].partition("\n\n")[0]
    assert section.splitlines()[2:] == [
        "| p50 | 8.0 ms | 8.1 ms |",
        "| p95 | 21.0 ms | 22.0 ms |",
        "| p99 | no figure | 41.0 ms |",
    ]
    assert review_document(done)["supplied"]["latency"] == {
        "before": {"p50_ms": 8.0, "p95_ms": 21.04, "p99_ms": None, "samples": None},
        "after": {"p50_ms": 8.1, "p95_ms": 22.0, "p99_ms": 41.0, "samples": None},
    }


@pytest.mark.parametrize(
    "change", [None, ChangeDescription(), ChangeDescription(latency=Latency())]
)
def test_without_latency_there_is_no_table(told, change):
    assert "### Latency" not in review_markdown(told(change))


def test_nan_is_null_in_json_and_nan_for_people(told):
    latency = Latency(None, Percentiles(p95_ms=nan))
    done = told(ChangeDescription(latency=latency))
    document = review_document(done)
    json.dumps(document, allow_nan=False)
    assert document["supplied"]["latency"]["after"]["p95_ms"] is None
    assert "| p95 | no figure | no figure |" in review_markdown(done)


def test_ground_truth_cases_and_strata_are_in_the_document(told):
    case = FilterCase("red shoe", "brand=acme", "non-empty")
    done = told(
        ChangeDescription(
            ground_truth=GroundTruth(recomputed=True, source="production", recall_after=0.9),
            filters=FilterStrategy("pre", "post", intended=True, cases=(case,)),
        ),
        filter_cases=(CheckedCase(case, held_before=True, held_after=None),),
        strata=(Stratum("billing", 0.5, 0.4, 30, 0.01), Stratum("empty", nan, nan, 0, nan)),
    )
    document = review_document(done)
    truth, filters = (document["supplied"][key] for key in ("ground_truth", "filters"))
    assert (truth["recomputed"], truth["source"], truth["recall_after"]) == (
        True,
        "production",
        0.9,
    )
    assert (truth["model"], truth["recall_before"]) == (None, None)
    assert (filters["before"], filters["after"], filters["intended"]) == ("pre", "post", True)
    assert filters["cases"] == [
        {
            "query": "red shoe",
            "filter": "brand=acme",
            "expect": "non-empty",
            "held_before": True,
            "held_after": None,
        }
    ]
    billing, empty = document["strata"]
    assert billing == {
        "name": "billing", "before": 0.5, "after": 0.4, "delta": -0.1, "n": 30, "p": 0.01,
    }  # fmt: skip
    assert (empty["before"], empty["n"], empty["p"]) == (None, 0, None)


def test_what_was_not_brought_is_null(told):
    document = review_document(told(None))
    assert document["supplied"] == {"latency": None, "ground_truth": None, "filters": None}
