"""The order of the labels leaks nowhere: any order gives the same prompts and the same bytes."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime

import pytest

from relgate.eval.agreement.asking import agrade_pairs
from relgate.eval.agreement.calibrate import Terms, calibrate_judge, calibrate_pairs
from relgate.eval.agreement.certificate import make_certificate
from relgate.eval.agreement.comparing import Entry, compare_judges
from relgate.eval.agreement.comparison_report import comparison_json
from relgate.eval.agreement.document import calibration_json
from relgate.eval.agreement.groups import Group
from relgate.eval.agreement.markdown import calibration_markdown
from relgate.eval.agreement.pairs import JudgeIdentity
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Source
from relgate.eval.report.html.calibration import calibration_html
from relgate.judge.baseline import BaselineJudge, LabelledPair
from relgate.judge.llm import make_llm_judge
from relgate.judge.sync import run_sync
from relgate.judge.types import Candidate
from relgate.rubrics import load_rubric

WORDS = ["red", "shoe", "blue", "sock", "leather", "boot", "wool", "hat", "green", "coat"]
_DRAW = random.Random(5)  # noqa: S311 - made-up labels
ROWS = [
    (f"q{q}", f"d{q}-{i}", _DRAW.randrange(4), _DRAW.choice(("human", "rule")))
    for q in range(20)
    for i in range(8)
]
TEXTS = {doc: " ".join(_DRAW.sample(WORDS, 4)) for _, doc, _, _ in ROWS}
NOW = datetime(2026, 3, 1, tzinfo=UTC)
RUBRIC = load_rubric()


def labels(rows):
    builder = ListBuilder(SCALES["0-3"])
    for query, doc, grade, source in rows:
        builder.add(
            Query(query, f"text {query}"), doc, grade, Provenance(Source(source)), reason=f"n {doc}"
        )
    return builder.build()


def candidate(doc: str) -> Candidate:
    return Candidate(doc, TEXTS[doc])


def shuffled(seed: int):
    rows = list(ROWS)
    random.Random(seed).shuffle(rows)  # noqa: S311
    return rows


ORDERS = [ROWS, ROWS[::-1], sorted(ROWS, key=lambda r: r[2]), shuffled(1), shuffled(2)]
TERMS = Terms(groups_of=lambda q: (Group("stratum", q.id[-1]),), resamples=300)


def answer(request) -> str:
    """By a hash of each line: no order can be heard in it; a third of the batches fail."""
    lines = [line.partition(". ") for line in request.prompt.splitlines() if line[:1].isdigit()]
    if len(request.prompt) % 3 == 0:
        return "sorry"
    return json.dumps({
        "grades": [
            {"id": number, "esci": "ICSE"[sum(text.encode()) % 4], "reason": f"says {text[:9]}"}
            for number, _, text in lines
        ]
    })  # fmt: skip


def everything(rows):
    """All prompts, sorted, and all that a calibration leaves."""
    prompts: list[str] = []

    def generate(request) -> str:
        prompts.append(f"{request.system}\n{request.prompt}")
        return answer(request)

    judge = make_llm_judge(generate, model="gpt-4o", batch_size=3)
    result = calibrate_judge(judge, labels(rows), candidate, terms=TERMS)
    document = calibration_json(result)
    return (
        sorted(prompts),
        json.dumps(document),
        calibration_markdown(result),
        calibration_html(document),
        make_certificate(result, now=NOW).model_dump_json(),
    )


def test_any_order_gives_the_same_prompts_pages_and_certificate():
    first, *others = (everything(rows) for rows in ORDERS)
    assert len(first[0]) > 60
    for other in others:
        assert other == first


def test_the_baseline_is_the_same_whatever_the_order_of_its_labels():
    def by_baseline(rows):
        judge = BaselineJudge.fit(
            [LabelledPair(f"text {q}", TEXTS[d], g) for q, d, g, _ in rows], RUBRIC
        )
        result = calibrate_judge(judge.out_of_fold(), labels(rows), candidate, terms=TERMS)
        return judge.fingerprint, json.dumps(calibration_json(result))

    first, *others = (by_baseline(rows) for rows in ORDERS)
    assert others == [first] * len(others)


def test_a_comparison_does_not_depend_on_it_either(make):
    def compared(rows):
        entries = []
        for name, shift in (("a", 0), ("b", 1)):
            judge = make.judge({TEXTS[d]: (g + shift) % 4 for _, d, g, _ in ROWS})
            pairs = run_sync(agrade_pairs(judge, labels(rows), candidate))
            entries.append(Entry(name=name, pairs=pairs, identity=JudgeIdentity()))
        return comparison_json(
            compare_judges(entries, scale=SCALES["0-3"], floor=2, seed=0, resamples=300)
        )

    first, *others = (compared(rows) for rows in ORDERS)
    assert others == [first] * len(others)


@pytest.mark.parametrize("seed", range(5))
def test_recorded_grades_in_any_order_give_the_same_bytes(make, seed):
    draw = random.Random(seed)  # noqa: S311
    human = [draw.randrange(4) for _ in range(60)]
    judge = [draw.randrange(4) for _ in range(60)]
    pairs = make.pairs(human, judge, query=[i // 5 for i in range(60)])
    order = draw.sample(range(60), 60)
    one, two = (
        json.dumps(calibration_json(calibrate_pairs(p, scale=SCALES["0-3"], terms=TERMS)))
        for p in (pairs, pairs.take(order))
    )
    assert one == two
