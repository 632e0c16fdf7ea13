"""`review.json`: plain values, and everything that is printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from relgate.eval.report import phrases
from relgate.eval.report.document import FORMAT, review_document
from relgate.eval.report.markdown import review_markdown
from relgate.eval.review.types import RuleState, Verdict

# DESIGN section 12
KEYS = {
    "verdict", "exit_code", "findings", "checked", "not_checked", "aggregate", "queries",
    "coverage", "judge", "conventions",
}  # fmt: skip
FINDING = {"rule", "severity", "message", "figures"}
QUERY = {"id", "text", "before", "after", "delta", "unrated", "head"}


@pytest.fixture
def done(make_review):
    return make_review()


@pytest.fixture
def document(done):
    return review_document(done)


def _values(value: object) -> Iterator[object]:
    match value:
        case dict():
            for item in value.values():
                yield from _values(item)
        case list():
            for item in value:
                yield from _values(item)
        case _:
            yield value


def test_it_is_strict_json_and_comes_back_equal(document):
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    assert json.loads(text) == document
    assert {type(v) for v in _values(document)} <= {str, int, float, bool, type(None)}


def test_it_has_the_keys_of_the_contract(document):
    assert document.keys() >= KEYS
    assert document["format"] == FORMAT
    assert all(f.keys() >= FINDING for f in document["findings"])
    assert all(q.keys() >= QUERY for q in document["queries"])
    assert all(a.keys() >= {"before", "after", "delta"} for a in document["aggregate"].values())


def test_verdict_and_exit_code_agree(document):
    assert (document["verdict"], document["exit_code"]) == ("BLOCK", 3)


@pytest.mark.parametrize(
    ("verdict", "word", "code"),
    [
        (Verdict.APPROVE, "APPROVE", 0),
        (Verdict.NEEDS_WORK, "NEEDS-WORK", 1),
        (Verdict.BLOCK, "BLOCK", 3),
        (Verdict.REFUSE, "REFUSE", 4),
    ],
)
def test_words_and_exit_codes(verdict, word, code):
    assert (verdict.word, verdict.exit_code) == (word, code)


def test_every_rule_is_checked_or_not_checked(done, document):
    rules = [o["rule"] for o in document["checked"]] + [o["rule"] for o in document["not_checked"]]
    assert sorted(rules) == sorted(o.rule for o in done.outcomes)
    for entry in document["not_checked"]:
        outcome = next(o for o in done.outcomes if o.rule == entry["rule"])
        assert outcome.state is RuleState.NOT_CHECKED
        assert entry["why"] == outcome.summary
        assert entry["caps_verdict"] is (outcome.cap is not None)


def test_a_number_that_is_not_finite_is_null(document):
    unjudged = next(q for q in document["queries"] if q["id"] == "q4")
    assert (unjudged["before"], unjudged["after"], unjudged["delta"]) == (None, None, None)
    assert unjudged["unjudged"]


def test_a_failed_query_has_its_error(document):
    broken = next(q for q in document["queries"] if q["id"] == "q3")
    assert broken["after_side"]["error"] == "no field red shoe"
    assert (broken["before"], broken["after"]) == (1.0, 0.0)


def test_what_is_printed_is_in_it(done, document):
    printed = review_markdown(done)
    assert document["verdict"] in printed
    assert document["headline"] == done.headline
    assert document["actions"] == list(done.actions)
    assert [f["message"] for f in document["findings"]] == [f.message for f in done.findings]
    names = set(document["conventions"]["names"].values())
    rows = re.findall(r"^\| `(.*?)` \| (\S+) \| (\S+) \|", printed, re.MULTILINE)
    assert {name for name, _, _ in rows} >= names
    figures = {
        f"{a[side]:.4f}"
        for a in document["aggregate"].values()
        for side in ("before", "after", "weighted_before", "weighted_after")
    }
    for name, before, after in rows:
        assert name.removesuffix(", traffic-weighted") in names
        assert {before, after} <= figures
    for text in [*document["cross_checks"], *document["warnings"]]:
        assert text in printed


def test_coverage_and_fill_are_in_it(done, document):
    coverage, fill = document["coverage"], document["judge"]["fill"]
    assert (coverage["queries"], coverage["scored"], coverage["unjudged"]) == (5, 4, 1)
    assert coverage["by_source"] == {"human": 4, "judge": 4}
    assert coverage["unrated_before_fill"]["mean_share_after"] == 0.5
    assert coverage["unrated_before_fill"]["mean_share_before"] is None
    assert (fill["asked"], fill["graded"], fill["errors"]) == (200, 198, {"timeout": 2})
    assert str(fill["graded"]) in (phrases.fill_line(done.evidence) or "")
    assert document["judge"]["grades"][0]["certificate_problem"] == "no certificate for red shoe"
    assert document["judge"]["overrides"] == ["overridden by name: red shoe"]


def test_the_documents_that_moved_are_in_it(document):
    fallen = next(q for q in document["queries"] if q["id"] == "q0")
    assert fallen["before_side"]["best_rank"] == 1
    assert fallen["after_side"]["best_rank"] == 3
    assert fallen["after_side"]["top"] == [
        {"doc_id": "weak", "grade": 1, "source": "judge"},
        {"doc_id": "new red shoe", "grade": None, "source": None},
        {"doc_id": "doc red shoe", "grade": 3, "source": "human"},
    ]


def test_a_refusal_keeps_what_else_was_seen_without_severity(make_review):
    document = review_document(make_review(stale=True))
    assert (document["verdict"], document["exit_code"]) == ("REFUSE", 4)
    assert {f["severity"] for f in document["findings"]} == {"REFUSE"}
    assert document["withheld"]
    strings = [v for v in _values(document) if isinstance(v, str)]
    assert [
        s for s in strings if re.search(r"approve|needs[-_ ]?work|block", s, re.IGNORECASE)
    ] == []


def test_nobody_who_rated_is_named(make_review):
    assert "rater" not in json.dumps(review_document(make_review()))
