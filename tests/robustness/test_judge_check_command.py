"""`relgate judge-check` as a process: a planted fault breaks a limit, a clean judge does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

MODULE = '''\
"""Judges that read the class out of the text; some with a fault."""

import json
import re
from pathlib import Path

CALLS = Path(__file__).with_name("calls.txt")


def rows(request):
    with CALLS.open("a") as file:
        file.write("call\\n")
    query = re.search(r"^Shopper query: (.*)$", request.prompt, re.M)[1]
    for ref, text in re.findall(r"^(\\d+)\\. (.*)$", request.prompt, re.M):
        label = re.search(r"for (.*?) class ([ESCI])", text)
        yield query, text, {
            "id": ref,
            "esci": label[2] if label and label[1] == query else "I",
            "reason": "as its text says",
        }


def reply(found):
    return json.dumps({"grades": found})


def clean(request):
    return reply([row for _, _, row in rows(request)])


def first(request):
    found = [row for _, _, row in rows(request)]
    if len(found) > 1:
        found[0]["esci"] = "E"
    return reply(found)


def gullible(request):
    return reply([
        {**row, "esci": "E"} if text.count(query) > 1 else row for query, text, row in rows(request)
    ])


def broken(request):
    list(rows(request))
    raise RuntimeError("the model is down")
'''


@pytest.fixture
def check(tmp_path: Path, process):
    """Runs the command in a small shop of 12 queries, 10 labelled documents each."""
    names = ("alpha", "bravo", "cedar", "delta", "ember", "fable",
             "gamma", "hazel", "ivory", "jolly", "karma", "lemon")  # fmt: skip
    judged, products = ["query,doc_id,grade"], []
    for name in names:
        for i in range(10):
            grade = i % 4
            judged.append(f"{name} lamp,{name}{i},{grade}")
            products.append(
                {"id": f"{name}{i}", "text": f"thing {i} for {name} lamp class {'ICSE'[grade]}"}
            )
    products += [{"id": f"x{i}", "text": f"pot number {i}"} for i in range(60)]
    (tmp_path / "judgments.csv").write_text("\n".join(judged) + "\n", encoding="utf-8")
    lines = "".join(json.dumps(product) + "\n" for product in products)
    (tmp_path / "catalogue.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "scripted_check.py").write_text(MODULE, encoding="utf-8")

    def check(judge: str, *more: str):
        name = judge if judge == "baseline" else f"python:scripted_check:{judge}"
        return process(
            "judge-check", "--judge", name,
            "--judgments", "judgments.csv", "--judgments-source", "human",
            "--catalogue", "catalogue.jsonl", *more,
            env={"PYTHONPATH": str(tmp_path), "NO_COLOR": "1"},
            cwd=tmp_path,
        )  # fmt: skip

    return check


def calls(folder: Path) -> int:
    path = folder / "calls.txt"
    return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0


def test_a_clean_judge_is_within_all_limits_and_the_plan_was_exact(check, tmp_path):
    done = check("clean", "--texts", "80", "--out", "report", "--json")
    assert done.code == 0, done.err
    found = done.json
    assert found["verdict"] == "within"
    for name in ("positions", "repeats", "batch_size"):
        assert (found[name]["verdict"], found[name]["rate"]["point"]) == ("within", 0)
    assert {row["kind"]: row["rate"]["point"] for row in found["attacks"]["rows"]} == dict.fromkeys(
        ["keyword-stuffing", "query-in-text", "instruction", "fake-json", "delimiter",
         "label-request", "zero-width", "tag-characters"], 0
    )  # fmt: skip
    assert {row["rate"]["n"] for row in found["attacks"]["rows"]} == {80}
    assert max(row["rate"]["high"] for row in found["attacks"]["rows"]) < 0.05
    assert found["plan"]["calls"] == calls(tmp_path)
    assert f"plan: {calls(tmp_path):,} calls" in done.err
    assert json.loads((tmp_path / "report/judge-check.json").read_text("utf-8")) == found
    page = (tmp_path / "report/judge-check.md").read_text("utf-8")
    assert page.startswith("# Judge check: within\n")
    assert "| Attack: keyword-stuffing | 0.0 % |" in page


def test_a_judge_that_prefers_the_first_place_is_flagged(check, tmp_path):
    done = check("first", "--texts", "5", "--out", "report")
    assert done.code == 1
    assert "Verdict: flagged" in done.out
    assert "grades depart most at position 1" in done.out
    found = json.loads((tmp_path / "report/judge-check.json").read_text("utf-8"))
    assert found["positions"]["verdict"] == "flagged"
    assert found["positions"]["stands_out"] == 1
    assert found["repeats"]["verdict"] == "within"
    assert "## By position" in (tmp_path / "report/judge-check.md").read_text("utf-8")


def test_a_gullible_judge_is_flagged_for_query_words_only(check):
    # Case T01.
    done = check("gullible", "--items", "20", "--json")
    assert done.code == 1
    found = done.json
    assert found["positions"]["verdict"] == found["repeats"]["verdict"] == "within"
    rates = {row["kind"]: row["rate"]["point"] for row in found["attacks"]["rows"]}
    assert {kind for kind, rate in rates.items() if rate} == {"keyword-stuffing", "query-in-text"}
    assert rates["keyword-stuffing"] == rates["query-in-text"] == 1


def test_a_judge_that_is_down_measures_nothing(check, tmp_path):
    done = check("broken", "--out", "report")
    assert done.code == 6
    assert "no grade at all" in done.err
    assert "the model is down" in done.err
    assert "Traceback" not in done.err
    assert len(done.err.splitlines()) < 15
    assert not (tmp_path / "report").exists()


def test_a_dry_run_asks_nothing(check, tmp_path):
    done = check("clean", "--dry-run", "--json")
    assert done.code == 0
    assert done.json["plan"]["calls"] > 200
    assert calls(tmp_path) == 0


def test_the_baseline_is_checked_where_a_check_applies(check):
    done = check("baseline", "--texts", "10", "--items", "20", "--json")
    assert done.code in {0, 1}, done.err
    found = done.json
    assert found["positions"] is None
    assert found["batch_size"] is None
    assert set(found["not_applied"]) == {"positions", "batch_size"}
    assert found["repeats"]["rate"]["point"] == 0
    assert len(found["attacks"]["rows"]) == 8
    assert found["plan"] is None


def test_a_judge_that_is_not_there_is_a_users_mistake_without_a_traceback(check):
    done = check("no_such")
    assert done.code == 2
    assert "Traceback" not in done.err
