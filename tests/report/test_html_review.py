"""The review's page as text: whole, well formed, and no more than `review.json` says."""

from __future__ import annotations

import copy
import html
import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from relgate.eval.report.document import review_document
from relgate.eval.report.html.numbers import ABSENT
from relgate.eval.report.html.review import review_html
from relgate.eval.review.types import Verdict

_VOID = {"meta", "br", "hr", "img", "link", "input"}


class Parsed(HTMLParser):
    """Tags with their attributes, and the text; fails where a tag is closed that is not open."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        assert len(attrs) == len(dict(attrs)), f"an attribute twice in {tag}"
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] not in {"style", "script"}:
            self.texts.append(data)

    @property
    def shown(self) -> str:
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def done(make_review):
    return make_review()


@pytest.fixture(scope="module")
def document(done):
    return review_document(done)


@pytest.fixture(scope="module")
def text(document):
    return review_html(document)


@pytest.fixture(scope="module")
def page(text):
    return Parsed(text)


def test_a_saved_review_gives_the_same_page(document, text):
    assert review_html(json.loads(json.dumps(document))) == text


def test_it_changes_nothing_in_the_document(document):
    kept = copy.deepcopy(document)
    review_html(document)
    assert document == kept


def test_ids_are_unique_and_every_link_leads_somewhere(page):
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for tag, attrs in page.tags:
        for name in ("href", "aria-labelledby", "aria-describedby"):
            value = attrs.get(name)
            if value is not None and not value.startswith("http"):
                assert {v.removeprefix("#") for v in value.split()} <= set(ids), (tag, name, value)


def test_it_loads_nothing_and_allows_its_own_style_and_script_only(text, page):
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"link", "img", "iframe", "object", "embed", "base", "form", "input"}
    for tag, attrs in page.tags:
        assert not [n for n in attrs if n.startswith("on") or n in {"src", "srcset", "style"}], tag
    policy = next(a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(sha256(body.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy


def test_all_that_the_document_says_in_words_is_shown(document, page):
    said = [
        document["verdict"], document["headline"], *document["actions"], *document["warnings"],
        *document["cross_checks"], *document["judge"]["overrides"],
        *(f["message"] for f in document["findings"]),
        *(o["summary"] for o in document["checked"]), *(o["why"] for o in document["not_checked"]),
        *(a["name"] for a in document["aggregate"].values()),
        *document["inputs"].values(),
    ]  # fmt: skip
    assert len(said) > 30
    for words in said:
        assert " ".join(words.split()) in page.shown


def test_every_figure_of_the_means_is_shown(document, page):
    keys = ("before", "after", "weighted_before", "weighted_after")
    means = [(key, mean[key]) for mean in document["aggregate"].values() for key in keys]
    known = [(key, value) for key, value in means if value is not None]
    assert {key for key, _ in known} == set(keys)
    assert [key for key, value in known if f"{value:.4f}" not in page.shown] == []


def test_every_query_that_moved_has_a_row(document, text):
    worse = [q for q in document["queries"] if q["delta"] is not None and q["delta"] < 0]
    better = [q for q in document["queries"] if q["delta"] is not None and q["delta"] > 0]
    assert worse
    assert better
    for name, queries in (("worse", worse), ("better", better)):
        (table,) = re.findall(rf'<table id="{name}-table".*?</table>', text, re.DOTALL)
        assert table.count("<tr>") == len(queries) + 1
        for query in queries:
            assert f"<bdi>{html.escape(query['text'])}</bdi>" in table


def test_a_rule_without_its_input_is_not_shown_as_passed(document, text):
    (table,) = re.findall(r'<table id="rule-table".*?</table>', text, re.DOTALL)
    assert table.count("<tr>") == len(document["checked"]) + len(document["not_checked"]) + 1
    assert len(re.findall(">not checked<|<bdi>not checked</bdi>", table)) == len(
        document["not_checked"]
    )


def test_what_is_not_known_is_a_dash_and_never_zero(document):
    blind = copy.deepcopy(document)
    main = blind["aggregate"][blind["primary"]]
    main.update(before=None, after=None, delta=None, n=None)
    blind["coverage"]["unrated"].update(mean_share_after=None)
    page = Parsed(review_html(blind))
    assert f"{main['name']} {ABSENT} to {ABSENT}" in page.shown
    assert f"Unrated after the change {ABSENT} " in page.shown


def test_a_refusal_has_none_of_the_other_verdicts(make_review):
    refused = make_review(stale=True)
    assert refused.verdict is Verdict.REFUSE
    shown = Parsed(review_html(review_document(refused))).shown
    assert "REFUSE" in shown
    assert not re.search(r"approve|needs[-_ ]?work|block", shown, re.IGNORECASE)
    for finding in review_document(refused)["withheld"]:
        assert finding["message"] in shown


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>", "</title><script>alert(1)</script>", '"><img src=x onerror=a>',
        "</style><style>*{display:none}", "</svg><svg onload=alert(1)>", "]]>--><!-- x",
        "{{ 7 * 7 }} {% raw %}", "javascript:alert(1)", "\u202egnp.exe", "&lt;b&gt;",
    ],
)  # fmt: skip
def test_text_from_data_stays_text(hostile, make_review, page):
    """The same tags and attributes as with harmless words, whatever the words are."""
    other = Parsed(review_html(review_document(make_review(hostile))))
    assert [tag for tag, _ in other.tags] == [tag for tag, _ in page.tags]
    assert [sorted(attrs) for _, attrs in other.tags] == [sorted(attrs) for _, attrs in page.tags]
    assert hostile.replace("\u202e", "\\u202e") in other.shown


def test_a_link_out_must_be_of_the_web(document):
    forged = copy.deepcopy(document)
    forged["losers"][0]["debug"].update(splainer="javascript:alert(1)", quepid="https://q.example/")
    links = [a["href"] for t, a in Parsed(review_html(forged)).tags if t == "a"]
    assert "https://q.example/" in links
    assert not [link for link in links if link.startswith("javascript")]
    assert {x for x in links if not x.startswith("#")} == {"https://q.example/"}


def test_no_query_that_moved_is_told_and_not_drawn(document):
    still = copy.deepcopy(document)
    for query in still["queries"]:
        if query["delta"] is not None:
            query.update(after=query["before"], delta=0.0)
    still["losers"] = []
    text = review_html(still)
    assert "None of the 4 queries scored on both sides moved." in text
    assert "<svg" not in text


def test_every_key_of_the_document_is_shown(document):
    """What a later `review.json` adds must be shown too: each key is read when a page is made."""

    class Watched(dict):
        read: set[str] = set()  # noqa: RUF012 - filled by the test

        def __getitem__(self, key):
            self.read.add(key)
            return super().__getitem__(key)

    review_html(Watched(document))
    machines_only = {"exit_code", "tools", "settings"}  # said in words by other keys
    assert document.keys() - Watched.read - machines_only == set()


def test_what_a_diff_shows_and_sets_apart_are_shown(document):
    more = copy.deepcopy(document)
    main = more["aggregate"][more["primary"]]
    more["change"].update(
        types_from_diff=True,
        detected=[
            {"type": "synonyms", "file": "a/s.txt", "line": 7, "key": None, "removed": False}
        ],
    )
    more["apart"] = [
        {"name": "shadow", "queries": 4, "relevance": main, "emptied": ["lost one"]},
        {"name": "challenge", "queries": 2, "relevance": None, "emptied": []},
    ]
    shown = Parsed(review_html(more)).shown
    for words in ("synonyms, found in the diff", "a/s.txt", "shadow", "lost one", "challenge"):
        assert words in shown
    delta = {"delta": -0.0123, "low": -0.03, "high": None}
    more["corrected"] = {
        "metric": "m@10", "method": "PPI++", "n": 40, "unlabelled": 60, "needed": 30, "asked": 9,
        "corrected": delta, "people": delta, "judge": None, "lambda": 0.5, "why": None,
        "notes": ["a note on it"],
    }  # fmt: skip
    shown = Parsed(review_html(more)).shown
    assert f"Corrected, lambda 0.50 -0.0123 (95 %: -0.0300 to {ABSENT})" in shown
    assert "a note on it" in shown
    more["change"]["detected"] = []
    assert "no search configuration that is known here" in Parsed(review_html(more)).shown
