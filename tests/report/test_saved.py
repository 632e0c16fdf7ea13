"""A saved review: its schema holds, and every output made again is the first one."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from math import nan
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from relgate.eval.report.document import review_document
from relgate.eval.report.markdown import review_markdown
from relgate.eval.report.saved import read_review
from relgate.eval.report.schema import FORMAT, review_schema
from relgate.eval.review.change import ChangeType, Detected
from relgate.eval.review.filters import CheckedCase
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.supplied import (
    FilterCase,
    FilterStrategy,
    GroundTruth,
    Latency,
    Percentiles,
)
from relgate.eval.review.types import Aggregate, Basis, Noise, Review, Stratum
from relgate.eval.review.verdict import review
from relgate.rubrics.errors import InputError


def as_text(done: Review) -> str:
    return json.dumps(review_document(done), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    found = review_schema()
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


def full(done: Review) -> Review:
    """The review with every part that a change description and a fill can bring."""
    evidence = done.evidence
    assert evidence.change is not None
    change = replace(
        evidence.change,
        latency=Latency(Percentiles(8.0, 21.0, nan), Percentiles(8.1, None, 41.0, 12)),
        ground_truth=GroundTruth(
            recomputed=True,
            model="m2",
            source="production sample",
            recall_before=0.91,
            recall_after=0.93,
        ),
        types_from_diff=True,
        detected=(Detected(ChangeType.SYNONYMS, "a.txt", 3, "file", removed=True),),
        filters=FilterStrategy("pre", "post", intended=True, cases=()),
    )
    case = CheckedCase(FilterCase("red", "brand=a", "non-empty"), held_before=True, held_after=None)
    found = replace(
        evidence,
        change=change,
        filter_cases=(case,),
        strata=(Stratum("billing", 0.5, nan, 3, nan),),
        noise=Noise(0.01, -0.2, 0.1, 0.05, 40),
        unfilled=Aggregate("ndcg", "nDCG", 0.123456789, 0.2, 4),
        cross_checks=("a score differs",),
        covers_all=False,
    )
    return review(found, ReviewSettings(min_stratum_queries=7, max_p=0.01))


CASES = {
    "as it is": lambda done: done,
    "full": full,
    "given scores": lambda done: review(replace(done.evidence, basis=Basis.GIVEN, change=None)),
    "a figure that is no number": lambda done: review(
        replace(done.evidence, aggregates=(Aggregate("given", "given", nan, 0.1, None),))
    ),
}


@pytest.mark.parametrize("stale", [False, True])
@pytest.mark.parametrize("kind", CASES)
def test_a_review_read_back_is_written_alike(make_review, schema, kind, stale):
    done = CASES[kind](make_review(stale=stale))
    text = as_text(done)
    schema.validate(json.loads(text))
    again = read_review(text)
    assert as_text(again) == text
    assert review_markdown(again) == review_markdown(done)


def test_the_schema_is_strict(make_review, schema):
    """Planted faults: what no review may hold is told by the schema and by the reader alike."""
    document = json.loads(as_text(make_review()))
    for fault in (
        {"verdict": "FINE"},
        {"queries": None},
        {"extra": 1},
        {"exit_code": 2},
        {"aggregate": {}},
        {"coverage": {**document["coverage"], "queries": -1}},
        {"findings": [{**document["findings"][0], "rule": "X1"}]},
    ):
        bad = {**document, **fault}
        assert not schema.is_valid(bad), fault
        with pytest.raises(InputError):
            read_review(json.dumps(bad))
    for name in document:
        less = {key: value for key, value in document.items() if key != name}
        assert not schema.is_valid(less), name
        with pytest.raises(InputError):
            read_review(json.dumps(less))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"settings": {"no_such": 1.0}}, "no_such"),
        ({"settings": {"max_p": -1.0}}, "max_p is -1.0"),
        ({"primary": "other"}, "other"),
        ({"change": {"types": ["tea"], "intent": None, "description": None, "sha": None,
                     "system_models": None}}, "tea"),
    ],
)  # fmt: skip
def test_values_that_no_review_can_have_are_refused(make_review, change, said):
    document = {**json.loads(as_text(make_review())), **change}
    with pytest.raises(InputError, match=re.escape(said)):
        read_review(json.dumps(document), "review.json")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "the file is list, not object"),
        ("{}", "is no saved review.*name the review.json that"),
        ('{"format": 7}', "is no saved review"),
        ('{"format": "relgate-calibration/1"}', "is no saved review"),
        ('{"format": "relgate-review/1"}', "'relgate-review/1' file, .*review again with this"),
        ('{"format": "relgate-review/99"}', f"this version reads '{FORMAT}'"),
        ("nonsense", "review.json"),
    ],
)
def test_foreign_and_older_files_are_refused_with_the_mend(text, said):
    with pytest.raises(InputError, match=said) as caught:
        read_review(text, "review.json")
    assert "\n" not in str(caught.value)


def _walk(value: Any) -> Any:
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from _walk(part)
    elif isinstance(value, list):
        for part in value:
            yield from _walk(part)


def test_every_shape_of_the_schema_says_what_it_is_and_takes_no_more():
    shapes = [part for part in _walk(review_schema()) if part.get("type") == "object"]
    named = [part for part in shapes if "properties" in part]
    assert len(named) >= 25
    for part in named:
        assert part["additionalProperties"] is False
        assert part["description"]
        assert part["required"] == list(part["properties"])
