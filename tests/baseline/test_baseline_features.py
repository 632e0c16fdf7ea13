"""The features of the baseline judge, with attribute values learned from candidates."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relgate.judge.baseline.features import FEATURE_NAMES, feature_row, learn_lexicon
from relgate.judge.baseline.text import parse_document, parse_query

SEEN = [
    "title: Runner | brand: Alpo | price: 40 | gender: women | type: running shoe | colors: red",
    "title: Walker | brand: Bora | price: 60 | gender: men | type: shoe | colors: dark blue, grey",
    "title: Loafer | brand: Cado | price: 90 | gender: men | type: shoe | material: suede",
    "title: Lamp | brand: Dilo | colors: blue | room: kitchen",
]
LEXICON = learn_lexicon([parse_document(text) for text in SEEN])


def features(query, text):
    row = feature_row(parse_query(query), parse_document(text), LEXICON)
    return dict(zip(FEATURE_NAMES, row, strict=True))


def test_feature_names_are_distinct_and_one_a_value():
    assert len(set(FEATURE_NAMES)) == len(FEATURE_NAMES) == len(features("a", "b"))


def test_a_blue_shoe_conflicts_with_red_shoes():
    row = features("red shoes", "title: Walker shoe | type: shoe | colors: dark blue")
    assert (row["color_agrees"], row["color_conflicts"]) == (0, 1)
    assert (row["type_agrees"], row["type_conflicts"]) == (1, 0)
    assert (row["fields_agree"], row["fields_conflict"]) == (1, 1)


def test_a_shoe_in_red_and_blue_agrees_with_red_shoes():
    row = features("red shoes", "title: Walker | colors: blue, red")
    assert (row["color_agrees"], row["color_conflicts"]) == (1, 0)


def test_a_value_that_no_candidate_had_cannot_conflict():
    row = features("purple shoes", "title: Walker | colors: blue")
    assert (row["color_agrees"], row["color_conflicts"]) == (0, 0)


def test_a_candidate_that_names_no_colour_neither_agrees_nor_conflicts():
    row = features("red shoes", "title: Walker")
    assert (row["color_agrees"], row["color_conflicts"]) == (0, 0)


def test_a_special_value_agrees_with_a_general_one_but_not_the_other_way_round():
    assert features("blue shoe", "title: X | colors: dark blue")["color_agrees"] == 1
    general = features("dark blue shoe", "title: X | colors: blue")
    assert (general["color_agrees"], general["color_conflicts"]) == (0, 0)


@pytest.mark.parametrize(
    ("query", "text", "feature"),
    [
        ("alpo lamp", "title: X | brand: Bora", "brand_conflicts"),
        ("shoes for men", "title: X | gender: women", "gender_conflicts"),
        ("suede loafer", "title: X | material: leather", "material_conflicts"),
        ("kitchen lamp", "title: X | room: bath", "other_conflicts"),
        ("kitchen lamp", "title: X | room: kitchen", "other_agrees"),
        ("alpo lamp", "title: X | brand: Alpo", "brand_mentioned"),
    ],
)
def test_every_field_seen_in_training_can_agree_and_conflict(query, text, feature):
    assert features(query, text)[feature] == 1


@pytest.mark.parametrize("query", ["shoes under 50", "Schuhe bis 50 Euro"])
def test_a_price_is_within_or_over_the_bound_or_unknown(query):
    names = ("price_satisfied", "price_violated", "price_unknown")
    cases = {"title: X | price: 50": 0, "title: X | price: 50.01": 1, "title: X": 2}
    for text, at in cases.items():
        row = features(query, text)
        assert [row[name] for name in names] == [float(i == at) for i in range(3)]
    assert not any(features("shoes", "title: X | price: 50")[name] for name in names)


def test_shares_count_query_words_in_title_and_anywhere():
    row = features("red running shoe", "title: Running shoe | description: red and light")
    assert row["title_share"] == pytest.approx(2 / 3)
    assert row["any_share"] == 1
    assert row["description_only_share"] == pytest.approx(1 / 3)
    assert row["title_all"] == 0
    assert (row["first_word_in_title"], row["last_word_in_title"]) == (0, 1)


def test_a_rare_word_weighs_more_than_a_common_one():
    rare = features("walker shoe", "title: Walker")["title_idf_share"]
    common = features("walker shoe", "title: Shoe")["title_idf_share"]
    assert rare > 0.5 > common


def test_the_same_words_in_order_are_a_phrase():
    assert features("trail shoe", "title: Red trail shoes")["title_phrase"] == 1
    assert features("trail shoe", "title: Shoe for the trail")["title_phrase"] == 0


def test_a_part_of_a_compound_word_counts_as_partial():
    row = features("schuhe", "title: Laufschuhe rot")
    assert (row["title_share"], row["any_partial_share"]) == (0, 1)


def test_a_missing_model_number_is_seen():
    assert features("iphone 12", "title: iPhone 12")["numbers_matched"] == 1
    assert features("iphone 12", "title: iPhone 13")["numbers_missing"] == 1


def test_identical_text_has_trigram_cosine_one_and_foreign_text_none():
    assert features("trail shoe", "title: Trail Shoe")["title_trigram_cosine"] == pytest.approx(1)
    assert features("trail shoe", "title: 12")["title_trigram_cosine"] == 0


def test_the_order_of_candidates_does_not_change_what_is_learned():
    assert learn_lexicon([parse_document(text) for text in reversed(SEEN)]) == LEXICON


@given(st.text(st.characters(exclude_categories=())), st.text(st.characters(exclude_categories=())))
def test_features_of_any_text_are_finite(query, text):
    assert all(map(math.isfinite, features(query, text).values()))
