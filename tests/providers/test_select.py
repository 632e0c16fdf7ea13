"""A judge's name is one of seven forms, and leads to a working `generate` or `decide`."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from relgate.judge.providers.gemini_client import GeminiGenerate
from relgate.judge.providers.gemini_decisions import GeminiDecide
from relgate.judge.providers.openai_client import OpenAIGenerate
from relgate.judge.providers.openai_decisions import OpenAIDecide
from relgate.judge.providers.select import (
    JUDGE_FORMS,
    JudgeSpec,
    decide_for,
    generate_for,
    parse_judge_spec,
)
from relgate.rubrics.errors import ProviderUnavailableError, RelgateError, UsageError


@pytest.fixture
def user_folder(tmp_path, monkeypatch):
    """The user's current directory; what it adds to the import path and modules is undone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("baseline", JudgeSpec("baseline")),
        ("openai:gpt-x", JudgeSpec("openai", model="gpt-x")),
        ("openai:ft:gpt-x:acme::1", JudgeSpec("openai", model="ft:gpt-x:acme::1")),
        ("gemini:models/g-1", JudgeSpec("gemini", model="models/g-1")),
        ("openai-decisions:gpt-x", JudgeSpec("openai-decisions", model="gpt-x")),
        ("gemini-decisions:g-1", JudgeSpec("gemini-decisions", model="g-1")),
        (
            "compatible:qwen2.5:7b@http://localhost:11434/v1",
            JudgeSpec("compatible", model="qwen2.5:7b", base_url="http://localhost:11434/v1"),
        ),
        (
            "compatible:@cf/meta/llama@https://h.example/v1",
            JudgeSpec("compatible", model="@cf/meta/llama", base_url="https://h.example/v1"),
        ),
        ("python:my.judge:grade", JudgeSpec("python", module="my.judge", function="grade")),
    ],
)
def test_each_form_is_read_and_written_back(text, spec):
    assert parse_judge_spec(text) == spec
    assert str(spec) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gpt-x",
        "openai",
        "openai:",
        "openai:two words",
        "openai-decisions:",
        "decisions:gpt-x",
        "OpenAI:gpt-x",
        "baseline:x",
        "compatible:m",
        "compatible:m@localhost:11434",
        "compatible:@http://h/v1",
        "python:module",
        "python:module:",
        "python:a/b.py:f",
        "anthropic:claude",
    ],
)
def test_another_form_is_refused_in_one_line_that_names_them_all(text):
    with pytest.raises(UsageError) as caught:
        parse_judge_spec(text)
    assert all(form in str(caught.value) for form in JUDGE_FORMS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "compatible:m@https://me:hunter2hunter2@h/v1",
        "compatible:m@https://h/v1?key=hunter2hunter2",
        "openai:m key=hunter2hunter2",
    ],
)
def test_a_key_within_a_name_is_refused_and_not_repeated(text):
    with pytest.raises(UsageError) as caught:
        parse_judge_spec(text)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://h:99999/v1", "http://[::1/v1", "http:///v1"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(UsageError, match="no URL"):
        parse_judge_spec(f"compatible:m@{url}")


def test_openai_and_gemini_lead_to_their_adapters(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    monkeypatch.setenv("GEMINI_API_KEY", "AIza0123456789abcdef")
    assert isinstance(generate_for(JudgeSpec("openai", model="m")), OpenAIGenerate)
    assert isinstance(generate_for(JudgeSpec("gemini", model="m")), GeminiGenerate)


def test_the_decisions_forms_lead_to_their_adapters(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    monkeypatch.setenv("GEMINI_API_KEY", "AIza0123456789abcdef")
    assert isinstance(decide_for(JudgeSpec("openai-decisions", model="m")), OpenAIDecide)
    assert isinstance(decide_for(JudgeSpec("gemini-decisions", model="m")), GeminiDecide)


@pytest.mark.parametrize("kind", ["openai-decisions", "gemini-decisions"])
def test_a_decisions_judge_has_no_words_and_needs_its_key(kind):
    with pytest.raises(UsageError, match="probabilities"):
        generate_for(JudgeSpec(kind, model="m"))
    with pytest.raises(ProviderUnavailableError, match="API_KEY"):
        decide_for(JudgeSpec(kind, model="m"))


@pytest.mark.parametrize("text", ["baseline", "openai:m", "gemini:m", "python:m:f"])
def test_any_other_judge_has_no_probabilities(text):
    with pytest.raises(UsageError, match="in words"):
        decide_for(parse_judge_spec(text))


@pytest.mark.parametrize("kind", ["openai", "gemini"])
def test_without_a_key_there_is_no_adapter(kind):
    with pytest.raises(ProviderUnavailableError, match="API_KEY"):
        generate_for(JudgeSpec(kind, model="m"))


def test_a_compatible_endpoint_is_called_at_its_url(peer, wire):
    peer.says(wire.chat())
    generate = generate_for(parse_judge_spec(f"compatible:m@{peer.url}/v1"))
    assert asyncio.run(generate(wire.request())).text == '{"grades":[]}'
    assert peer.seen[0].path == "/v1/chat/completions"


def test_the_baseline_calls_no_model():
    with pytest.raises(UsageError, match="baseline"):
        generate_for(JudgeSpec("baseline"))


def test_a_function_in_the_current_directory_is_found(user_folder, wire):
    (user_folder / "mine_ok.py").write_text("def grade(request):\n    return request.prompt\n")
    generate = generate_for(parse_judge_spec("python:mine_ok:grade"))
    assert generate(wire.request()) == "Shopper query: red shoe"


def test_a_function_in_a_package_of_the_current_directory_is_found(user_folder, wire):
    (user_folder / "mine_pkg").mkdir()
    (user_folder / "mine_pkg" / "inner.py").write_text("def grade(request):\n    return 'x'\n")
    assert generate_for(parse_judge_spec("python:mine_pkg.inner:grade"))(wire.request()) == "x"


@pytest.mark.parametrize(
    ("source", "name", "said"),
    [
        (None, "mine_absent:grade", "no module 'mine_absent'"),
        (None, "mine_absent.inner:grade", "no module 'mine_absent'"),
        ("def grade(r): ...", "mine_bad1:grad", "did you mean 'grade'"),
        ("grade = 3", "mine_bad2:grade", "is a int, not a function"),
        ("import not_there_at_all", "mine_bad3:grade", "needs 'not_there_at_all'"),
        ("def grade(:", "mine_bad4:grade", "SyntaxError"),
        ("1 / 0", "mine_bad5:grade", "ZeroDivisionError"),
        ("raise SystemExit(3)", "mine_bad6:grade", "SystemExit"),
        ("raise ValueError('key=hunter2hunter2')", "mine_bad7:grade", "ValueError: key=***"),
    ],
)
def test_a_module_or_function_that_cannot_be_used_is_one_line(user_folder, source, name, said):
    if source is not None:
        (user_folder / f"{name.split(':')[0]}.py").write_text(source)
    with pytest.raises(UsageError) as caught:
        generate_for(parse_judge_spec(f"python:{name}"))
    message = str(caught.value)
    assert said in message
    assert message.startswith(f"python:{name}: ")
    assert "\n" not in message
    assert isinstance(caught.value, RelgateError)


def test_naming_a_judge_loads_no_sdk():
    code = (
        "import sys; import relgate.judge.providers.select as s; s.parse_judge_spec('openai:m');"
        "import relgate.judge.redact;"
        "print([m for m in ('openai', 'google.genai', 'httpx2', 'pydantic') if m in sys.modules])"
    )
    shown = subprocess.run(  # noqa: S603 - this interpreter, a text of ours
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "[]"
