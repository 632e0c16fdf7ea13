"""A failed grade is no grade: not in a list, not in the cache, and too many give no verdict."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from relgate.cache.guard import FILE_NAME
from relgate.cache.report import cache_stats

CACHE = Path(".relgate/cache")


def cached_rows(folder: Path) -> int:
    """Rows of the cache as SQLite itself counts them, and as relgate does."""
    with closing(sqlite3.connect(folder / CACHE / FILE_NAME)) as base:
        (rows,) = base.execute("select count(*) from Cache").fetchone()
    assert cache_stats(folder / CACHE).rows == rows
    return rows


def test_a_judge_whose_calls_all_fail_grades_nothing_and_caches_nothing(call, shop, read_jsonl):
    done = call(*shop.fill("--json", judge="broken"))
    assert done.code == 6
    assert shop.calls > 0
    report = done.json
    assert report["graded"] == 0
    assert report["error_rate"] == 1.0
    assert sum(report["errors"].values()) == report["asked"] > 0
    assert report["asked"] + report["not_asked"] == shop.new  # 20 failures in a row stop the run
    rows = read_jsonl(shop.folder / "filled.jsonl")
    assert len(rows) == len(shop.human)
    assert {row["source"] for row in rows} == {"human"}
    assert cached_rows(shop.folder) == 0


def test_the_same_fill_with_a_working_judge_grades_and_caches_all(call, shop, read_jsonl):
    done = call(*shop.fill("--json", judge="grade"))
    assert done.code == 0
    assert done.json["graded"] == shop.new
    assert done.json["errors"] == {}
    rows = read_jsonl(shop.folder / "filled.jsonl")
    assert len(rows) == len(shop.human) + shop.new
    assert cached_rows(shop.folder) == shop.new


def test_a_review_on_a_judge_whose_calls_all_fail_refuses_with_the_rate(call, shop, read_jsonl):
    done = call(*shop.review("--out", "report", judge="broken"))
    assert done.code == 4
    assert "REFUSE" in done.out
    assert "judge error rate 100.0 % (" in done.out
    assert "more not asked, since the run stopped" in done.out
    assert cached_rows(shop.folder) == 0
    assert {row["source"] for row in read_jsonl(shop.folder / "report/judgments.jsonl")} == {
        "human"
    }
    assert "100.0 %" in (shop.folder / "report/review.md").read_text(encoding="utf-8")


def failing_for(shop, share: float) -> int:
    """Makes that share of the new documents unreadable to the judge; how many they are."""
    new = [doc for doc in shop.texts if doc.startswith("n")]
    failing = new[:: round(1 / share)]
    for doc in failing:
        shop.texts[doc] = "a text without what the judge looks for"
    shop.write()
    return len(failing)


def outcome(review, rule: str):
    return next(o for o in review["checked"] if o["rule"] == rule)


@pytest.mark.parametrize(
    ("share", "passes"),
    [(0.01, True), (0.05, False)],  # rules.md R19: > 2 % refuses
)
def test_one_failed_grade_in_a_hundred_passes_and_five_do_not(call, shop, share, passes):
    failed = failing_for(shop, share)
    done = call(*shop.review("--json"))
    review = done.json
    fill = review["judge"]["fill"]
    assert (fill["asked"], fill["asked"] - fill["graded"]) == (shop.new, failed)
    assert fill["error_rate"] == pytest.approx(failed / shop.new, abs=1e-6)
    assert (outcome(review, "R19")["state"] == "passed") is passes
    assert ("R19" in [f["rule"] for f in review["findings"]]) is not passes
    assert (done.code == 4) is not passes
    assert cached_rows(shop.folder) == shop.new - failed


def test_the_limit_on_failed_grades_is_a_setting(call, shop):
    failing_for(shop, 0.05)
    (shop.folder / "relgate.toml").write_text("[budgets]\nmax_error_rate = 0.2\n")
    assert outcome(call(*shop.review("--json")).json, "R19")["state"] == "passed"


def test_what_failed_is_asked_again_and_what_was_graded_is_not(call, shop):
    failed = failing_for(shop, 0.05)
    call(*shop.review("--json"))
    assert cached_rows(shop.folder) == shop.new - failed
    first = shop.calls
    for doc in list(shop.texts):
        if "without" in shop.texts[doc]:
            shop.texts[doc] = f"item {doc} class E"
    shop.write()
    review = call(*shop.review("--json")).json
    assert review["judge"]["fill"]["cached"] == shop.new - failed
    assert review["judge"]["fill"]["graded"] == shop.new
    assert 0 < shop.calls - first <= failed


def test_a_calibration_that_got_no_grade_certifies_nothing(call, shop):
    """An outage is no evidence, and must not replace a certificate that was earned."""
    done = call(
        "calibrate", "--human", "judgments.csv", "--catalogue", "catalogue.jsonl",
        "--judge", shop.judge("broken"), "--quiet", "--out", "calibration",
    )  # fmt: skip
    assert done.code == 6
    assert "none of the 450 pairs got a grade" in done.complaint
    assert not (shop.folder / "certificates").exists()
    assert not (shop.folder / "calibration").exists()


def test_judge_and_rerank_end_with_6_when_nothing_was_graded(call, shop):
    done = call("judge", "q", "--text", "t", "--judge", shop.judge("broken"), "--json")
    assert done.code == 6
    assert done.json["hits"][0]["grade"] is None
    assert done.json["hits"][0]["error"] == "provider"
    done = call(
        "rerank", "--run", "before.jsonl", "--catalogue", "catalogue.jsonl",
        "--judge", shop.judge("broken"), "--out", "reranked.jsonl", "--quiet",
    )  # fmt: skip
    assert done.code == 6
    assert "none of 450 documents got a grade" in done.complaint
    assert not (shop.folder / "reranked.jsonl").exists()


def test_ctrl_c_ends_at_once_and_keeps_what_was_paid_for(shop):
    """DESIGN section 4: a cancelled run ends in under 2 s with everything paid for saved."""
    slow = shop.folder / f"{shop.module}.py"
    slow.write_text(
        slow.read_text(encoding="utf-8").replace(
            "    rows = []\n",
            "    import time\n"
            '    if len((HERE / "calls.txt").read_text().splitlines()) > 10:\n'
            "        time.sleep(60)\n"
            "    rows = []\n",
        ),
        encoding="utf-8",
    )
    words = [sys.executable, "-m", "relgate.eval", *shop.fill(judge="grade")]
    with subprocess.Popen(  # noqa: S603 - our own interpreter
        words, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        while shop.calls < 11 and process.poll() is None:  # ten answered, the next under way
            time.sleep(0.02)
        time.sleep(0.3)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        took = time.monotonic() - begin
    assert process.returncode == 130
    assert err.decode().splitlines()[-1].startswith("relgate: interrupted")
    assert b"Traceback" not in err
    assert took < 2
    assert not (shop.folder / "filled.jsonl").exists()
    assert cached_rows(shop.folder) >= 50  # ten calls of six documents, less one being written
