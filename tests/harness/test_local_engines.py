"""Callables and the embedded engine; and what a replay comes to."""

from __future__ import annotations

import json
import sys
import threading
import time
from itertools import islice

import pytest

from relgate.eval.harness.journal import Journal, journal_key
from relgate.eval.harness.local import CallableEngine
from relgate.eval.harness.replay import ReplaySettings, Stopped, replay
from relgate.eval.harness.summary import about_of, latency_of, near_duplicates
from relgate.eval.harness.types import Answer, Call, EngineError, Hit, Reply

CALL = Call("q", "lamp", 5, {"brand": "acme"}, "de", "docs", {"rewriter": "on"}, 7)


@pytest.mark.parametrize(
    ("function", "hits"),
    [
        (lambda text: [text, 7], (Hit("lamp"), Hit("7"))),
        (lambda text, size: [f"{text}{size}"], (Hit("lamp5"),)),
        (
            lambda _text, filters, locale, surface, stages, seed: [
                f"{filters['brand']} {locale} {surface} {stages['rewriter']} {seed}"
            ],
            (Hit("acme de docs on 7"),),
        ),
        (lambda _text, **more: [more["locale"]], (Hit("de"),)),
        (
            lambda _text: [{"id": "a", "score": 2, "title": "A"}, {"id": 3}],
            (Hit("a", 2.0, "A"), Hit("3")),
        ),
        (lambda _text: {"hits": ["a"], "about": {"model": "m-2"}}, (Hit("a"),)),
        (lambda _text: (), ()),
    ],
)
def test_a_callable_gets_what_it_names_and_gives_ids_or_hits(function, hits):
    assert CallableEngine(function).search(CALL).hits == hits


def test_an_async_callable_is_awaited():
    async def search(text):
        return [text]

    assert CallableEngine(search).search(CALL).hits == (Hit("lamp"),)


@pytest.mark.parametrize("found", ["p1", 3, None, [None], [{"key": 1}], {"hits": None}])
def test_a_callable_that_returns_something_else_is_a_failure(found):
    with pytest.raises(EngineError):
        CallableEngine(lambda _text: found).search(CALL)


# --- replay


class Scripted:
    """Answers by the query's id: an Exception is raised, a number of seconds is slept."""

    def __init__(self, **script):
        self.script = script
        self.tries = []
        self.lock = threading.Lock()

    def search(self, call):
        with self.lock:
            self.tries.append(call.query_id)
            step = self.script.get(call.query_id)
            if isinstance(step, list):
                step = step.pop(0) if step else None
        if isinstance(step, Exception):
            raise step
        if isinstance(step, float):
            time.sleep(step)
        return Reply((Hit(call.query_id),))

    def about(self):
        return {}

    def close(self):
        pass


def _calls(n):
    return [Call(f"q{i}", "x", 5) for i in range(n)]


def _by_id(answers):
    return {answer.query_id: answer for answer in answers}


@pytest.mark.parametrize("concurrency", [1, 3, 16])
def test_every_query_is_answered_once_however_many_workers_there_are(concurrency):
    engine = Scripted()
    answers = list(replay(engine, _calls(50), ReplaySettings(concurrency=concurrency)))
    assert sorted(a.query_id for a in answers) == sorted(f"q{i}" for i in range(50))
    assert all(answer.hits == (Hit(answer.query_id),) for answer in answers)
    assert len(engine.tries) == 50


def test_what_may_help_is_tried_again_and_what_cannot_is_not():
    busy, bad = EngineError("busy", again=True), EngineError("bad request")
    engine = Scripted(q0=[busy, busy], q1=[busy, busy, busy], q2=[bad], q3=[ValueError("boom")])
    answers = _by_id(replay(engine, _calls(5), ReplaySettings(retries=2)))
    assert {i: (a.tries, a.failure) for i, a in answers.items()} == {
        "q0": (3, None),
        "q1": (3, "busy"),
        "q2": (1, "bad request"),
        "q3": (1, "ValueError: boom"),
        "q4": (1, None),
    }


def test_a_callable_that_hangs_is_given_up_and_holds_nobody_up():
    engine = Scripted(q1=30.0, q3=30.0)
    begin = time.monotonic()
    settings = ReplaySettings(concurrency=2, timeout_s=0.3)
    answers = _by_id(replay(engine, _calls(8), settings))
    assert time.monotonic() - begin < 15
    failed = {i: a.failure for i, a in answers.items() if a.failure is not None}
    assert failed == dict.fromkeys(("q1", "q3"), "no answer within 0.3 s")
    assert len(answers) == 8


def test_twenty_failures_in_a_row_end_the_run():
    down = {f"q{i}": EngineError("refused") for i in range(5, 100)}
    engine = Scripted(**down)
    found = replay(engine, _calls(1000), ReplaySettings(concurrency=1, retries=0))
    answers = list(islice(found, 25))  # what came before the end counts
    assert sum(answer.failure is None for answer in answers) == 5
    with pytest.raises(Stopped, match="refused"):
        next(found)
    asked = len(engine.tries)
    time.sleep(0.1)
    assert len(engine.tries) <= asked + 1  # and nothing more is asked behind anybody's back


def test_nineteen_failures_in_a_row_do_not():
    down = {f"q{i}": EngineError("refused") for i in range(5, 24)}
    answers = list(replay(Scripted(**down), _calls(30), ReplaySettings(concurrency=1, retries=0)))
    assert len(answers) == 30


# --- journal


def test_a_journal_keeps_answers_and_forgets_failures(tmp_path):
    key = journal_key({"a": 1})
    good = Answer("q1", (Hit("d", 1.5, "T"), Hit("e")), 12.5, 2, about={"model": "m"})
    with Journal(tmp_path / "j", key) as journal:
        journal.add(good)
        journal.add(Answer("q2", (), 1.0, failure="down"))
    assert Journal(tmp_path / "j", key).answers == {"q1": good}


@pytest.mark.parametrize("cut", [1, 10, 30])
def test_a_line_cut_short_is_passed_over(tmp_path, cut):
    key = journal_key({})
    with Journal(tmp_path / "j", key) as journal:
        journal.add(Answer("q1", (), 1.0))
        journal.add(Answer("q2", (), 1.0))
    data = (tmp_path / "j").read_bytes()
    (tmp_path / "j").write_bytes(data[:-cut])
    again = Journal(tmp_path / "j", key)
    assert list(again.answers) == (["q1", "q2"] if cut == 1 else ["q1"])
    with again as journal:  # and what follows stands on a line of its own
        journal.add(Answer("q3", (), 1.0))
    assert "q3" in Journal(tmp_path / "j", key).answers


def test_a_journal_of_another_run_is_begun_anew(tmp_path):
    with Journal(tmp_path / "j", journal_key({"golden": 1})) as journal:
        journal.add(Answer("q1", (), 1.0))
    assert Journal(tmp_path / "j", journal_key({"golden": 2})).answers == {}


# --- summary


def test_titles_alike_at_the_top_are_pairs():
    titles = ["Red Lamp", "red-lamp", "Red lamp large", None, "Sofa", "red lamp"]
    answer = Answer("q", tuple(Hit(f"d{i}", title=t) for i, t in enumerate(titles)), 1.0)
    assert near_duplicates(answer, 10) == (("d0", "d1"), ("d0", "d5"), ("d1", "d5"))
    assert near_duplicates(answer, 5) == (("d0", "d1"),)


def test_nine_tenths_of_the_words_alike_is_nearly_the_same():
    ten = "a b c d e f g h i j"
    answer = Answer("q", (Hit("1", title=ten), Hit("2", title=ten.replace(" j", ""))), 1.0)
    assert near_duplicates(answer, 10) == (("1", "2"),)
    answer = Answer("q", (Hit("1", title=ten), Hit("2", title=ten.replace(" j", " k"))), 1.0)
    assert near_duplicates(answer, 10) == ()


def test_latency_is_of_answers_alone_and_a_changed_mind_is_told():
    answers = [
        *(Answer(f"q{i}", (), float(i), about={"index": "g1"}) for i in range(1, 101)),
        Answer("f", (), 9999.0, failure="slow", about={"index": "g2"}),
    ]
    assert latency_of(answers) == {"p50": 50.5, "p95": 95.05, "p99": 99.01}
    assert latency_of(answers[-1:]) is None
    assert about_of(answers) == {"index": "g1, g2"}


# --- the command


PRODUCTS = [
    {"id": "p1", "title": "red lamp", "brand": "acme"},
    {"id": "p2", "title": "red lamp", "brand": "zeta"},
    {"id": "p3", "title": "crimson light", "brand": "acme"},
]


def test_the_embedded_engine_filters_and_its_synonyms_are_a_stage(call, golden, engine, tmp_path):
    golden(
        [
            {"id": "q1", "text": "red", "judgments": [{"doc_id": "p3", "grade": 3}]},
            {"id": "q2", "text": "lamp", "filters": {"brand": "acme"}, "expect": "non-empty"},
            {"id": "q3", "text": "lamp", "filters": {"brand": "none"}, "expect": "empty"},
        ]
    )
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(p) + "\n" for p in PRODUCTS))
    (tmp_path / "s.txt").write_text("red => red, crimson\n")
    engine("""
    [engine]
    kind = "embedded"
    catalogue = "c.jsonl"
    [stages.rewriter.on]
    synonyms = "s.txt"
    [stages.rewriter.off]
    """)
    done = call("run", "--golden", "golden.json", "--engine", "engine.toml", "--out", "o", "--json")
    assert done.code == 0, done.err
    assert done.json["runs"][0]["near_duplicates"] == {"q1": [["p1", "p2"]]}
    artifact = json.loads((tmp_path / "o" / "relevance.json").read_text())
    on, off = ({q["id"]: q for q in run["per_query"]} for run in artifact["runs"])
    assert on["q1"]["ndcg"] > 0
    assert off["q1"]["ndcg"] == 0
    assert [q["held"] for q in on.values()] == [None, True, True]


MODULE = """
import os

def search(text, filters, stages):
    if text == "boom":
        raise ValueError("no such thing")
    return ["d1", "d2"]
"""


def test_a_callable_of_the_working_folder_is_replayed_and_replays_give_the_noise(
    call, golden, engine, tmp_path, monkeypatch
):
    golden([{"id": "q1", "text": "a", "judgments": [{"doc_id": "d2", "grade": 3}]}])
    (tmp_path / "mysearch.py").write_text(MODULE)
    monkeypatch.delitem(sys.modules, "mysearch", raising=False)
    engine('[engine]\nkind = "python"\ncallable = "mysearch:search"\n')
    done = call(
        "run", "--golden", "golden.json", "--engine", "engine.toml", "--out", "o", "--repeat", "3"
    )
    assert done.code == 0, done.err
    replays = [f"o/{i}/relevance.json" for i in (1, 2, 3)]
    done = call("baseline", "noise", *replays, "--json")
    assert (done.code, done.json["replays"], done.json["floor"]["ndcg"]) == (0, 3, 0)


def test_a_callable_that_raises_is_a_failed_query(call, golden, engine, tmp_path, monkeypatch):
    golden([{"id": "q1", "text": "boom"}, {"id": "q2", "text": "fine"}])
    (tmp_path / "mysearch.py").write_text(MODULE)
    monkeypatch.delitem(sys.modules, "mysearch", raising=False)
    engine('[engine]\nkind = "python"\ncallable = "mysearch:search"\n')
    done = call("run", "--golden", "golden.json", "--engine", "engine.toml", "--out", "o")
    assert (done.code, "failed: q1 (as is): ValueError: no such thing" in done.out) == (6, True)
