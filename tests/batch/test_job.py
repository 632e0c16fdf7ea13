"""A job step by step: submitted, looked at, collected, cancelled; what is kept of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from batch_server import TOKENS, Line, Outcome, all_done, graded

from relgate.eval.batch.desk import kept_settings
from relgate.eval.project import Project
from relgate.judge.prices import Price, cost_usd, price_of
from relgate.judge.providers.batches import BatchLimits
from relgate.judge.providers.gemini_batch import GeminiBatches
from relgate.judge.providers.openai_batch import OpenAIBatches

KEY = "sk-proj-Zx81LqPvTn4dRw7yBc2m"


def model(shop) -> str:
    return {"openai": "gpt-4.1-mini", "gemini": "gemini-2.5-flash"}[shop.provider]


def usd(shop, requests: int, *, share: float = 0.5) -> float:
    """What so many replies cost, worked out from the server's tokens and the table of prices."""
    price = price_of(model(shop))
    assert price is not None
    one = (TOKENS["prompt"] * price.input + TOKENS["completion"] * price.output) / 1e6
    return requests * one * share


def test_submitted_looked_at_collected_and_listed_from_the_cache(call, shop):
    shop.server.running = True
    sent = call(*shop.submit("--json")).json
    assert sent["requests"] == shop.requests
    assert [b["step"] for b in sent["batches"]] == ["submitted"]

    seen = call("batch", "status", "--json").json["jobs"]
    assert [job["job"] for job in seen] == [sent["job"]]
    assert seen[0]["batches"][0]["remote"].startswith("running")
    early = call("batch", "collect", "--json")
    assert (early.code, early.json["stored"], early.json["closed"]) == (1, 0, False)

    shop.server.running = False
    done = call("batch", "collect", "--json")
    assert (done.code, done.json["stored"], done.json["closed"]) == (0, shop.pairs, True)
    assert call("batch", "status", "--json").json == {"jobs": []}
    listed = call("fill", *shop.words("--max-calls", "0", "--out", "batch.jsonl", "--json")).json
    assert (listed["cached"], listed["calls"]) == (shop.pairs, 0)
    assert call(*shop.live()).code == 0
    assert shop.rows("batch.jsonl") == shop.rows("live.jsonl")
    assert set(shop.server.asked.values()) == {1}


def test_status_changes_nothing_and_says_what_the_provider_says(call, shop):
    shop.server.running = True
    call(*shop.submit())
    before = shop.state()
    done = call("batch", "status")
    assert done.code == 0
    assert "running" in done.out
    assert before["id"] in done.out
    shop.server.faults["get"] = [503]
    assert "unknown: HTTP 503" in " ".join(call("batch", "status").out.split())
    assert shop.state() == before


def test_a_second_submit_sends_only_what_is_not_under_way(call, shop):
    shop.server.running = True
    call(*shop.submit())
    again = call(*shop.submit("--json")).json
    assert len(again["batches"]) == 1
    assert len(shop.server.batches) == 1


def test_what_came_into_the_cache_meanwhile_does_not_regroup_what_is_under_way(call, shop):
    """One document graded by somebody else must not shift the others into other requests."""
    shop.server.running = True
    call(*shop.submit())
    first = json.loads((shop.folder / "run.jsonl").read_text().splitlines()[0])
    part = shop.folder / "part.jsonl"
    part.write_text(json.dumps({**first, "docs": [first["docs"][0], first["docs"][-1]]}) + "\n")
    words = shop.words("--out", "part-list.jsonl")
    words[words.index("run.jsonl")] = "part.jsonl"
    assert call("fill", *words).code == 0
    again = call(*shop.submit("--json")).json
    assert len(again["batches"]) == 1
    shop.server.running = False
    assert call("batch", "collect").code == 0
    assert set(shop.server.asked.values()) == {1}


def test_limits_split_a_job_into_batches(call, shop, monkeypatch):
    kind = OpenAIBatches if shop.provider == "openai" else GeminiBatches
    monkeypatch.setattr(kind, "limits", BatchLimits(requests=5, bytes=10**9))
    assert call(*shop.submit("--json")).json["requests"] == shop.requests
    assert [len(held.requests) for held in shop.server.batches.values()] == [5, 5, 2]
    assert call("batch", "collect").code == 0


def test_bytes_split_a_job_into_batches(call, shop, monkeypatch):
    kind = OpenAIBatches if shop.provider == "openai" else GeminiBatches
    monkeypatch.setattr(kind, "limits", BatchLimits(requests=None, bytes=4_000))
    call(*shop.submit())
    sizes = [part["bytes"] for part in shop.state()["parts"]]
    assert len(sizes) > 2
    assert all(size <= 4_000 for size in sizes)
    assert [len(data) for data in shop.server.files.values()][: len(sizes)] == sizes
    assert set(shop.server.asked.values()) == {1}


def test_the_limits_are_those_that_the_providers_state():
    assert OpenAIBatches.limits == BatchLimits(requests=50_000, bytes=200_000_000)
    assert GeminiBatches.limits == BatchLimits(requests=None, bytes=2_000_000_000)


def test_the_rest_waits_where_the_provider_takes_no_more_and_collect_sends_it(
    call, shop, monkeypatch
):
    kind = OpenAIBatches if shop.provider == "openai" else GeminiBatches
    monkeypatch.setattr(kind, "limits", BatchLimits(requests=5, bytes=10**9))
    shop.server.running = True
    shop.server.faults["create"] = [None, *[429] * 4]
    sent = call(*shop.submit())
    assert sent.code == 0
    assert "takes no more now" in sent.err
    assert len(shop.server.batches) == 1
    shop.server.running = False
    assert call("batch", "collect").code == 1
    assert call("batch", "collect").code == 0
    assert set(shop.server.asked.values()) == {1}
    assert sum(shop.server.asked.values()) == shop.requests


def test_money_is_told_by_usage_at_the_price_of_batches(call, shop):
    done = call(*shop.fill("--json")).json
    assert done["cost_usd"] == pytest.approx(usd(shop, shop.requests))
    [held] = call("cache", "stats", "--json").json["by_judge"]
    assert held["rows"] == shop.pairs
    assert held["prompt_tokens"] == shop.requests * TOKENS["prompt"]
    assert held["paid_usd"] == pytest.approx(usd(shop, shop.requests))

    served = call("fill", *shop.words("--out", "again.jsonl", "--json")).json
    assert served["saved_usd"] == pytest.approx(usd(shop, shop.requests))  # what they had cost
    [held] = call("cache", "stats", "--json").json["by_judge"]
    assert held["saved_usd"] == pytest.approx(usd(shop, shop.requests))


def test_live_grades_cost_the_price_of_single_calls(call, shop):
    done = call(*shop.live("--json")).json
    assert done["cost_usd"] == pytest.approx(usd(shop, shop.requests, share=1.0))


def test_failed_rows_cost_too_and_collect_tells_the_jobs_money(call, shop):
    def one_unreadable(requests):
        outcome = all_done(requests)
        outcome.lines[0].text = "no grades here"
        outcome.lines[0].finish = "stop"
        return outcome

    shop.server.plans = [one_unreadable]
    call(*shop.submit())
    call("batch", "collect")
    call("batch", "collect")
    state = shop.state()
    sent = sum(part["requests"] for part in state["parts"])
    assert state["closed"]
    assert sum(p["prompt_tokens"] for p in state["parts"]) == sent * TOKENS["prompt"]


def test_a_price_in_a_batch_is_half():
    assert Price(2.0, 8.0).in_a_batch() == Price(1.0, 4.0)
    assert cost_usd(Price(2.0, 8.0).in_a_batch(), prompt_tokens=1e6, completion_tokens=1e6) == 5.0


def test_a_dry_run_plans_at_half_the_price_and_sends_nothing(call, shop):
    full = call("fill", *shop.words("--dry-run", "--out", "x.jsonl", "--json")).json
    half = call(*shop.fill("--dry-run", "--json")).json
    step = call(*shop.submit("--dry-run", "--json")).json
    assert half == step
    assert half["calls"] == full["calls"] == shop.requests
    assert half["cost_usd"] == pytest.approx([cost / 2 for cost in full["cost_usd"]])
    assert not shop.server.calls
    assert not (shop.folder / ".relgate/batches").exists() or not list(
        (shop.folder / ".relgate/batches").glob("*/state.json")
    )


def test_the_call_limit_holds_and_the_next_run_goes_on(call, shop):
    first = call(*shop.fill("--max-calls", "5", "--json"))
    assert (first.code, first.json["calls"]) == (0, 5)
    assert first.json["not_asked"] == shop.pairs - first.json["graded"] > 0
    assert "limit of 5 calls" in first.err
    second = call(*shop.fill("--json")).json
    assert (second["graded"], second["cached"]) == (shop.pairs, first.json["graded"])
    assert set(shop.server.asked.values()) == {1}


def test_the_cost_limit_holds_at_the_price_of_batches(call, shop):
    most = call(*shop.fill("--dry-run", "--json")).json["cost_usd"][1]
    enough = call(*shop.fill("--max-cost", f"{most * 1.001:.9f}", "--json")).json
    assert enough["not_asked"] == 0
    shop.server.asked.clear()
    (shop.folder / "relgate.toml").write_text("batch_size = 3\nk = 8\ncache = 'other'\n")
    less = call(*shop.fill("--max-cost", f"{most / 2:.9f}", "--json"))
    assert 0 < less.json["calls"] < shop.requests
    assert less.json["cost_usd"] <= most / 2
    assert "cost limit" in less.err


def test_a_cost_limit_without_a_price_is_refused_before_anything_is_sent(call, shop):
    words = shop.fill("--max-cost", "1")
    words[words.index("--judge") + 1] = f"{shop.provider}:no-such-model"
    done = call(*words, "--judge-family", "meta")
    assert done.code == 2
    assert "price" in done.err
    assert not shop.server.calls


def test_a_judge_of_the_pipelines_family_is_refused_before_anything_is_sent(call, shop):
    same = {"openai": "gpt-4o", "gemini": "gemini-1.5-pro"}[shop.provider]
    for words in (shop.fill("--system-model", same), shop.submit("--system-model", same)):
        assert call(*words).code == 5
    assert not shop.server.calls
    assert not list((shop.folder / ".relgate").glob("batches/*/state.json"))


@pytest.mark.parametrize("judge", ["baseline", "compatible:m@http://h/v1", "openai-decisions:m"])
def test_only_judges_with_batches_can_be_asked_in_batches(call, shop, judge):
    words = shop.fill()
    words[words.index("--judge") + 1] = judge
    done = call(*words, "--judge-family", "meta", "--quiet")
    assert done.code == 2
    assert "batches" in done.complaint


def test_a_cluster_and_batches_are_not_asked_for_together(call, shop):
    done = call(*shop.fill("--engine", "ray", "--quiet"))
    assert (done.code, "engine ray" in done.complaint) == (2, True)
    assert not shop.server.calls


def test_flags_of_batches_are_refused_without_them(call, shop):
    for flag in (["--poll", "5"], ["--state", "there"]):
        assert call(*shop.live(*flag, "--quiet")).code == 2


def test_cancel_ends_batches_and_collect_takes_what_they_answered(call, shop):
    def two(requests):
        return Outcome(lines=all_done(requests).lines[:2])

    shop.server.running = True
    shop.server.plans = [two]
    call(*shop.submit())
    assert call("batch", "cancel", "--json").json["asked_to_end"] == 1
    done = call("batch", "collect", "--json")
    assert (done.code, done.json["closed"]) == (0, True)
    assert 0 < done.json["stored"] < shop.pairs
    assert "cancelled" in done.json["halted"]
    assert len(shop.server.batches) == 1
    shop.server.running = False
    rest = call(*shop.fill("--json")).json  # asked for again, in a job of its own
    assert (rest["graded"], rest["cached"]) == (shop.pairs, done.json["stored"])


def test_cancel_before_a_batch_is_made_sends_nothing(call, shop):
    shop.server.faults["upload"] = [401]
    assert call(*shop.submit()).code == 6
    assert call("batch", "cancel", "--json").json["asked_to_end"] == 0
    assert call("batch", "collect").code == 0
    assert not shop.server.batches


def test_collect_sends_again_unless_told_not_to(call, shop):
    def half(requests):
        return Outcome(lines=all_done(requests).lines[: len(requests) // 2])

    shop.server.plans = [half]
    call(*shop.submit())
    held = call("batch", "collect", "--no-resubmit", "--json")
    assert held.code == 1
    assert held.json["unsettled"] > 0
    assert len(shop.server.batches) == 1
    assert call("batch", "collect").code == 1
    assert len(shop.server.batches) == 2
    assert call("batch", "collect").code == 0


def test_paid_rows_of_a_group_that_stays_unfinished_are_kept_at_the_end(call, shop):
    """Nine of ten are paid for: that the tenth may not be asked again loses none of them."""

    def lacking(requests):
        lines = []
        for key, prompt in requests.items():
            reply = json.loads(graded(prompt))
            reply["grades"] = reply["grades"][:2]
            lines.append(Line(key, text=json.dumps(reply)))
        return Outcome(lines=lines)

    shop.server.plans = [lacking]
    done = call(*shop.fill("--max-calls", str(shop.requests), "--json")).json
    assert done["calls"] == shop.requests
    assert done["graded"] == shop.pairs - done["not_asked"]
    assert done["not_asked"] == 8  # one of each full request: two a query


def test_a_job_is_read_by_the_judge_that_made_it_alone(call, shop, monkeypatch):
    shop.server.running = True
    call(*shop.submit())
    name = "OPENAI_BASE_URL" if shop.provider == "openai" else "GOOGLE_GEMINI_BASE_URL"
    monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    done = call("batch", "collect")
    assert done.code == 2
    assert "fingerprint" in done.err
    assert "Traceback" not in done.err


@pytest.mark.usefixtures("shop")
def test_which_job_is_asked_where_there_are_several_or_none(call):
    done = call("batch", "collect", "--quiet")
    assert (done.code, "which job?" in done.err) == (2, True)
    done = call("batch", "collect", "no-such-job", "--quiet")
    assert (done.code, "no such job" in done.err) == (2, True)


def test_a_damaged_state_is_said_with_its_file(call, shop):
    shop.server.running = True
    call(*shop.submit())
    [path] = (shop.folder / ".relgate/batches").glob("*/state.json")
    path.write_text(path.read_text()[:200])
    for words in (["batch", "status"], ["batch", "collect"], shop.fill()):
        done = call(*words)
        assert done.code == 2
        assert "state.json" in done.err
        assert "Traceback" not in done.err
    assert len(shop.server.batches) == 1


def test_no_key_is_kept_in_a_jobs_folder(call, shop, monkeypatch):
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    (shop.folder / "relgate.toml").write_text("batch_size = 3\nk = 8\n")
    shop.server.running = True
    call(*shop.submit())
    files = [p for p in (shop.folder / ".relgate/batches").rglob("*") if p.is_file()]
    assert len(files) >= 3
    assert all(KEY.encode() not in path.read_bytes() for path in files)


def test_few_shot_examples_and_panels_go_through_batches_too(call, shop):
    (shop.folder / "relgate.toml").write_text("batch_size = 3\nk = 8\npanel_shuffles = 3\n")
    assert call(*shop.submit()).code == 0
    assert call("batch", "collect", "--json").json["stored"] == shop.pairs
    assert call(*shop.live()).code == 0
    assert call("fill", *shop.words("--max-calls", "0", "--out", "batch.jsonl")).code == 0
    assert shop.rows("batch.jsonl") == shop.rows("live.jsonl")


def test_a_batch_that_the_provider_knows_no_more_is_not_paid_again_by_itself(call, shop):
    """Another account says the same: only the user can tell."""
    shop.server.running = True
    call(*shop.submit())
    shop.server.batches.clear()
    lost = call("batch", "collect")
    assert lost.code == 6
    assert "cancel gives it up" in lost.err
    assert call("batch", "cancel", "--json").json["asked_to_end"] == 0
    assert call("batch", "collect").code == 0
    assert not shop.server.batches
    shop.server.running = False
    assert call(*shop.fill("--json")).json["graded"] == shop.pairs


def test_the_address_of_a_cache_is_not_kept_and_has_to_be_named_again(call, shop):
    project = Project(cache=Path("redis://:pw-secret@example.org/0"), judge="openai:m")
    assert "pw-secret" not in json.dumps(kept_settings(project))
    assert kept_settings(Project())["cache"] == str(shop.folder / ".relgate/cache")
    call(*shop.submit())
    [path] = (shop.folder / ".relgate/batches").glob("*/state.json")
    state = json.loads(path.read_text())
    del state["settings"]["cache"]
    path.write_text(json.dumps(state))
    done = call("batch", "collect", "--quiet")
    assert (done.code, "--cache" in done.complaint) == (2, True)
    assert call("batch", "collect", "--cache", ".relgate/cache").code == 0


def test_nothing_to_ask_leaves_no_job(call, shop):
    call(*shop.fill())
    done = call(*shop.submit())
    assert "nothing to ask" in done.out
    assert call(*shop.fill("--out", "again.jsonl")).code == 0
    assert len(list((shop.folder / ".relgate/batches").glob("*/state.json"))) == 1
    assert len(shop.server.batches) == 1
