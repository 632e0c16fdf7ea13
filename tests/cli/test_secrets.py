"""A key in the environment appears in no output, file or cache, whatever a server says back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SHAPED = "sk-test-9Zq4Wm7Lp2Xv8Rt3Yb6Nc1Kd5Hf0"
SHAPELESS = "plumage.of.a.heron/4711"  # looks like no key: only the environment tells
KEYS = {"sk shape": SHAPED, "no shape": SHAPELESS}


def everything(folder: Path) -> dict[str, bytes]:
    """All bytes of all files below `folder`, names included."""
    return {
        str(path): path.read_bytes() + str(path).encode()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def assert_nowhere(key: str, done, folder: Path) -> None:
    assert key not in done.out
    assert key not in done.err
    leaks = [name for name, data in everything(folder).items() if key.encode() in data]
    assert leaks == []


def graded(reason: str) -> dict[str, object]:
    """An OpenAI chat completion that grades ten documents E."""
    rows = [{"id": str(i), "esci": "E", "reason": reason} for i in range(1, 11)]
    return {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [
            {
                "index": 0, "finish_reason": "stop",
                "message": {"role": "assistant", "content": json.dumps({"grades": rows})},
            }
        ],
    }  # fmt: skip


def compatible(server) -> tuple[str, str]:
    return ("--judge", f"compatible:m-1@{server.url}/v1")


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("status", [400, 401])
def test_a_server_that_says_the_key_back_leaks_it_nowhere(  # noqa: PLR0917 - fixtures
    call, shop, server, monkeypatch, kind, status
):
    key = KEYS[kind]
    monkeypatch.setenv("OPENAI_API_KEY", key)
    server.status = status
    server.body = {"error": {"message": f"Incorrect API key provided: {key}. key={key}"}}
    done = call(*shop.review(*compatible(server), "--out", "report", judge=None), "--fill")
    assert done.code == 4
    assert server.seen[0]["authorization"] == f"Bearer {key}"  # it is in use
    assert "Incorrect API key provided: ***" in done.err
    assert (shop.folder / "report/judgments.jsonl").is_file()
    assert (shop.folder / ".relgate/cache").is_dir()
    assert_nowhere(key, done, shop.folder)


def test_a_process_leaks_no_key_either(process, shop, server):
    server.status = 401
    server.body = {"error": {"message": f"no such key {SHAPELESS}", "type": SHAPELESS}}
    done = process(
        "fill", "--run", "after.jsonl", "--judgments", "judgments.csv", "--catalogue",
        "catalogue.jsonl", "--out", "filled.jsonl", "--json", *compatible(server),
        env={"OPENAI_API_KEY": SHAPELESS},
    )  # fmt: skip
    assert done.code == 6
    assert done.json["graded"] == 0
    assert len(server.seen) > 0
    assert_nowhere(SHAPELESS, done, shop.folder)


def test_gemini_that_says_the_key_back_leaks_it_nowhere(call, shop, server, monkeypatch):
    key = "AIzaSyTest-0123456789abcdefghijklmnopqr"
    monkeypatch.setenv("GOOGLE_API_KEY", key)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
    server.status = 400
    server.body = {
        "error": {"code": 400, "status": "INVALID_ARGUMENT", "message": f"API key {key} not valid"}
    }
    words = shop.review("--judge", "gemini:gemini-2.0-flash", "--fill", judge=None)
    done = call(*words, "--out", "report")
    assert done.code == 4
    assert server.seen[0]["x-goog-api-key"] == key
    assert_nowhere(key, done, shop.folder)


@pytest.mark.parametrize("command", ["calibrate", "judge", "rerank"])
def test_the_other_commands_leak_no_key(call, shop, server, monkeypatch, command):
    monkeypatch.setenv("OPENAI_API_KEY", SHAPELESS)
    server.status = 401
    server.body = {"error": {"message": f"bad key {SHAPELESS}"}}
    words = {
        "calibrate": ["--human", "judgments.csv", "--catalogue", "catalogue.jsonl"],
        "judge": ["a query", "--text", "a text"],
        "rerank": [
            "--run", "before.jsonl", "--catalogue", "catalogue.jsonl", "--out", "new.jsonl",
        ],
    }[command]  # fmt: skip
    done = call(command, *words, *compatible(server))
    assert done.code == 6
    assert "bad key ***" in done.err
    assert_nowhere(SHAPELESS, done, shop.folder)


def test_a_function_of_the_users_own_that_raises_with_the_key_leaks_it_nowhere(
    call, shop, monkeypatch
):
    monkeypatch.setenv("ACME_API_TOKEN", SHAPELESS)
    path = shop.folder / f"{shop.module}.py"
    path.write_text(
        path.read_text(encoding="utf-8").replace(
            '"the model is down"', '"401 for token " + os.environ["ACME_API_TOKEN"]'
        ),
        encoding="utf-8",
    )
    done = call(*shop.review("--out", "report", judge="broken"))
    assert done.code == 4
    assert "401 for token ***" in done.err
    path.unlink()
    assert_nowhere(SHAPELESS, done, shop.folder)


def test_an_address_with_a_password_is_refused_and_not_shown(call, shop):
    done = call(
        *shop.review(judge=None), "--fill", "--quiet",
        "--judge", "compatible:m@http://user:hunter2secret@127.0.0.1:9/v1",
    )  # fmt: skip
    assert done.code == 2
    assert "no credentials" in done.complaint
    assert "hunter2secret" not in done.err


def test_a_grade_whose_reason_says_the_key_leaks_it_nowhere(call, shop, server, monkeypatch):
    """A proxy that writes its headers into the answer: the grade is good, the key must go."""
    monkeypatch.setenv("OPENAI_API_KEY", SHAPELESS)
    server.body = graded(f"as asked with {SHAPELESS}")
    done = call(*shop.review(*compatible(server), "--out", "report", judge=None), "--fill")
    assert done.code in {0, 1}
    assert_nowhere(SHAPELESS, done, shop.folder)
