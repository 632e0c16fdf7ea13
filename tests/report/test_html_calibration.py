"""The page of a calibration as text: every figure of the JSON, nothing loaded, the same bytes."""

from __future__ import annotations

import copy
import json
import re

import numpy as np
import pytest

from relgate.eval.agreement.calibrate import Terms, calibrate_pairs
from relgate.eval.agreement.comparing import Entry, compare_judges
from relgate.eval.agreement.comparison_report import comparison_json
from relgate.eval.agreement.document import calibration_json
from relgate.eval.agreement.groups import Group
from relgate.eval.agreement.pairs import GradedPairs, JudgeIdentity
from relgate.eval.agreement.policy import POLICIES
from relgate.eval.lists.types import SCALES, Query
from relgate.eval.report.html.calibration import calibration_html
from relgate.eval.report.html.calibration_charts import with_interval
from relgate.eval.report.html.comparison import comparison_html


def pairs_of(human, judge, per_query: int = 4) -> GradedPairs:
    n = len(human)
    return GradedPairs(
        query=np.arange(n) // per_query,
        human=np.asarray(human, np.int64),
        judge=np.asarray(judge, np.int64),
        queries=tuple(Query(f"q{i}", f"query {i}") for i in range(-(-n // per_query))),
        doc_ids=tuple(f"d{i}" for i in range(n)),
        sources={"human": n},
    )


def made(human, judge, *, per_query: int = 4, groups: bool = True, **terms):
    if groups:
        terms["groups_of"] = lambda q: (Group("stratum", "ab"[int(q.id[1:]) % 2]),)
    result = calibrate_pairs(
        pairs_of(human, judge, per_query),
        scale=SCALES["0-3"],
        terms=Terms(resamples=200, **terms),
        judge=JudgeIdentity("v@1", "f1", "model-1", "none"),
    )
    return calibration_json(result)


_DRAW = np.random.default_rng(7)
HUMAN = _DRAW.integers(0, 4, 400)
JUDGE = np.clip(HUMAN + _DRAW.integers(-1, 2, 400), 0, 3)


@pytest.fixture(scope="module")
def document():
    return made(HUMAN, JUDGE)


@pytest.fixture(scope="module")
def page(document):
    return calibration_html(document)


def cells(page: str, table: str) -> list[list[str]]:
    (found,) = re.findall(rf'<table id="{table}".*?</table>', page, re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", found, re.DOTALL)
    return [
        [re.sub("<[^>]+>", "", c) for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in rows[1:]
    ]


def test_the_same_document_gives_the_same_bytes_also_once_saved(document, page):
    kept = copy.deepcopy(document)
    assert calibration_html(json.loads(json.dumps(document))) == page
    assert document == kept


def test_every_figure_of_the_json_stands_on_the_page(document, page):
    shown = {row[1] for t in ("scale", "floor", "answered") for row in cells(page, f"{t}-figures")}
    assert shown == {with_interval(figure) for figure in document["figures"].values()}


def test_the_level_its_reasons_and_what_would_change_it_come_first(document, page):
    assert f"<title>{document['level']}: Calibration of model-1</title>" in page
    before = page.index('id="agreement"')
    for text in (*document["reasons"], *(need["text"] for need in document["needs"])):
        assert page.index(text.replace(">", "&gt;").replace("'", "&#39;")) < before


def test_the_confusion_table_has_every_count(document, page):
    rows = cells(page, "confusion-figures")
    assert [[int(c.replace(",", "")) for c in row[1:]] for row in rows] == document["table"]
    (drawing,) = re.findall(
        r'<figure class="chart" id="confusion-chart">.*?</svg>', page, re.DOTALL
    )
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawing)
    for row in document["table"]:
        assert all(f"{n:,}" in texts for n in row)


def test_groups_are_numbered_as_in_their_chart(document, page):
    names = [row[0] for row in cells(page, "group-figures")]
    assert names == ["1. stratum a", "2. stratum b"]
    assert len(document["groups"]) == 2


def test_without_groups_there_is_no_such_section():
    assert 'id="groups"' not in calibration_html(made(HUMAN, JUDGE, groups=False))


def test_each_disagreement_has_both_sides(document, page):
    for i, row in enumerate(document["disagreements"], start=1):
        people, judge = cells(page, f"disagreement-{i}-grades")
        assert people == ["people", str(row["human"]), "(no note)"]
        assert judge == ["judge", str(row["judge"]), "(no reason)"]


@pytest.mark.parametrize(
    ("human", "judge", "per_query"),
    [([3] * 12, [3, 2, 1] * 4, 4), ([0] * 8, [0] * 8, 2), ([3, 0], [0, 0], 2), ([2], [2], 1)],
    ids=["one class", "all alike", "one query", "one pair"],
)
def test_degenerate_labels_have_a_page_with_undefined_and_why(human, judge, per_query):
    page = calibration_html(made(human, judge, per_query=per_query))
    assert "undefined (" in page or "no interval (" in page
    assert not re.search(r"\bnan\b", page, re.IGNORECASE)
    assert page.count("<svg") == 4


def test_a_comparisons_page_has_every_row_and_difference():
    entries = [
        Entry(name=f"judge <{i}>", pairs=pairs_of(HUMAN, said), identity=JudgeIdentity())
        for i, said in enumerate((JUDGE, HUMAN))
    ]
    document = comparison_json(
        compare_judges(entries, scale=SCALES["0-3"], floor=2, seed=0, resamples=100)
    )
    page = comparison_html(document)
    assert comparison_html(json.loads(json.dumps(document))) == page
    rows, pairs = cells(page, "judge-figures"), cells(page, "difference-figures")
    assert [row[0] for row in rows[:2]] == ["1. judge &lt;0&gt;", "2. judge &lt;1&gt;"]
    assert len(rows) == len(document["judges"]) == 4
    assert len(pairs) == len(document["differences"]) == 6
    for row, judge in zip(rows, document["judges"], strict=True):
        assert row[1] == with_interval(judge["figures"]["kappa_quadratic"])
    assert pairs[0][4] == with_interval(document["differences"][0]["figures"]["f1"])


def test_a_policy_without_bars_draws_none(document):
    bare = copy.deepcopy(document)
    bare["policy_terms"] |= {"f1_bar": None, "quadratic_kappa_bar": None}

    def dashes(page: str) -> int:
        return page.count("stroke-dasharray")

    assert dashes(calibration_html(document)) - dashes(calibration_html(bare)) == 2


def test_the_word_follows_the_level():
    perfect = made(HUMAN, HUMAN)
    assert ('class="verdict good"' in calibration_html(perfect)) == (perfect["level"] == "trusted")
    assert perfect["level"] == "trusted"
    lax = made(HUMAN, HUMAN, policy=POLICIES["seed"])
    assert "Under the policy seed" in calibration_html(lax)
