"""`relgate refresh`: what is stale is graded anew, listed or retired; the rest stays as it is."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest

from relgate.cache import open_store
from relgate.cache.keys import text_hash
from relgate.eval.catalogue import read_catalogue
from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import SCALES, Source

N = 6  # queries: ten documents each that people graded, six that a judge did


def read(path, source=None):
    return read_list(path, scale=SCALES["0-3"], source=source).judgments


def rows_of(path):
    return list(read(path).rows())


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def judged(call, shop, read_jsonl):
    """A fresh list, old.jsonl: people's grades with their texts' hashes, and a judge's."""
    shop = type(shop)(shop.folder, n=N, module=shop.module).write()
    done = call(*shop.fill(out="old.jsonl"))
    assert done.code == 0, done.err
    catalogue = read_catalogue("catalogue.jsonl")
    rows = read_jsonl(shop.folder / "old.jsonl")
    for row in rows:
        if row["source"] == "human":
            candidate = catalogue.candidate(row["doc_id"])
            row |= {"text_hash": text_hash(candidate.text), "judged_at": now()}
    write(shop.folder / "old.jsonl", rows)
    (shop.folder / "calls.txt").unlink()
    return shop


def now(*, days_ago=0.0):
    return (datetime.now(UTC) - timedelta(days=days_ago)).isoformat(timespec="seconds")


def words(shop, *more, out="new.jsonl", judge="grade"):
    return [
        "refresh", "--judgments", "old.jsonl", "--catalogue", "catalogue.jsonl",
        "--judge", shop.judge(judge), "--out", out, *more,
    ]  # fmt: skip


def renew(shop, docs, letter="I"):
    """Another text in the catalogue, worth another grade."""
    for doc in docs:
        shop.texts[doc] = f"item {doc} renewed class {letter}"
    shop.write()


def drop(shop, docs):
    for doc in docs:
        del shop.texts[doc]
    shop.write()


@pytest.fixture
def plant(judged, read_jsonl):
    """Gives rows of old.jsonl other values; None takes a value away."""

    def plant(docs, **values):
        path = judged.folder / "old.jsonl"
        rows = read_jsonl(path)
        for row in rows:
            if row["doc_id"] in docs:
                row.update(values)
        write(path, [{k: v for k, v in row.items() if v is not None} for row in rows])

    return plant


# --- fresh


def test_a_fresh_list_stays_quiet(call, judged):
    done = call(*words(judged, "--run", "after.jsonl", "--max-age-days", "30", "--json"))
    assert done.code == 0
    said = done.json
    assert said["states"]["judge"] == {"fresh": 36, "stale": 0, "gone": 0, "unknown": 0}
    assert said["states"]["people"] == {"fresh": 60, "stale": 0, "gone": 0, "unknown": 0}
    assert (said["asked"], said["calls"], judged.calls) == (0, 0, 0)
    assert rows_of("new.jsonl") == rows_of("old.jsonl")
    assert read("new.jsonl").queries == read("old.jsonl").queries
    assert [(run["delta"], run["queries"]) for run in said["runs"]] == [(0.0, [])]
    names = {path.name for path in (judged.folder / "new.refresh").iterdir()}
    assert names == {"refresh.json", "refresh.md"}


# --- stale by each check


def test_a_changed_text_is_graded_anew_and_the_input_stays(call, judged):
    before = (judged.folder / "old.jsonl").read_bytes()
    renew(judged, ["n0-0", "n3-5"])
    done = call(*words(judged, "--json"))
    assert (done.json["asked"], done.json["graded"], done.json["calls"]) == (2, 2, 2)
    assert judged.calls == 2  # two queries, a call each
    old = {(r.query.id, r.doc_id): r for r in rows_of("old.jsonl")}
    new = {(r.query.id, r.doc_id): r for r in rows_of("new.jsonl")}
    moved = {key for key in old if old[key] != new[key]}
    assert list(old) == list(new)
    assert moved == {("query 0", "n0-0"), ("query 3", "n3-5")}
    assert {new[key].grade for key in moved} == {0}
    text = read_catalogue("catalogue.jsonl").candidate("n0-0").text
    assert new["query 0", "n0-0"].text_hash == text_hash(text)
    assert (judged.folder / "old.jsonl").read_bytes() == before
    assert done.json["moves"] == [
        {"from": 2, "to": 0, "pairs": 1},
        {"from": 3, "to": 0, "pairs": 1},
    ]
    assert [q["id"] for q in done.json["queries"]] == ["query 0", "query 3"]
    assert done.json["queries"][0]["graded"] == [
        {"doc_id": "n0-0", "from": 3, "to": 0, "why": ["text-changed"]}
    ]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"judge_version": "esci-v1@00000000"}, "rubric-changed"),
        ({"fingerprint": "0" * 16}, "judge-changed"),
    ],
)
def test_another_rubric_or_judge_is_graded_anew_from_the_cache_where_it_is_paid(
    call, judged, plant, values, why
):
    plant(["n1-0", "n1-1"], **values)
    done = call(*words(judged, "--json"))
    assert done.json["why"] == {"judge": {why: 2}, "people": {}}
    # the present judge graded these very texts for the list: nothing is paid twice
    assert (done.json["graded"], done.json["cached"], judged.calls) == (2, 2, 0)
    assert call(*words(judged, "--json", out="newer.jsonl")).json["graded"] == 2
    done = call(
        "refresh", "--judgments", "new.jsonl", "--catalogue", "catalogue.jsonl",
        "--judge", judged.judge(), "--out", "newest.jsonl", "--json",
    )  # fmt: skip
    assert done.json["states"]["judge"]["fresh"] == 36


def test_a_grade_too_old_is_asked_anew_though_the_cache_has_the_old_one(call, judged, plant):
    plant(["n1-0", "n1-1", "n2-0"], judged_at=now(days_ago=40))
    # the cache's rows are from today: recent enough
    done = call(*words(judged, "--max-age-days", "30", "--json"))
    assert done.json["why"]["judge"] == {"too-old": 3}
    assert (done.json["cached"], judged.calls) == (3, 0)
    # with no grade recent enough, each is asked; a second run finds the answers
    time.sleep(1.1)
    short = str(1 / 86_400)
    done = call(*words(judged, "--max-age-days", short, "--dry-run", "--json"))
    assert (done.json["plan"]["pairs"], done.json["plan"]["calls"]) == (36, N)
    done = call(*words(judged, "--max-age-days", short, "--json", out="newer.jsonl"))
    assert (done.json["graded"], done.json["cached"], judged.calls) == (36, 0, N)
    assert done.json["changed"] == 0
    dates = {r.provenance.judged_at for r in rows_of("newer.jsonl") if r.doc_id[0] == "n"}
    assert dates.isdisjoint(r.provenance.judged_at for r in rows_of("old.jsonl"))


def test_what_is_gone_is_retired_into_a_file_that_is_a_list(call, judged):
    drop(judged, ["n0-0", "h2-9"])
    done = call(*words(judged, "--run", "after.jsonl", "--json"))
    assert (done.json["retired"], done.json["judgments_out"], judged.calls) == (2, 94, 0)
    old, new = rows_of("old.jsonl"), rows_of("new.jsonl")
    retired = rows_of("new.refresh/retired.jsonl")
    assert {r.doc_id for r in retired} == {"n0-0", "h2-9"}
    assert [r for r in old if r not in retired] == new
    (run,) = done.json["runs"]
    assert (run["unrated_old"], run["unrated_new"]) == (0, 2)


def test_the_catalogue_of_another_shop_is_refused_before_anything_is_retired(call, judged):
    judged.texts = {"x1": "another shop's"}
    judged.write()
    done = call(*words(judged, "--quiet"))
    assert done.code == 2
    assert "no document of the list is in the catalogue" in done.complaint
    assert not (judged.folder / "new.refresh").exists()


def test_an_extract_of_the_catalogue_is_asked_about(call, judged):
    drop(judged, [doc for doc in judged.texts if doc.startswith(("h0", "h1", "h2"))])
    done = call(*words(judged))
    assert "30 of 96 judgments are of documents that the catalogue lacks" in done.err
    assert done.code == 0


def test_a_list_as_csv_says_as_much(call, judged):
    renew(judged, ["n0-0", "h0-1"])
    assert call(*words(judged)).code == 0
    assert call(*words(judged, out="new.csv")).code == 0
    assert rows_of("new.csv") == rows_of("new.jsonl")


def test_peoples_stale_judgments_are_listed_for_people_and_stay_in_the_list(call, judged, plant):
    plant(["h0-3"], judged_at=now(days_ago=40))
    renew(judged, ["h0-3", "h1-8", "n1-0"])
    done = call(*words(judged, "--max-age-days", "30", "--json"))
    assert (done.json["for_people"], done.json["graded"], judged.calls) == (2, 1, 1)
    text = (judged.folder / "new.refresh" / "for-people.csv").read_text("utf-8")
    sheet = list(csv.DictReader(text.splitlines()))
    assert [(r["query"], r["doc_id"], r["old_grade"], r["why"]) for r in sheet] == [
        ("query 0", "h0-3", "1", "text-changed, too-old"),
        ("query 1", "h1-8", "3", "text-changed"),
    ]
    assert sheet[0]["text"] == "title: item h0-3 renewed class I"
    assert {r["grade"] for r in sheet} == {""}
    kept = {r.doc_id: r for r in rows_of("new.jsonl")}
    assert [kept[d] for d in ("h0-3", "h1-8")] == [
        r for r in rows_of("old.jsonl") if r.doc_id in {"h0-3", "h1-8"}
    ]


def test_a_sheet_that_people_filled_is_a_list_of_their_grades_on_todays_text(call, judged):
    renew(judged, ["h0-3", "h1-8"])
    call(*words(judged))
    path = judged.folder / "new.refresh" / "for-people.csv"
    with path.open(encoding="utf-8", newline="") as file:
        sheet = list(csv.DictReader(file))
    sheet[0] |= {"grade": "2", "rater": "r7"}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(sheet[0]))
        writer.writeheader()
        writer.writerows(sheet)
    (row,) = rows_of(path)
    assert (row.doc_id, row.grade, row.provenance.source) == ("h0-3", 2, Source.HUMAN)
    assert row.provenance.rater == "r7"
    assert row.text_hash == text_hash("title: item h0-3 renewed class I")


def test_a_filled_sheet_merged_in_makes_the_list_fresh_again(call, judged):
    renew(judged, ["h0-3", "h1-8"])
    call(*words(judged))
    path = judged.folder / "new.refresh" / "for-people.csv"
    with path.open(encoding="utf-8", newline="") as file:
        sheet = list(csv.DictReader(file))
    later = now(days_ago=-0.5)
    sheet[0] |= {"grade": sheet[0]["old_grade"], "judged_at": later}  # found the same
    sheet[1] |= {"grade": "0", "judged_at": later}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(sheet[0]))
        writer.writeheader()
        writer.writerows(sheet)
    done = call(
        "lists", "merge", "new.refresh/for-people.csv", "new.jsonl", "--policy", "newest",
        "--out", "merged.jsonl",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert {r.doc_id: r.grade for r in rows_of("merged.jsonl")}["h1-8"] == 0
    done = call(
        "refresh", "--judgments", "merged.jsonl", "--catalogue", "catalogue.jsonl", "--judge",
        judged.judge(), "--max-age-days", "30", "--out", "x.jsonl", "--dry-run", "--json",
    )  # fmt: skip
    assert done.json["states"]["people"] == {"fresh": 60, "stale": 0, "gone": 0, "unknown": 0}


def test_a_sheet_that_people_filled_is_never_written_over(call, judged):
    renew(judged, ["h0-3"])
    call(*words(judged))
    path = judged.folder / "new.refresh" / "for-people.csv"
    filled = path.read_text("utf-8").replace(",,,,,human", ",2,,,,human")
    path.write_text(filled, "utf-8")
    done = call(*words(judged, "--quiet"))
    assert done.code == 2
    assert "may hold people's grades; name another --report" in done.complaint
    assert path.read_text("utf-8") == filled


def test_retired_judgments_are_never_written_over(call, judged):
    drop(judged, ["n0-0"])
    call(*words(judged))
    kept = rows_of("new.refresh/retired.jsonl")
    drop(judged, ["n0-1"])
    done = call(*words(judged, "--quiet"))
    assert done.code == 2
    assert "another refresh retired" in done.complaint
    assert rows_of("new.refresh/retired.jsonl") == kept
    assert call(*words(judged, "--report", "elsewhere")).code == 0
    assert len(rows_of("elsewhere/retired.jsonl")) == 2


def test_formulas_in_texts_and_queries_are_guarded_and_read_back(call, judged, read_jsonl):
    rows = read_jsonl(judged.folder / "old.jsonl")
    for row in rows:
        if row["query"] == "query 0":
            row["query"] = "=1+1"
    write(judged.folder / "old.jsonl", rows)
    products = read_jsonl(judged.folder / "catalogue.jsonl")
    for product in products:
        if product["id"] == "h0-3":
            product["text"] = '=HYPERLINK("x")'
    write(judged.folder / "catalogue.jsonl", products)
    call(*words(judged))
    text = (judged.folder / "new.refresh" / "for-people.csv").read_text("utf-8")
    assert "'=1+1" in text
    assert "\"'=HYPERLINK" in text
    assert not re.search(r'(?:^|,)"?[=+@]', text, re.MULTILINE)
    path = judged.folder / "new.refresh" / "for-people.csv"
    path.write_text(text.replace(",,,,,human", ",1,,,,human"), "utf-8")
    assert [r.query.text for r in rows_of(path)] == ["=1+1"]


# --- unknown


def test_what_cannot_be_checked_is_unknown_counted_and_left_alone(call, judged, plant):
    plant(["n0-0"], judge_version=None)
    plant(["n0-1"], text_hash=None)
    plant(["h0-0"], text_hash=None)
    plant(["n0-2"], judged_at=None)
    done = call(*words(judged, "--max-age-days", "30", "--json"))
    assert done.json["states"]["judge"] == {"fresh": 33, "stale": 0, "gone": 0, "unknown": 3}
    assert done.json["states"]["people"]["unknown"] == 1
    assert done.json["unknown"] == {
        "judge": {"text-changed": 1, "rubric-changed": 1, "too-old": 1},
        "people": {"text-changed": 1},
    }
    assert judged.calls == 0
    assert rows_of("new.jsonl") == rows_of("old.jsonl")
    shown = call(*words(judged, "--max-age-days", "30"))
    assert "1 other judgments do not say enough to be checked for text-changed" in shown.out
    assert "do not say enough" in (judged.folder / "new.refresh" / "refresh.md").read_text()


# --- plan


def test_a_dry_run_says_what_it_would_ask_and_asks_and_writes_nothing(call, judged):
    renew(judged, ["n0-0", "n0-1", "n4-2", "h0-0"])
    drop(judged, ["n5-5"])
    done = call(*words(judged, "--dry-run", "--json"))
    assert done.json["plan"]["pairs"] == 3
    assert (done.json["plan"]["cached"], done.json["plan"]["calls"]) == (0, 2)
    assert done.json["states"]["people"]["stale"] == 1
    assert done.json["states"]["judge"]["gone"] == 1
    assert judged.calls == 0
    assert not (judged.folder / "new.jsonl").exists()
    assert not (judged.folder / "new.refresh").exists()
    assert "3 pairs to grade" in call(*words(judged, "--dry-run")).out
    done = call(*words(judged, "--json"))
    assert (done.json["asked"], done.json["calls"], judged.calls) == (3, 2, 2)


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
