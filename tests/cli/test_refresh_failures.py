"""`relgate refresh` where something fails or is refused, and its report."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from refreshing import N, renew, rows_of, words

from relgate.cache import open_store

# --- failures


def test_a_failed_grade_keeps_the_old_judgment_marked_stale_and_is_counted(call, judged):
    renew(judged, ["n0-0"])
    judged.texts["n1-0"] = "a text in which the judge finds nothing"
    judged.write()
    done = call(*words(judged, "--json"))
    assert done.code == 0
    assert (done.json["asked"], done.json["graded"]) == (2, 1)
    assert sum(done.json["errors"].values()) == 1
    assert done.json["still_stale"] == [
        {
            "query_id": "query 1", "query": "query 1", "doc_id": "n1-0", "grade": 3,
            "why": ["text-changed"],
        }
    ]  # fmt: skip
    kept = {r.doc_id: r for r in rows_of("new.jsonl")}["n1-0"]
    assert kept == {r.doc_id: r for r in rows_of("old.jsonl")}["n1-0"]
    again = call(
        "refresh", "--judgments", "new.jsonl", "--catalogue", "catalogue.jsonl",
        "--judge", judged.judge(), "--out", "newer.jsonl", "--dry-run", "--json",
    )  # fmt: skip
    assert again.json["states"]["judge"]["stale"] == 1


def test_when_every_grade_fails_the_exit_code_is_6_and_no_grade_is_lost(call, judged, plant):
    renew(judged, ["n0-0", "n1-0"])
    plant(
        {r.doc_id for r in rows_of("old.jsonl") if r.doc_id[0] == "n"} - {"n0-0", "n1-0"},
        source="human",
    )
    done = call(*words(judged, "--json", judge="broken"))
    assert done.code == 6
    assert (done.json["graded"], len(done.json["still_stale"])) == (0, 2)
    assert rows_of("new.jsonl") == rows_of("old.jsonl")


def test_a_budget_stops_resumably(call, judged):
    renew(judged, [f"n{i}-0" for i in range(N)])
    done = call(*words(judged, "--max-calls", "2", "--json"))
    assert (done.json["graded"], done.json["not_asked"], judged.calls) == (2, N - 2, 2)
    assert len(done.json["still_stale"]) == N - 2
    done = call(*words(judged, "--json"))
    assert (done.json["graded"], done.json["cached"], judged.calls) == (N, 2, N)


SLOW = """

def slow(request):
    import time
    query = re.search(r"Shopper query: (.*)", request.prompt)[1]
    with (HERE / "begun.txt").open("a") as file:
        file.write(query + "\\n")
    if len((HERE / "begun.txt").read_text().splitlines()) == 4:
        time.sleep(60)
    return grade(request)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_second_run_after_a_kill_asks_for_nothing_that_was_graded(judged, how):
    with (judged.folder / f"{judged.module}.py").open("a") as file:
        file.write(SLOW)
    (judged.folder / "relgate.toml").write_text("concurrency = 1\n")
    # an edited function is another judge: all is stale, and no row of the cache serves
    paid = stored(judged)
    begun, calls = judged.folder / "begun.txt", judged.folder / "calls.txt"
    command = [
        sys.executable, "-m", "relgate.eval", *words(judged, "--json", judge="slow"),
    ]  # fmt: skip
    env = {**os.environ, "PYTHONPATH": str(judged.folder)}
    first = subprocess.Popen(  # noqa: S603 - our own interpreter
        command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: begun.exists() and len(begun.read_text().splitlines()) == 4)
        wait_for(lambda: stored(judged) == paid + 6 * 3)
        first.send_signal(how)
        first.wait(10)
    finally:
        first.kill()
        first.wait()
    assert not (judged.folder / "new.jsonl").exists()
    graded = begun.read_text().splitlines()[:3]
    assert len(calls.read_text().splitlines()) == 3
    done = subprocess.run(  # noqa: S603 - likewise
        command, env=env, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    again = begun.read_text().splitlines()[4:]
    assert (len(again), said["calls"]) == (N - 3, N - 3)
    assert set(again).isdisjoint(graded)
    assert (said["graded"], said["cached"]) == (6 * N, 6 * 3)
    left = [p.name for p in judged.folder.rglob("*.tmp")]
    assert left == []


def stored(shop):
    """Grades in the cache, other processes' too."""
    store = open_store(shop.folder / ".relgate" / "cache")
    try:
        return sum(row is not None for row in store.scan())
    finally:
        store.close()


def wait_for(ready):
    end = time.monotonic() + 20
    while not ready():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


# --- what is refused


@pytest.mark.parametrize("out", ["old.jsonl", "catalogue.jsonl"])
def test_an_input_is_never_written_over(call, judged, out):
    done = call(*words(judged, "--quiet", out=out))
    assert done.code == 2
    assert "it is an input" in done.complaint


def test_a_judge_of_another_scale_is_refused_before_any_call(call, judged):
    done = call(*words(judged, "--quiet", "--scale", "0-4"))
    assert done.code == 2
    assert "rubric esci-v1 grades 0 to 3" in done.complaint
    assert judged.calls == 0


def test_a_judge_of_the_pipelines_family_is_refused(call, judged):
    done = call(*words(judged, "--quiet", "--system-model", "gpt-4.1", "--judge-family", "openai"))
    assert done.code == 5
    assert judged.calls == 0


def test_a_list_without_a_judges_grades_needs_no_judge(call, judged, plant):
    plant({r.doc_id for r in rows_of("old.jsonl")}, source="human")
    renew(judged, ["n0-0"])
    done = call(
        "refresh", "--judgments", "old.jsonl", "--catalogue", "catalogue.jsonl",
        "--out", "new.jsonl", "--json",
    )  # fmt: skip
    assert (done.code, done.json["for_people"], done.json["calls"]) == (0, 1, None)


@pytest.mark.usefixtures("judged")
def test_a_list_with_a_judges_grades_needs_one(call):
    done = call(
        "refresh", "--judgments", "old.jsonl", "--catalogue", "catalogue.jsonl",
        "--out", "new.jsonl", "--quiet",
    )  # fmt: skip
    assert done.code == 2
    assert "--judge" in done.complaint


# --- the report


def test_the_report_says_how_far_a_run_moves_by_its_labels_alone(call, judged):
    renew(judged, ["n0-0", "n0-1"])  # grade 3 -> 0, at ranks 1 and 2 of the after side
    done = call(*words(judged, "--run", "after.jsonl", "--run", "before.jsonl", "--json"))
    by_name = {run["name"]: run for run in done.json["runs"]}
    before = call("score", "--judgments", "old.jsonl", "--run", "after.jsonl", "--json").json
    after = call("score", "--judgments", "new.jsonl", "--run", "after.jsonl", "--json").json
    old, new = (said["runs"][0]["means"]["ndcg"]["value"] for said in (before, after))
    run = by_name["after.jsonl"]
    assert (run["old"]["value"], run["new"]["value"]) == (old, new)
    assert run["delta"] == pytest.approx(new - old, abs=2e-6)
    assert run["delta"] < 0
    assert [q["id"] for q in run["queries"]] == ["query 0"]
    # the before side lacks both documents; its ideal falls, so its NDCG rises
    assert by_name["before.jsonl"]["delta"] > 0
    text = (judged.folder / "new.refresh" / "refresh.md").read_text("utf-8")
    shown = re.search(r"\| after\.jsonl \|.*\| ([+-][0-9.]+) \| 6 \|", text)
    assert float(shown[1]) == pytest.approx(run["delta"], abs=1e-4)
    assert json.loads((judged.folder / "new.refresh" / "refresh.json").read_text()) == done.json


def test_a_report_names_no_rater(call, judged, plant):
    plant(["h0-3"], rater="ada@example.org")
    renew(judged, ["h0-3"])
    call(*words(judged))
    for name in ("refresh.json", "refresh.md", "for-people.csv"):
        assert "ada@" not in (judged.folder / "new.refresh" / name).read_text("utf-8")
    assert "ada@" in (judged.folder / "new.jsonl").read_text("utf-8")
