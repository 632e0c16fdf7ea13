"""What is asked is drawn by seed: a query's own documents, random others, innocent texts."""

from __future__ import annotations

import pytest

from relgate.judge.robustness.attacks import make_attacks
from relgate.judge.robustness.run import check_robustness
from relgate.judge.robustness.sample import Shelf, draw_batches, draw_innocent, plan_calls
from relgate.judge.sync import run_sync
from relgate.judge.types import Candidate
from relgate.rubrics import load_rubric

TEXTS = {f"boot{i}": f"title: Hiking boots {i}" for i in range(30)}
TEXTS |= {f"pot{i}": f"title: Flower pot {i}" for i in range(30)}


def shelf(labelled: dict[str, list[str]], *, seed: int = 0) -> Shelf:
    def candidate(doc_id: str) -> Candidate | None:
        return Candidate(doc_id, TEXTS[doc_id]) if doc_id in TEXTS else None

    return Shelf(labelled, tuple(TEXTS), candidate, seed)


BOOTS = {f"hiking boot {q}": [f"boot{q * 3 + i}" for i in range(3)] for q in range(8)}


def test_batches_hold_the_querys_own_documents_first_and_are_filled_up():
    batches = draw_batches(shelf(BOOTS), items=25, size=10)
    assert [len(batch.candidates) for batch in batches] == [10, 10, 5]
    for batch in batches:
        ids = {c.id for c in batch.candidates}
        assert set(BOOTS[batch.query]) <= ids
        assert len({c.text for c in batch.candidates}) == len(batch.candidates)


def test_no_batch_of_one_is_drawn_unless_the_judge_sees_one_at_a_time():
    assert [len(b.candidates) for b in draw_batches(shelf(BOOTS), items=11, size=10)] == [10]
    assert [len(b.candidates) for b in draw_batches(shelf(BOOTS), items=4, size=1)] == [1] * 4


def test_documents_without_a_text_are_passed_over():
    (batch,) = draw_batches(shelf({"q": ["gone", "boot1"]}), items=4, size=4)
    assert "gone" not in {c.id for c in batch.candidates}
    assert len(batch.candidates) == 4
    assert draw_batches(Shelf({"q": ["gone"]}, (), lambda _: None, 0), items=4, size=4) == ()


def test_innocent_texts_share_no_word_with_their_query():
    pairs = draw_innocent(shelf(BOOTS), n=20)
    assert len(pairs) == 20
    assert len(set(pairs)) == 20
    assert all("pot" in text for _, text in pairs)
    assert draw_innocent(shelf({"title": ["boot1"]}), n=5) == ()


def test_innocent_texts_are_never_ones_that_the_list_has_for_the_query():
    pairs = draw_innocent(shelf({"tent": [f"pot{i}" for i in range(29)]}), n=60)
    assert {text for _, text in pairs if "pot" in text} == {TEXTS["pot29"]}


def test_the_seed_alone_decides():
    def drawn(of: Shelf) -> tuple[object, object]:
        return draw_batches(of, items=30, size=10), draw_innocent(of, n=12)

    assert drawn(shelf(BOOTS)) == drawn(shelf(dict(reversed(BOOTS.items()))))
    other = drawn(shelf(BOOTS, seed=1))
    assert all(a != b for a, b in zip(drawn(shelf(BOOTS)), other, strict=True))


@pytest.mark.parametrize("size", [1, 10])
def test_the_plan_is_exactly_what_is_asked(judge_that, size):
    calls = []
    judge = judge_that(
        lambda _t, _p, _s, true: true,
        batch_size=size,
        fails=lambda request: calls.append(request) is not None,
    )
    batches = draw_batches(shelf(BOOTS), items=25, size=size)
    attacks = make_attacks(draw_innocent(shelf(BOOTS), n=7), load_rubric())
    plan = plan_calls(
        batches, attacks, shuffles=3, repeats=2, calls=lambda q, t: len(judge.batches(q, t))
    )
    found = run_sync(
        check_robustness(
            judge, batches, attacks, in_order=judge.grade_in_order, floor=2, shuffles=3, repeats=2
        )
    )
    assert len(calls) == plan.calls
    assert (found.positions is None) == (plan.positions == 0) == (size == 1)
    assert set(found.not_applied) == ({"positions", "batch_size"} if size == 1 else set())
