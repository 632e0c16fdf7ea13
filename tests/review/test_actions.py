"""What to do next names the queries, and what came into their top."""

from __future__ import annotations

import pytest

from relgate.eval.lists.types import Source
from relgate.eval.review.actions import recommended_actions
from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.eval.review.losers import losers, winners
from relgate.eval.review.types import RankedDoc, Verdict


def _fallen(query, name="fallen", *docs: RankedDoc, **marks: bool):
    old = (RankedDoc("old", 3), RankedDoc("caf\u00e9", 1))
    return query(name, 0.9, 0.3, was={"top": old}, now={"top": (*docs, *old)}, **marks)


def test_losers_and_winners_are_sorted_and_rounding_is_neither(evidence, many):
    found = evidence(*many(6, -0.1, -0.3, 0.1, 0.3, 1e-10, -1e-10))
    assert [q.query.id for q in losers(found)] == ["q1", "q0"]
    assert [q.query.id for q in winners(found)] == ["q3", "q2"]


def test_an_approval_has_nothing_to_do(evidence, query):
    assert recommended_actions(Verdict.APPROVE, evidence(_fallen(query)), ()) == ()


def test_what_came_into_the_top_is_shown_with_grade_and_maker(evidence, query):
    found = _fallen(
        query,
        "fallen",
        RankedDoc("good", 3, Source.HUMAN),
        RankedDoc("weak", 0, Source.JUDGE),
        RankedDoc("new"),
        RankedDoc("fair", 1, Source.HUMAN),
        RankedDoc("cafe\u0301", 1),  # was there before, in other letters
    )
    (look, explain) = recommended_actions(Verdict.NEEDS_WORK, evidence(found), ())
    assert look == (
        'Look at "fallen" (0.90 to 0.30): old (grade 3) fell from rank 1 to 6; '
        "caf\u00e9 (grade 1) fell from rank 2 to 5; above now: new at rank 3 (unrated), "
        "weak at rank 2 (grade 0, by a judge), fair at rank 4 (grade 1)."
    )
    assert '"fallen"' in explain
    assert "Splainer" in explain


def test_only_synonyms_are_advised_to_go_one_way(evidence, query):
    for kinds, advised in (((ChangeType.SYNONYMS,), True), ((ChangeType.ANALYZER,), False)):
        found = evidence(_fallen(query), change=ChangeDescription(types=kinds))
        actions = recommended_actions(Verdict.NEEDS_WORK, found, ())
        assert any("one-way" in a and '"fallen"' in a for a in actions) is advised


def test_head_queries_come_first_and_three_are_named(evidence, query):
    worst = [query(f"q{i}", 0.9, 0.1 * i) for i in range(4)]
    found = evidence(*worst, query("head", 0.9, 0.8, head=True))
    (explain,) = recommended_actions(Verdict.BLOCK, found, ())
    assert '"head", "q0", "q1" with' in explain


@pytest.mark.parametrize(("after", "named"), [(0.4, True), (0.45, False), (0.48, False)])
def test_a_small_drop_is_not_looked_at(evidence, query, after, named):
    actions = recommended_actions(Verdict.NEEDS_WORK, evidence(query("a", 0.5, after)), ())
    assert bool(actions) is named
