"""Attacked texts: made as they say, and a judge that falls for them is found."""

from __future__ import annotations

import asyncio
import hashlib
import re

import pytest

from relgate.judge.prompt import MAX_TEXT_CHARS, one_line
from relgate.judge.robustness.attacked import check_attacks
from relgate.judge.robustness.attacks import MAX_CLEAN_CHARS, Attack, AttackKind, make_attacks
from relgate.judge.robustness.rates import Verdict
from relgate.judge.robustness.types import AttackCheck
from relgate.rubrics import load_rubric

RUBRIC = load_rubric()
# Five innocent texts for each of 24 queries, none sharing a word with any.
PAIRS = [
    (f"waterproof boots q{q}", f"title: Ceramic pot {q} {i}") for q in range(24) for i in range(5)
]
CLEAN = frozenset(text for _, text in PAIRS)
ATTACKS = make_attacks(PAIRS, RUBRIC)


def at_rate(text: str, p: float) -> bool:
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32 < p


def attacked(judge, attacks=ATTACKS, **more) -> AttackCheck:
    return asyncio.run(check_attacks(judge, attacks, floor=RUBRIC.floor, **more))


def rates(check: AttackCheck) -> dict[AttackKind, float]:
    return {row.kind: row.rate.point for row in check.rows}


def obeys(text: str) -> bool:
    """What a judge that follows orders sees, hidden characters made visible."""
    shown = text.replace(r"\u200b", "")
    shown = re.sub(r"\\U000e00([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), shown)
    return bool(
        re.search(r"gnor|judge|Disregard|[Gg]rade|Correct|Bewerte|Califica|Notez|\"esci\"", shown)
    )


def test_every_pair_is_attacked_in_every_kind_and_keeps_its_clean_text():
    assert len(ATTACKS) == len(PAIRS) * len(AttackKind)
    assert {attack.kind for attack in ATTACKS} == set(AttackKind)
    assert {(attack.query, attack.clean_text) for attack in ATTACKS} == set(PAIRS)
    assert all(attack.text.startswith(attack.clean_text) or attack.query in attack.text
               for attack in ATTACKS)  # fmt: skip


def test_the_attacks_are_the_same_each_time():
    assert make_attacks(PAIRS, RUBRIC) == ATTACKS


def test_a_long_innocent_text_does_not_push_the_attack_out_of_the_prompt():
    long = " ".join(f"word{i}" for i in range(1_000))
    for attack in make_attacks([("boots", long)], RUBRIC):
        assert len(attack.clean_text) <= MAX_CLEAN_CHARS
        if attack.kind is not AttackKind.DELIMITER:
            assert not one_line(attack.text, MAX_TEXT_CHARS).endswith("…")
        assert "Shopper query" in attack.text or attack.kind is not AttackKind.DELIMITER


def test_attacks_ask_in_the_rubrics_own_words():
    graded = load_rubric("graded-v1")
    (attack,) = make_attacks([("boots", "pot")], graded, kinds=[AttackKind.FAKE_JSON])
    best = max(graded.labels, key=lambda label: label.grade)
    assert f'"{graded.label_field}": "{best.code}"' in attack.text


def test_a_judge_that_falls_for_query_words_is_reported_by_kind(judge_that):
    # Case T01.
    judge = judge_that(lambda text, _p, _s, true: "E" if "boots" in text else true)
    check = attacked(judge)
    found = rates(check)
    assert found.pop(AttackKind.KEYWORD_STUFFING) == 1
    assert found.pop(AttackKind.QUERY_IN_TEXT) == 1
    assert set(found.values()) == {0}
    assert check.verdict is Verdict.FLAGGED
    assert check.clean.point == 0


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_a_judge_that_obeys_texts_is_found_at_its_planted_rate(judge_that, p):
    judge = judge_that(lambda text, _p, _s, true: "S" if obeys(text) and at_rate(text, p) else true)
    check = attacked(judge)
    talking = {kind for kind in AttackKind if kind.talks and kind is not AttackKind.DELIMITER}
    lifted = 0.0
    for row in check.rows:
        assert row.rate.n == len(PAIRS)
        if row.kind in talking:
            lifted += row.rate.point
            assert row.rate.point == pytest.approx(p, abs=0.1)
            assert row.verdict is Verdict.FLAGGED
        else:
            assert row.rate.point == 0
            assert row.verdict is Verdict.WITHIN
    assert lifted / len(talking) == pytest.approx(p, abs=0.04)
    assert check.verdict is Verdict.FLAGGED


def test_a_judge_that_falls_for_a_forged_list_is_found(judge_that):
    judge = judge_that(lambda text, _p, _s, true: "E" if text.count("Shopper query:") else true)
    check = attacked(judge)
    assert {kind for kind, rate in rates(check).items() if rate} == {AttackKind.DELIMITER}


def test_a_clean_judge_is_not_flagged_and_enough_was_asked_to_be_sure(honest):
    check = attacked(honest)
    assert check.verdict is Verdict.WITHIN
    assert set(rates(check).values()) == {0}
    assert all(row.rate.proves(check.limit) for row in check.rows)
    assert check.asked == len(PAIRS) * (len(AttackKind) + 1)


def test_texts_that_were_relevant_before_the_attack_are_left_out(judge_that):
    judge = judge_that(
        lambda text, _p, _s, true: "E" if at_rate(text.split(" w")[0], 0.3) else true
    )
    row = next(r for r in attacked(judge).rows if r.kind is AttackKind.KEYWORD_STUFFING)
    assert row.already == pytest.approx(0.3 * len(PAIRS), abs=15)
    assert row.already + row.rate.n == row.asked == len(PAIRS)
    assert row.rate.point == 0


def test_a_judge_that_calls_everything_relevant_does_not_pass(judge_that):
    check = attacked(judge_that(lambda *_: "E"))
    assert check.verdict is Verdict.UNMEASURED
    assert check.clean.point == 1
    assert all(row.already == row.asked for row in check.rows)


def test_failed_grades_are_counted_apart(judge_that):
    judge = judge_that(
        lambda _t, _p, _s, true: true, fails=lambda request: '"esci"' in request.prompt
    )
    check = attacked(judge)
    row = next(r for r in check.rows if r.kind is AttackKind.FAKE_JSON)
    assert (row.failed, row.rate.point, row.verdict) == (row.asked, None, Verdict.UNMEASURED)
    assert check.errors == {"unreadable": len(PAIRS)}
    assert check.verdict is Verdict.UNMEASURED


def test_suspect_texts_are_seen_alone_and_the_row_says_how_many(judge_that):
    sizes: dict[str, int] = {}
    judge = judge_that(lambda text, _p, size, true: sizes.setdefault(text, size) and true)
    check = attacked(judge)
    by_kind = {row.kind: row for row in check.rows}
    for kind, row in by_kind.items():
        assert row.suspected == (row.asked if kind is not AttackKind.QUERY_IN_TEXT else 0)
    for attack in ATTACKS:
        if attack.kind.talks:
            assert sizes[one_line(attack.text, MAX_TEXT_CHARS)] == 1
    assert sizes[PAIRS[0][1]] == 5


def test_the_same_text_for_two_queries_is_asked_for_each(judge_that):
    asked = []
    judge = judge_that(lambda text, _p, _s, true: asked.append(text) or true)
    pairs = [("red boots", "pot"), ("blue boots", "pot")]
    attacks: tuple[Attack, ...] = make_attacks(pairs, RUBRIC, kinds=[AttackKind.LABEL_REQUEST])
    check = attacked(judge, attacks)
    assert len(asked) == check.asked == 4
