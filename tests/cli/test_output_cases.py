"""The shared cases of areas `gate` and `security`, as they come out of the command."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest
from shared_cases import shared_cases

FILES = ("review.json", "review.md", "review.html", "junit.xml")
BARE = ("review", "--before", "before.json", "--after", "after.json", "--out", "report")


@pytest.fixture
def case(shared):
    return shared_cases(shared).__getitem__


def lay(folder, before, after) -> None:
    for name, body in (("before", before), ("after", after)):
        (folder / f"{name}.json").write_text(json.dumps(body), "utf-8")


def scored(text: str, score: float = 0.8):
    one = {"metric_score": score, "unrated_docs": []}
    return {"metric_score": score, "details": {text: one, "other": one}}


def test_g02_a_query_that_broke_blocks_and_is_named_in_every_output(call, case, tmp_path):
    given = case("G02")
    lay(tmp_path, given["input"]["before"], given["input"]["after"])
    done = call(*BARE, "--annotations")
    assert done.code == 3
    assert given["right"]["expect"]["verdict"] == "block"
    for shown in (
        done.out,
        done.err,
        *((tmp_path / "report" / f).read_text("utf-8") for f in FILES),
    ):
        assert "q2" in shown
        assert "parsing_exception" in shown.replace("\\_", "_")
    cases = ET.fromstring((tmp_path / "report/junit.xml").read_text("utf-8")).iter("testcase")  # noqa: S314 - ours
    (r12,) = [c for c in cases if c.get("name") == "R12 failures"]
    failure = r12.find("failure")
    assert failure is not None
    assert failure.get("type") == "BLOCK"
    review = json.loads((tmp_path / "report/review.json").read_text("utf-8"))
    (q2,) = [q for q in review["queries"] if q["id"] == "q2"]
    assert q2["delta"] == -0.8


def test_g03_settings_that_differ_refuse_and_are_listed(call, case, tmp_path):
    given = case("G03")["input"]
    bodies = [
        {**scored("q1"), "metric": "dcg", "normalize": side["normalize"], "k": side["k"]}
        for side in (given["before"], given["after"])
    ]
    lay(tmp_path, *bodies)
    done = call(*BARE)
    assert done.code == 4
    for shown in (done.out, *((tmp_path / "report" / f).read_text("utf-8") for f in FILES)):
        assert "REFUSE" in shown
        assert "10" in shown
        assert "20" in shown
        assert not any(word in shown for word in ("APPROVE", "NEEDS-WORK", "BLOCK"))


def test_s01_markup_in_a_query_is_text_in_markdown_and_junit(call, case, tmp_path):
    title = case("S01")["input"]["title"]
    lay(tmp_path, scored(title), scored(title, 0.7))
    call(*BARE)
    assert "<script" not in (tmp_path / "report/review.md").read_text("utf-8")
    top = ET.fromstring((tmp_path / "report/junit.xml").read_text("utf-8"))  # noqa: S314 - ours
    assert {element.tag for element in top.iter()} <= {
        "testsuites", "testsuite", "properties", "property", "testcase", "failure", "skipped",
        "system-out",
    }  # fmt: skip
    assert not list(top.iter("script"))
    review = json.loads((tmp_path / "report/review.json").read_text("utf-8"))
    assert review["queries"][0]["id"] == title  # the machine format is unchanged


def test_s04_ids_and_commits_name_no_file(call, case, tmp_path):
    names = case("S04")["input"]["names"]
    lay(tmp_path, scored(names[0]), scored(names[0]))
    for name in (n for n in names if "\x00" not in n):
        call(*BARE, "--sha", name, "--description", name)
        made = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")}
        assert made == {"before.json", "after.json", "report", *(f"report/{f}" for f in FILES)}


def test_s05_no_control_reaches_a_terminal(call, case, tmp_path):
    text = case("S05")["input"]["doc_text"]
    lay(tmp_path, scored(text), scored(text, 0.7))
    done = call(*BARE, "--annotations", "--description", text)
    again = call("report", "report/review.json")
    for shown in (done.out, done.err, again.out):
        assert not any(c in shown for c in "\x1b\x07\x9b\x85\u202e\r")
    assert call(*BARE, "--json").json["queries"][0]["id"] == text


def test_the_files_are_the_same_under_another_hash_seed_locale_and_time_zone(
    process, shop, tmp_path
):
    for name, seed, locale, zone in (
        ("one", "1", "C", "UTC"), ("two", "999", "de_DE.UTF-8", "Asia/Kathmandu"),
    ):  # fmt: skip
        env = {"PYTHONHASHSEED": seed, "LC_ALL": locale, "LANG": locale, "TZ": zone}
        process(*shop.review("--out", name, "--cache", f"cache-{name}"), env=env)
    made = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert made == sorted([*FILES, "judgments.jsonl"])
    for file in FILES:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
