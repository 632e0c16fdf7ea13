"""Any JSON search by template: filters, locale, stages, caches, secrets."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from relgate.eval.harness.config import read_engine
from relgate.eval.harness.template import fill, fill_text, merged
from relgate.eval.harness.types import Call
from relgate.rubrics.errors import InputError

QUERIES = [
    {
        "id": "q1",
        "text": 'lamp "x" {y}',
        "locale": "de-DE",
        "filters": {"brand": "acme", "size": [1, 2]},
        "judgments": [{"doc_id": "7", "grade": 3}],
    },
    {"id": "q2", "text": "sofa", "judgments": [{"doc_id": "p1", "grade": 2}]},
]

ENGINE = """
    warm_up = 0
    [engine]
    kind = "http"
    url = "{url}/search/{{surface}}?raw={{text}}"
    params = {{ lang = "{{locale}}", tag = "v-{{seed}}" }}
    headers = {{ authorization = "Bearer ${{SEARCH_TOKEN}}", accept-language = "{{locale}}" }}
    body = {{ q = "{{text}}", filters = "{{filters}}", n = "{{size}}", note = "{{{{x}}}} {{text}}"}}
    hits = "result.items"
    id = "doc.key"
    score = "s"
    title = "doc.name"
    about = {{ index = "meta.generation", rewriter = "meta.rewriter" }}
    [engine.bypass]
    headers = {{ cache-control = "no-cache" }}
    [stages.rewriter.on]
    body = {{ options = {{ rewrite = true }} }}
    [stages.rewriter.off]
    body = {{ options = {{ rewrite = false }} }}
    [stages.reranker.on]
    params = {{ rerank = "1" }}
    body = {{ options = {{ depth = 50 }} }}
    [stages.reranker.off]
"""


@pytest.fixture
def ready(search, golden, engine, monkeypatch):
    monkeypatch.setenv("SEARCH_TOKEN", "sk-secret-abcdefghijklmnop")
    golden(QUERIES)
    engine(ENGINE.format(url=search.url))
    search.answer = lambda _: {
        "result": {"items": [{"doc": {"key": 7, "name": "Lamp"}, "s": 1.5}]},
        "meta": {"generation": "g-12", "rewriter": "rw-3"},
    }
    return search


def _run(call, *more):
    return call("run", "--golden", "golden.json", "--engine", "engine.toml", "--out", "o", *more)


def test_every_combination_of_the_stages_is_run(call, ready, tmp_path):
    assert _run(call).code == 0
    artifact = json.loads((tmp_path / "o" / "relevance.json").read_text())
    assert [run["stages"] for run in artifact["runs"]] == [
        {"rewriter": "on", "reranker": "on"},
        {"rewriter": "on", "reranker": "off"},
        {"rewriter": "off", "reranker": "on"},
        {"rewriter": "off", "reranker": "off"},
    ]
    asked = [(a["body"]["options"], "rerank=1" in a["path"]) for a in ready.asked]
    assert asked.count(({"rewrite": True, "depth": 50}, True)) == 2
    assert asked.count(({"rewrite": False}, False)) == 2
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == [
        "relevance.json",
        "run-reranker-off_rewriter-off.jsonl",
        "run-reranker-off_rewriter-on.jsonl",
        "run-reranker-on_rewriter-off.jsonl",
        "run-reranker-on_rewriter-on.jsonl",
        "run.json",
    ]
    assert artifact["about"]["index"] == "g-12"
    assert artifact["about"]["rewriter"] == "rw-3"


def test_a_stage_can_be_pinned_and_an_unknown_one_is_refused(call, ready):
    assert _run(call, "--stage", "rewriter=on").code == 0
    assert len(ready.asked) == 4
    done = _run(call, "--stage", "rewriter=maybe")
    assert (done.code, "known are rewriter=on, rewriter=off, reranker=on" in done.err) == (2, True)


def test_the_query_goes_where_the_template_says_and_what_is_unknown_stays_out(call, ready):
    assert _run(call, "--stage", "rewriter=on", "--stage", "reranker=off").code == 0
    first, second = sorted(ready.asked, key=lambda asked: asked["body"]["q"], reverse=False)
    assert first["body"] == {
        "q": 'lamp "x" {y}',
        "filters": {"brand": "acme", "size": [1, 2]},
        "n": 20,
        "note": '{x} lamp "x" {y}',
        "options": {"rewrite": True},
    }
    assert parse_qs(urlsplit(first["path"]).query)["raw"] == [QUERIES[0]["text"]]
    assert "lang=de-DE" in first["path"]
    assert "tag=v-0" in first["path"]
    assert first["headers"]["accept-language"] == "de-DE"
    assert first["headers"]["cache-control"] == "no-cache"
    assert "filters" not in second["body"]
    assert "lang=" not in second["path"]
    assert second["headers"].get("accept-language") != "None"


def test_caches_are_used_when_asked_and_the_artifact_says_so(call, ready, tmp_path):
    assert _run(call, "--with-caches", "--stage", "rewriter=on").code == 0
    assert all("cache-control" not in asked["headers"] for asked in ready.asked)
    artifact = json.loads((tmp_path / "o" / "relevance.json").read_text())
    assert artifact["settings"] == {"caches": "used"}


def test_secrets_come_from_the_environment_and_go_nowhere_else(call, ready, tmp_path):
    done = _run(call)
    assert all(a["headers"]["authorization"].endswith("abcdefghijklmnop") for a in ready.asked)
    ready.answer = lambda asked: {"error": asked["headers"]["authorization"]}
    failed = _run(call, "--fresh")
    assert failed.code == 6
    written = "".join(p.read_text() for p in (tmp_path / "o").iterdir())
    said = done.out + done.err + failed.out + failed.err + written
    assert "sk-secret-abcdefghijklmnop" not in said


def test_a_missing_variable_is_named_before_anything_is_asked(call, ready, monkeypatch):
    monkeypatch.delenv("SEARCH_TOKEN")
    done = _run(call)
    assert (done.code, ready.asked) == (2, [])
    assert "the environment has no SEARCH_TOKEN; export SEARCH_TOKEN=..." in done.err


@pytest.mark.usefixtures("ready")
def test_numbers_as_ids_are_text(call, tmp_path):
    assert _run(call, "--stage", "rewriter=on", "--stage", "reranker=on").code == 0
    rows = (tmp_path / "o" / "run-reranker-on_rewriter-on.jsonl").read_text().splitlines()
    assert json.loads(rows[0])["docs"] == [{"id": "7", "score": 1.5, "title": "Lamp"}]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"result": {}}, "the answer has null, not a list, at 'result.items'"),
        ({"result": {"items": [{"doc": {}}]}}, "hit 1 has no id at 'doc.key'"),
        ([], "the answer has null, not a list"),
    ],
)
def test_an_answer_of_another_shape_is_a_failure_with_its_path(call, ready, answer, said):
    ready.answer = lambda _: answer
    done = _run(call, "--stage", "rewriter=on", "--stage", "reranker=on")
    assert (done.code, said in done.out) == (6, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[engine]\nkind = 'solr'\n", "engine.kind: Input should be"),
        ("[engine]\nkind = 'http'\nurll = 'x'\n", "unknown key 'engine.urll'"),
        ("[engine]\nkind = 'http'\nurl = '{txt}'\n", "engine.url: no placeholder {txt}"),
        ("[engine]\nkind='http'\n[stages.a.on]\nbody={x='{y}'}\n", "stages.a.on.body.x: no placeh"),
        ("concurrency = 0\n[engine]\nkind = 'http'\n", "concurrency: Input should be greater"),
        ("[engine\n", "engine.toml:1: not TOML"),
    ],
)
def test_a_faulty_description_is_refused(engine, text, said):
    with pytest.raises(InputError) as refused:
        read_engine(engine(text))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[engine]\nkind = 'http'\n", "the engine has no url"),
        ("[engine]\nkind = 'elasticsearch'\nurl = 'http://127.0.0.1:1'\n", "needs index"),
        ("[engine]\nkind = 'python'\n", "needs callable"),
        ("[engine]\nkind = 'embedded'\n", "needs catalogue"),
        ("[engine]\nkind = 'python'\ncallable = 'nope:f'\n", "cannot be imported"),
        ("[engine]\nkind = 'python'\ncallable = 'json:nope'\n", "cannot be imported"),
        ("[engine]\nkind = 'python'\ncallable = 'json'\n", "write module:function"),
    ],
)
def test_a_key_that_the_kind_needs_is_asked_for(call, golden, engine, text, said):
    golden(QUERIES)
    engine(text)
    done = _run(call)
    assert (done.code, said in done.complaint) == (2, True)


CALL = Call("q", "a {b}", 5, {"x": ("1", 2)}, locale=None, seed=3)


def test_a_whole_placeholder_keeps_its_kind_and_an_unknown_value_takes_its_key_with_it():
    template = {"n": "{size}", "f": "{filters}", "l": "{locale}", "list": ["{locale}", "{seed}"]}
    assert fill(template, CALL) == {"n": 5, "f": {"x": ["1", 2]}, "list": [3]}
    assert fill("{filters:terms}", CALL) == [{"terms": {"x": ["1", 2]}}]
    assert fill_text("q={text}&l={locale}&{{}}", CALL) == "q=a {b}&l=&{}"


def test_stages_are_merged_key_by_key():
    base = {"a": {"b": 1, "c": 2}, "d": [1]}
    assert merged(base, {"a": {"c": 3}, "d": [2]}) == {"a": {"b": 1, "c": 3}, "d": [2]}
    assert base == {"a": {"b": 1, "c": 2}, "d": [1]}
