"""A fill through batches ends as a live one does, at half the price."""

from __future__ import annotations


def test_a_fill_through_batches_is_equal_to_a_live_one(call, shop):
    live = call(*shop.live())
    assert live.code == 0, live.err
    asked_live = sorted(shop.server.prompts)
    shop.server.prompts.clear()
    done = call(*shop.fill("--json"))
    assert done.code == 0, done.err
    assert shop.rows("batch.jsonl") == shop.rows("live.jsonl")
    assert sorted(shop.server.prompts) == asked_live  # the very bodies, not only the prompts
    assert done.json["graded"] == shop.pairs
    assert done.json["calls"] == shop.requests
    assert shop.server.calls["live"] == shop.requests  # those of the live fill
    assert set(shop.server.asked.values()) == {1}
