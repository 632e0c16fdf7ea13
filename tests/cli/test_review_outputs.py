"""What a review leaves behind: files that validate, that can be made again, and what CI shows."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

FILES = ("review.json", "review.md", "review.html", "junit.xml")


@pytest.fixture(scope="module")
def schema(root) -> Draft202012Validator:
    """The published one, as users have it."""
    return Draft202012Validator(json.loads((root / "docs/review.schema.json").read_text("utf-8")))


def lay_bare(folder, score: float = 0.82, text: str = "q") -> None:
    for name, value in (("before", 0.80), ("after", score)):
        details = {f"{text}{i}": {"metric_score": value, "unrated_docs": []} for i in range(4)}
        body = {"metric_score": value, "details": details}
        (folder / f"{name}.json").write_text(json.dumps(body), encoding="utf-8")


BARE = ("review", "--before", "before.json", "--after", "after.json")


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([], id="with a fill"),
        pytest.param(["--fill", "open"], id="with an open fill"),
        pytest.param(None, id="without"),
    ],
)
def test_every_written_review_validates(call, shop, schema, tmp_path, words):
    args = shop.review(judge=None) if words is None else shop.review(*words)
    call(*args, "--out", "report", "--quiet")
    document = json.loads((tmp_path / "report/review.json").read_text("utf-8"))
    schema.validate(document)
    assert (document["judge"]["fill"] is None) is (words is None)
    assert (document["judge"]["open_fill"] is None) is (words != ["--fill", "open"])


def test_the_quepid_review_validates(call, shared, schema, tmp_path):
    folder = shared / "data/quepid_haystack/native"
    call(
        "review",
        "--before", folder / "quepid_snapshot_no-vector.json",
        "--after", folder / "quepid_snapshot_with-vector.json",
        "--judgments", folder / "quepid_basic_ratings.csv",
        "--out", "report", "--quiet",
    )  # fmt: skip
    schema.validate(json.loads((tmp_path / "report/review.json").read_text("utf-8")))


def test_the_schema_is_printed(call, schema):
    done = call("review", "--schema")
    assert done.code == 0
    assert done.json == schema.schema


@pytest.mark.parametrize("judge", [None, "grade"])
def test_a_report_made_again_is_the_same_to_the_byte(call, shop, tmp_path, judge):
    first = call(*shop.review("--out", "one", judge=judge))
    again = call("report", "one/review.json", "--out", "two")
    assert (again.code, again.out) == (0, "")
    made = {path.name for path in (tmp_path / "two").iterdir()}
    assert made == set(FILES) - {"review.json"}
    for name in made:
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    assert call("report", "one/review.json").out == first.out  # the terminal too
    assert call("report", "one/review.json", "--format", "md").out == (
        tmp_path / "one/review.md"
    ).read_text("utf-8")
    assert call("report", "one/review.json", "--json").out == (
        tmp_path / "one/review.json"
    ).read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1}', "bad.json: is no saved review: it has no format that says so; name the"),
        ('{"format": "relgate-review/1"}', "bad.json: is a 'relgate-review/1' file, and this"),
        ("{", "bad.json:1: "),
    ],
)
def test_a_foreign_or_older_file_is_refused(call, tmp_path, text, said):
    (tmp_path / "bad.json").write_text(text, "utf-8")
    done = call("report", "bad.json", "--out", "two")
    assert done.code == 2
    assert said in done.complaint
    assert not (tmp_path / "two").exists()


def test_a_report_spares_its_own_input(call, shop, tmp_path):
    call(*shop.review("--out", "one", judge=None))
    (tmp_path / "one/review.json").rename(tmp_path / "one/review.md")
    done = call("report", "one/review.md", "--out", "one")
    assert done.code == 2
    assert "would be written over" in done.complaint


def test_json_and_a_format_do_not_go_together(call, shop):
    call(*shop.review("--out", "one", judge=None))
    assert call("report", "one/review.json", "--json", "--format", "md").code == 2


def test_a_key_is_in_no_output(call, tmp_path):
    key = "sk-proj-abcDEF_123*xyz_0987"
    lay_bare(tmp_path, text=f"{key} ")
    done = call(*BARE, "--out", "report", "--annotations")
    for shown in (done.out, done.err, *((tmp_path / "report" / f).read_text() for f in FILES)):
        assert "sk-proj" not in shown
        assert "xyz" not in shown


# --- GitHub


def test_nothing_is_annotated_outside_of_github(call, tmp_path):
    lay_bare(tmp_path, 0.70)
    assert "::error" not in call(*BARE).err


def test_github_gets_annotations_and_a_summary(process, tmp_path):
    lay_bare(tmp_path, 0.70)
    (tmp_path / "summary.md").write_text("from an earlier step\n", "utf-8")
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    done = process(*BARE, "--out", "report", "--json", env=env)
    assert done.code == 3
    assert done.json["verdict"] == "BLOCK"  # stdout holds nothing else
    assert "\n::error title=relgate R4 aggregate::" in done.err
    summary = (tmp_path / "summary.md").read_text("utf-8")
    report = (tmp_path / "report/review.md").read_text("utf-8")
    assert summary == f"from an earlier step\n{report}\n"


def test_annotations_by_flag_and_not_by_flag(call, tmp_path, monkeypatch):
    lay_bare(tmp_path, 0.70)
    assert "::error" in call(*BARE, "--annotations").err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert "::error" not in call(*BARE, "--no-annotations").err


def test_a_summary_that_cannot_be_written_changes_no_verdict(call, tmp_path, monkeypatch):
    lay_bare(tmp_path, 0.70)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "no/such/place.md"))
    done = call(*BARE)
    assert done.code == 3
    assert "the step summary" in done.err


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_query_is_no_command_to_github(call, tmp_path, monkeypatch, words):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    lay_bare(tmp_path, 0.70, text="::add-mask::x ##[error]y ")
    done = call(*BARE, *words)
    ours = [line for line in done.err.splitlines() if line.startswith("::")]
    assert all(
        line.startswith(("::error title=relgate", "::warning title=relgate")) for line in ours
    )
    rest = done.out + "\n".join(line for line in done.err.splitlines() if line not in ours)
    assert not any(line.lstrip().startswith("::") for line in rest.splitlines())
    assert "##[" not in rest
    if words:
        assert done.json["queries"][0]["id"].startswith("::add-mask::x ##[error]y ")


# --- hostile text


def test_half_a_surrogate_pair_in_an_engines_error_breaks_no_file(call, tmp_path):
    lay_bare(tmp_path)
    path = tmp_path / "after.json"
    body = json.loads(path.read_text("utf-8"))
    del body["details"]["q3"]
    body["failures"] = {"q3": {"error": {"type": "x", "reason": "bad \ud800 \x00 \ufffe token"}}}
    path.write_text(json.dumps(body), "utf-8")
    done = call(*BARE, "--out", "report", "--json")
    assert done.code == 3
    assert "\\ud800" in done.json["queries"][3]["after_side"]["error"]
    ET.fromstring((tmp_path / "report/junit.xml").read_text("utf-8"))  # noqa: S314 - ours
    again = call("report", "report/review.json", "--out", "two")
    assert again.code == 0
    for name in FILES[1:]:
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "report" / name).read_bytes()
