"""A judge of the pipeline's family, or one that made the ranking: exit code 5 before any call."""

from __future__ import annotations

import json

import pytest

GEMINI_KEY = "AIzaSyTest-0123456789abcdefghijklmnopqr"
GOOGLE = ("--judge-family", "google")


def gemini_says(server, monkeypatch) -> None:
    """Gemini on this machine, grading every document E."""
    rows = [{"id": str(i), "esci": "E", "reason": "r"} for i in range(1, 11)]
    part = {"text": json.dumps({"grades": rows})}
    server.body = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]
    }
    monkeypatch.setenv("GOOGLE_API_KEY", GEMINI_KEY)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)


def gemini_review(shop, *more: str) -> list[str]:
    return [*shop.review(judge=None), "--judge", "gemini:gemini-2.0-flash", "--fill", *more]


def small(shop):
    """The same shop with three queries: enough where the verdict is not the point."""
    shop.before = dict(list(shop.before.items())[:3])
    shop.after = dict(list(shop.after.items())[:3])
    return shop.write()


def test_a_judge_of_the_pipelines_family_makes_no_request(call, shop, server, monkeypatch):
    gemini_says(server, monkeypatch)
    done = call(
        *gemini_review(shop, "--system-model", "gemini-2.5-flash", "--quiet", "--out", "report")
    )
    assert done.code == 5
    assert "gemini-2.0-flash" in done.complaint
    assert "gemini-2.5-flash" in done.complaint
    assert "'google'" in done.complaint
    assert server.seen == []
    assert not (shop.folder / "report").exists()


def test_the_same_judge_under_a_pipeline_of_another_family_is_asked(
    call, shop, server, monkeypatch
):
    gemini_says(server, monkeypatch)
    done = call(*gemini_review(small(shop), "--system-model", "gpt-4.1-mini", "--json"))
    assert done.code in {0, 1, 3, 4}
    assert done.json["judge"]["fill"]["graded"] == 18
    assert len(server.seen) == 3
    assert server.seen[0]["x-goog-api-key"] == GEMINI_KEY


def test_the_exit_code_is_5_as_a_process_too(process, shop, server):
    env = {"GOOGLE_API_KEY": GEMINI_KEY, "GOOGLE_GEMINI_BASE_URL": server.url}
    done = process(*gemini_review(shop, "--system-model", "gemini-2.5-flash", "--quiet"), env=env)
    assert done.code == 5
    assert "it would judge its own kind" in done.complaint
    assert server.seen == []


@pytest.mark.parametrize(
    ("judge_says", "system_model", "refused"),
    [
        (GOOGLE, "gemini-2.5-flash", True),
        (GOOGLE, "openrouter/google/gemini-2.5-flash", True),
        (GOOGLE, "google", True),
        (GOOGLE, "claude-sonnet-4", False),
        (GOOGLE, "none", False),
        ((), "gemini-2.5-flash", True),  # a python: judge says nothing of its family
        (GOOGLE, "azure/our-deployment", True),  # nor does a deployment
        (("--judge-family", "none"), "gemini-2.5-flash", True),  # nobody may say: no model at all
        (("--judge-family", "our-rules"), "gemini-2.5-flash", False),
        (("--judge-family", " GOOGLE "), "gemini-2.5-flash", True),
    ],
)
def test_a_family_that_is_the_same_or_unknown_is_refused(
    call, shop, judge_says, system_model, refused
):
    done = call(*small(shop).review(*judge_says, "--system-model", system_model, "--quiet"))
    assert (done.code == 5) is refused
    assert (shop.calls == 0) is refused


def test_one_clash_among_many_models_is_enough(call, shop):
    models = ("--system-model", "gpt-4.1", "--system-model", "gemini-2.5-flash")
    done = call(*shop.review(*GOOGLE, *models, "--quiet"))
    assert done.code == 5
    assert shop.calls == 0


@pytest.mark.parametrize("place", ["relgate.toml", "change.toml"])
def test_models_are_declared_in_either_file_and_both_count(call, shop, place):
    (shop.folder / place).write_text('system_models = ["gemini-2.5-flash"]\n')
    more = ("--change", "change.toml") if place == "change.toml" else ()
    done = call(*shop.review(*GOOGLE, *more, "--quiet"))
    assert done.code == 5
    assert shop.calls == 0
    if place == "change.toml":  # what a flag adds takes nothing back
        done = call(*shop.review(*GOOGLE, *more, "--system-model", "gpt-4.1", "--quiet"))
        assert done.code == 5


@pytest.mark.parametrize("place", ["relgate.toml", "change.toml"])
def test_an_empty_declaration_says_that_there_is_no_model(call, shop, place):
    """`[]` is an answer, leaving it out is none: only the latter caps."""
    (shop.folder / place).write_text("system_models = []\n")
    more = ("--change", "change.toml") if place == "change.toml" else ()
    review = call(*small(shop).review(*more, "--json")).json
    assert "R16" in [o["rule"] for o in review["checked"] if o["state"] == "passed"]


def test_undeclared_models_are_no_breach_and_cap_the_verdict(call, shop):
    review = call(*shop.review(*GOOGLE, "--json")).json
    assert shop.calls > 0
    (r16,) = [o for o in review["not_checked"] if o["rule"] == "R16"]
    assert r16["caps_verdict"]
    assert review["verdict"] != "APPROVE"


def test_an_override_by_name_passes_and_every_report_says_so(call, shop):
    more = (*GOOGLE, "--system-model", "gemini-2.5-flash", "--override", "family")
    done = call(*shop.review(*more, "--out", "report"))
    assert done.code in {0, 1}
    assert shop.calls > 0
    sentence = "family separation overridden by name"
    review = json.loads((shop.folder / "report/review.json").read_text(encoding="utf-8"))
    (said,) = review["judge"]["overrides"]
    assert said.startswith(sentence)
    assert "gemini-2.5-flash" in said
    assert sentence in (shop.folder / "report/review.md").read_text(encoding="utf-8")
    assert sentence in done.out


def test_an_override_of_one_rule_is_none_of_the_other(call, shop):
    more = (*GOOGLE, "--system-model", "gemini-2.5-flash", "--override", "circular", "--quiet")
    assert call(*shop.review(*more)).code == 5
    assert shop.calls == 0


def test_an_override_that_was_not_needed_is_not_reported(call, shop):
    more = (*GOOGLE, "--system-model", "gpt-4.1", "--override", "family", "--json")
    assert call(*small(shop).review(*more)).json["judge"]["overrides"] == []


# --- circular


def version_of(call) -> str:
    return call("rubric", "show", "--json").json["version"]


@pytest.mark.parametrize("place", ["relgate.toml", "change.toml"])
def test_a_judge_that_reranks_inside_the_pipeline_is_refused(call, shop, place):
    (shop.folder / place).write_text(f'ranker_judges = ["{version_of(call)}"]\n')
    more = ("--change", "change.toml") if place == "change.toml" else ()
    done = call(*shop.review(*more, "--quiet"))
    assert done.code == 5
    assert "reranks the results" in done.complaint
    assert shop.calls == 0
    assert call(*shop.review(*more, "--quiet", "--override", "circular")).code != 5
    assert shop.calls > 0


def test_another_judge_inside_the_pipeline_is_no_circle(call, shop):
    (shop.folder / "relgate.toml").write_text('ranker_judges = ["esci-v1@ffffffff"]\n')
    assert call(*small(shop).review("--quiet")).code != 5


def test_what_a_judge_reranked_it_may_not_evaluate(call, shop):
    """The circle in full: rerank, name the judge as the report asks, review with it."""
    done = call(
        "rerank", "--run", "before.jsonl", "--catalogue", "catalogue.jsonl",
        "--judge", shop.judge(), "--out", "reranked.jsonl", "--json",
    )  # fmt: skip
    assert done.code == 0
    named = done.json["judge_version"]
    assert named == version_of(call)
    calls = shop.calls
    (shop.folder / "change.toml").write_text(f'type = "reranker"\nranker_judges = ["{named}"]\n')
    words = [w if w != "after.jsonl" else "reranked.jsonl" for w in shop.review("--quiet")]
    done = call(*words, "--change", "change.toml")
    assert done.code == 5
    assert shop.calls == calls


# --- fill and judge hold to the same rules, and so does a list that was filled before


def test_fill_and_judge_refuse_alike(call, shop):
    same = (*GOOGLE, "--system-model", "gemini-2.5-flash", "--judge", shop.judge(), "--quiet")
    done = call(
        "fill", "--run", "after.jsonl", "--judgments", "judgments.csv",
        "--catalogue", "catalogue.jsonl", "--out", "filled.jsonl", *same,
    )  # fmt: skip
    assert done.code == 5
    assert not (shop.folder / "filled.jsonl").exists()
    assert call("judge", "q", "--text", "t class E", *same).code == 5
    assert shop.calls == 0


@pytest.fixture
def filled(call, shop):
    """A list that holds grades of a judge of family google."""
    done = call(
        "fill", "--run", "after.jsonl", "--judgments", "judgments.csv", *GOOGLE,
        "--catalogue", "catalogue.jsonl", "--out", "filled.jsonl", "--judge", shop.judge(),
    )  # fmt: skip
    assert done.code == 0
    text = (shop.folder / "filled.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    for row in rows:
        if row.get("source") == "judge":
            row["model"] = "gemini-2.0-flash"
    (shop.folder / "filled.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    return shop


def on_the_filled(shop, *more: str) -> list[str]:
    return ["review", *shop.sides(), "--judgments", "filled.jsonl", *more]


def test_grades_of_the_pipelines_family_in_the_list_are_refused(call, filled):
    done = call(*on_the_filled(filled, "--system-model", "gemini-2.5-flash", "--quiet"))
    assert done.code == 5
    assert "gemini-2.0-flash" in done.complaint


def test_grades_of_another_family_in_the_list_are_used(call, filled):
    done = call(*on_the_filled(filled, "--system-model", "gpt-4.1", "--json"))
    assert done.code in {0, 1}
    assert [use["family"] for use in done.json["judge"]["grades"]] == ["google"]


def test_grades_in_the_list_of_a_judge_inside_the_pipeline_are_refused(call, filled):
    (filled.folder / "relgate.toml").write_text(f'ranker_judges = ["{version_of(call)}"]\n')
    assert call(*on_the_filled(filled, "--quiet")).code == 5


# --- no model in the pipeline, said by a flag


WITH_MODELS = ("batch submit", "calibrate", "canary check", "canary freeze", "fill", "judge",
               "refresh", "review")  # fmt: skip


@pytest.mark.parametrize("command", WITH_MODELS)
def test_every_command_that_takes_the_models_says_none_alike(call, command):
    said = " ".join(call(*command.split(), "--help").out.split())
    assert "--system-model TEXT" in said
    assert "'none' says that there is none" in said


def test_none_declares_an_empty_pipeline_so_that_any_judge_is_of_another_family(call, shop):
    """As `system_models = []` does; undeclared, R16 is not checked."""
    words = small(shop).review("--json")

    def passed(*more: str) -> bool:
        document = call(*words, *more).json
        return "R16" in {o["rule"] for o in document["checked"] if o["state"] == "passed"}

    assert passed("--system-model", "none")
    assert not passed()


def test_the_flag_outranks_the_settings(call, shop, tmp_path):
    (tmp_path / "relgate.toml").write_text('system_models = ["gpt-4.1"]\n', encoding="utf-8")
    words = [*small(shop).review("--quiet"), "--judge-family", "openai"]
    assert call(*words).code == 5
    assert call(*words, "--system-model", "none").code != 5


@pytest.mark.parametrize("models", [("none", "gpt-4.1"), ("",), ("gpt-4.1", " ")])
def test_none_beside_a_model_and_a_model_without_a_name_are_refused(call, shop, models):
    done = call(*shop.review(*(word for m in models for word in ("--system-model", m))))
    assert done.code == 2
    assert "--system-model" in done.complaint
    assert shop.calls == 0
