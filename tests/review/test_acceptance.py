"""The three cases that the reviewer's own document publishes, as files of its shape.

Figures: /reference/rules.md, "Acceptance cases that must hold". The files have bare `unrated_docs`,
no hits, no failures, and an aggregate that is not the mean of the few details listed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from relgate.eval.report.document import review_document
from relgate.eval.report.markdown import review_markdown
from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.eval.review.types import Review, Verdict

OTHER_VERDICTS = re.compile(r"approve|needs[-_ ]?work|block", re.IGNORECASE)


def strings(value: object) -> Iterator[str]:
    """Every string value of a JSON document."""
    match value:
        case str():
            yield value
        case dict():
            for item in value.values():
                yield from strings(item)
        case list():
            for item in value:
                yield from strings(item)
        case _:
            pass


def outputs(review: Review) -> tuple[str, str]:
    """(Markdown, JSON) as a user gets them."""
    document = json.dumps(review_document(review), ensure_ascii=False, allow_nan=False)
    return review_markdown(review), document


@pytest.fixture
def synonyms(rank_eval, reviewed) -> Review:
    before = {
        "running_socks": 0.84, "cross_country": 0.76, "marathon_shoes": 0.62,
        "sprint_trainers": 0.58,
    }  # fmt: skip
    after = {
        "running_socks": 0.71, "cross_country": 0.65, "marathon_shoes": 0.79,
        "sprint_trainers": 0.71,
    }  # fmt: skip
    heads = ("running_socks", "cross_country")
    return reviewed(
        None,
        rank_eval("before", before, metric_score=0.834, metric="ndcg@10"),
        rank_eval("after", after, metric_score=0.829, metric="ndcg@10"),
        change=ChangeDescription(
            types=(ChangeType.SYNONYMS,),
            description="running -> +jogging, sprint, marathon",
            head_queries=heads,
        ),
        heads=frozenset(heads),
        heads_given=True,
    )


def test_case_1_names_the_head_query_that_a_flat_mean_hides(synonyms):
    assert synonyms.verdict in {Verdict.NEEDS_WORK, Verdict.BLOCK}
    for text in outputs(synonyms):
        plain = text.replace("\\", "")
        assert "running_socks" in plain
        assert "cross_country" in plain
        assert re.search(r'head query "running_socks" dropped 0\.84 to 0\.71 \(-0\.13\)', plain)
        assert "-0.0050" in text
        assert "APPROVE" not in text
    assert '"running_socks" -0.13' in synonyms.headline
    assert "2 head queries regressed" in synonyms.headline
    assert synonyms.headline.startswith("aggregate flat")
    assert synonyms.evidence.main.name == "nDCG@10 as given"


def test_case_1_recommends_one_way_mappings_and_names_queries(synonyms):
    first = synonyms.actions[0]
    assert "one-way" in first
    assert '"running_socks", "cross_country"' in first
    assert any("Splainer" in action for action in synonyms.actions)


def test_case_1_marks_the_head_queries_in_the_table(synonyms):
    markdown, _ = outputs(synonyms)
    assert r'| "running\_socks" (head) | 0.84 | 0.71 | **-0.13** ✗ | 0/10 |' in markdown
    assert r'| "marathon\_shoes" | 0.62 | 0.79 | +0.17 ✓ | 0/10 |' in markdown


def test_case_2_is_approved_and_shows_its_delta(rank_eval, reviewed):
    before = {"blue_jeans": 0.72, "wireless_mouse": 0.81, "yoga_mat": 0.78, "coffee_table": 0.79}
    after = {"blue_jeans": 0.76, "wireless_mouse": 0.83, "yoga_mat": 0.81, "coffee_table": 0.81}
    done = reviewed(
        None,
        rank_eval("before", before, metric_score=0.781),
        rank_eval("after", after, metric_score=0.812),
    )
    assert done.verdict is Verdict.APPROVE
    assert done.verdict.exit_code == 0
    for text in outputs(done):
        assert "+0.031" in text
        assert "APPROVE" in text
        assert "recomputation is impossible" in text or '"basis": "as given in the files"' in text
    assert done.actions == ()


@pytest.fixture
def stale(rank_eval, reviewed) -> Review:
    before = {"desk lamp": 0.72, "office chair": 0.70, "monitor arm": 0.69}
    after = {"desk lamp": 0.40, "office chair": 0.71, "monitor arm": 0.66}
    unrated = [f"new{i}" for i in range(6)]
    return reviewed(
        None,
        rank_eval("before", before, metric_score=0.701, unrated=unrated[:1]),
        rank_eval("after", after, metric_score=0.694, unrated=unrated),
        change=ChangeDescription(types=(ChangeType.ANALYZER,), intent="improve"),
        heads=frozenset({"desk lamp", "not there"}),
        heads_given=True,
    )


def test_case_3_refuses_and_no_other_verdict_is_anywhere(stale):
    assert stale.verdict is Verdict.REFUSE
    assert stale.verdict.exit_code == 4
    markdown, document = outputs(stale)
    assert OTHER_VERDICTS.findall(markdown) == []
    values = list(strings(json.loads(document)))
    assert [text for text in values if OTHER_VERDICTS.search(text)] == []


def test_case_3_says_unrated_stale_and_refresh(stale):
    for text in outputs(stale):
        for word in ("unrated", "stale", "refresh"):
            assert word in text.casefold()
        assert "3 of 3 queries" in text


def test_case_3_still_shows_what_else_was_seen_without_a_severity(stale):
    document = review_document(stale)
    assert {f["rule"] for f in document["findings"]} == {"R8"}
    assert {"R4", "R5", "R6"} <= {f["rule"] for f in document["withheld"]}
    assert all("severity" not in f for f in document["withheld"])


def test_the_planted_word_would_be_found(synonyms):
    markdown, document = outputs(synonyms)
    assert OTHER_VERDICTS.search(markdown)
    assert any(OTHER_VERDICTS.search(text) for text in strings(json.loads(document)))
