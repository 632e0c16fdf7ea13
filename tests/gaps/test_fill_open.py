"""A fill of only what can change the verdict ends at the verdict of a whole fill."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from small_reviews import SLOW, Scripted, Small, certify, reviews, severity

from relgate.eval.lists.types import SCALES
from relgate.eval.review.types import Verdict
from relgate.eval.workflow import Reviewed


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Per scale and floor, a folder with a trusted certificate of the scripted judge."""
    folder = tmp_path_factory.mktemp("certificates")
    for scale, floors in (("0-3", (1, 2, 3)), ("0-1", (1,))):
        certify(folder, scale, floors)
    return folder


def equal_verdicts(small: Small, certificates: Path) -> tuple[Reviewed, Reviewed]:
    whole, part = Scripted(small.truth), Scripted(small.truth)
    filled = small.review("top-k", whole, certificates)
    opened = small.review("open", part, certificates)
    assert opened.review.verdict is filled.review.verdict
    assert set(part.asked) <= set(whole.asked)
    assert len(part.asked) == len(set(part.asked))
    facts = opened.open_fill
    assert facts is not None
    assert facts.settled
    assert (facts.pairs, facts.asked) == (len(whole.asked), len(part.asked))
    assert facts.least is filled.review.verdict
    return filled, opened


@settings(max_examples=150, **SLOW)
@given(reviews())
def test_the_verdict_is_that_of_a_whole_fill(certificates: Path, small: Small) -> None:
    filled, opened = equal_verdicts(small, certificates)
    facts = opened.open_fill
    assert facts is not None
    if facts.pairs:
        event(f"{filled.review.verdict.word}: {'some' if facts.left else 'no'} grades saved")


@pytest.mark.soak
@settings(max_examples=4_000, **SLOW)
@given(reviews(most_queries=12))
def test_the_verdict_is_that_of_a_whole_fill_at_length(certificates: Path, small: Small) -> None:
    equal_verdicts(small, certificates)


@settings(max_examples=40, **SLOW)
@given(reviews())
def test_without_a_certificate_only_a_verdict_that_rests_on_no_judge_may_be_milder(
    tmp_path_factory: pytest.TempPathFactory, small: Small
) -> None:
    """R15 caps a verdict that rests on grades nobody calibrated; where none was needed, it rests
    on none.
    """
    nothing = tmp_path_factory.getbasetemp()
    filled = small.review("top-k", Scripted(small.truth), nothing).review.verdict
    part = Scripted(small.truth)
    opened = small.review("open", part, nothing).review.verdict
    if part.asked:
        assert opened is filled
    else:
        assert filled in {opened, max(opened, Verdict.NEEDS_WORK)}


@settings(max_examples=40, **SLOW)
@given(reviews(), st.data())
def test_where_the_judge_fails_now_and_then_the_verdict_is_that_of_a_fill_that_fails_alike(
    certificates: Path, small: Small, data: st.DataObject
) -> None:
    """R19 apart, which looks at how often it failed among those asked."""
    small.project["budgets"]["max_error_rate"] = 1.0
    broken = frozenset(data.draw(st.sets(st.sampled_from(sorted(small.truth)), max_size=8)))
    whole = Scripted(small.truth, broken=broken)
    part = Scripted(small.truth, broken=broken)
    filled = small.review("top-k", whole, certificates)
    opened = small.review("open", part, certificates)
    assert len(part.asked) == len(set(part.asked))
    facts = opened.open_fill
    assert facts is not None
    assert facts.settled
    if broken.isdisjoint(set(whole.asked) - set(part.asked)):  # else R8 sees them unrated
        assert opened.review.verdict is filled.review.verdict


@settings(max_examples=40, **SLOW)
@given(reviews(), st.data())
def test_no_fill_leaves_a_rule_outside_its_range(
    certificates: Path, small: Small, data: st.DataObject
) -> None:
    """Every rule, at every stage: whatever the judge says next, the rule ends within its range."""
    budget = data.draw(st.integers(0, 8))
    stopped = small.review("open", Scripted(small.truth, budget=budget), certificates)
    facts = stopped.open_fill
    assert facts is not None
    known = {(row.query.id, row.doc_id): row.grade for row in stopped.judgments.rows()}
    for _ in range(3):
        best = SCALES[small.project["scale"]].max_grade
        other = {pair: data.draw(st.integers(0, best)) for pair in small.truth}
        whole = Scripted({**other, **{p: g for p, g in known.items() if p in other}})
        filled = small.review("top-k", whole, certificates).review
        for standing in facts.standings:
            if standing.rule in {"R15", "R16"}:  # of whom the grades are, not what they are
                continue
            found = severity(filled, standing.rule)
            assert standing.least <= found <= standing.most, standing
        assert facts.least <= filled.verdict <= facts.most
