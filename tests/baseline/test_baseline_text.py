"""Words, fields and price bounds as the baseline judge reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relgate.judge.baseline.price import PriceBound, first_amount
from relgate.judge.baseline.text import fold, parse_document, parse_query, phrase
from relgate.judge.prompt import candidate_summary

UPPER = [
    ("running shoes under 50", 50.0),
    ("shoes below $1,000.50", 1000.5),
    ("laptop less than 5000", 5000.0),
    ("bag at most £20", 20.0),
    ("bag up to 20", 20.0),
    ("dress max 40", 40.0),
    ("dress max. 40", 40.0),
    ("Schuhe unter 80 Euro", 80.0),
    ("Hose bis 50€", 50.0),
    ("Jacke bis zu 1.299,00 EUR", 1299.0),
    ("Tasche höchstens 19,99", 19.99),
]
LOWER = [
    ("watch over 100", 100.0),
    ("watch above 100", 100.0),
    ("watch from $20", 20.0),
    ("Uhr über 100", 100.0),
    ("Uhr ab 20 €", 20.0),
    ("Uhr mindestens 30 Euro", 30.0),
]
NO_BOUND = [
    "iphone 12",
    "under armour shoes",
    "over ear headphones",
    "laptop under 2 kg",
    'tv under 55"',
    "Fernseher über 55 Zoll",
    "Puzzle ab 3 Jahren",
    "stick up to 64gb",
    "films from 1999",
    "max",
    "",
]


@pytest.mark.parametrize(("query", "most"), UPPER)
def test_an_upper_price_bound_is_read_in_english_and_german(query, most):
    assert parse_query(query).bound == PriceBound(None, most)


@pytest.mark.parametrize(("query", "least"), LOWER)
def test_a_lower_price_bound_is_read_in_english_and_german(query, least):
    assert parse_query(query).bound == PriceBound(least, None)


@pytest.mark.parametrize("query", ["dress between 20 and 50", "Kleid zwischen 20 € und 50 €"])
def test_a_price_range_is_read(query):
    assert parse_query(query).bound == PriceBound(20.0, 50.0)


@pytest.mark.parametrize("query", NO_BOUND)
def test_a_number_that_is_no_price_is_no_bound(query):
    parsed = parse_query(query)
    assert parsed.bound is None
    assert list(parsed.stems) == list(phrase(query))


def test_max_in_a_products_name_is_no_bound_when_the_catalogue_has_that_name():
    assert parse_query("air max 90", names=frozenset({"air"})).bound is None
    assert parse_query("air max 90 max 120", names=frozenset({"air"})).bound == PriceBound(
        None, 120.0
    )


def test_the_words_of_a_bound_are_not_query_words():
    assert parse_query("red shoes under 50 euro").words == ("red", "shoes")


@pytest.mark.parametrize(
    ("field", "price"),
    [
        ("89.90", 89.9),
        ("EUR 1.299,00", 1299.0),
        ("89,90 €", 89.9),
        ("89.899999", 89.899999),
        ("$5", 5.0),
        ("on request", None),
    ],
)
def test_a_price_is_read_in_english_and_german_style(field, price):
    assert first_amount(fold(field)) == price


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("shoes", "shoe"),
        ("dresses", "dress"),
        ("batteries", "battery"),
        ("Schuhe", "Schuh"),
        ("Hosen", "Hose"),
        ("Kleider", "Kleid"),
        ("Männer", "Mann"),
        ("women's", "women"),
        ("CAF\u00c9", "cafe\u0301"),
        ("\uff33\uff2f\uff2e\uff39", "sony"),
        ("Straße", "strasse"),
    ],
)
def test_forms_of_one_word_have_one_stem(one, other):
    assert phrase(one) == phrase(other) != ()


def test_different_words_keep_different_stems():
    words = ["glass", "glove", "bus", "bush", "red", "reed", "men", "women", "12", "120"]
    assert len({phrase(word) for word in words}) == len(words)


def test_script_without_blanks_is_split_into_signs():
    assert phrase("赤い靴") == ("赤", "い", "靴")


def test_named_fields_are_read_from_the_production_line():
    document = parse_document(
        "title: Trail Runner 3 | brand: Alpo | price: 89.90 | product_type: running shoe"
        " | colours: red, dark blue | description: Light | and fast"
    )
    assert document.title == phrase("trail runner 3")
    assert document.price == 89.9
    assert document.values == {
        "brand": {phrase("alpo"): "alpo"},
        "type": {phrase("running shoe"): "running shoe"},
        "color": {phrase("red"): "red", phrase("dark blue"): "dark blue"},
    }
    assert phrase("fast")[0] in document.all - document.body


def test_the_line_that_candidate_summary_writes_is_read_back():
    product = {"title": "Walker", "brand": "Bora", "price": 1299.0, "colors": ["red", "dark blue"]}
    document = parse_document(candidate_summary(product))
    assert (document.title, document.price) == (phrase("walker"), 1299.0)
    assert document.values["brand"] == {phrase("bora"): "bora"}
    assert set(document.values["color"]) == {phrase("red"), phrase("dark blue")}


@pytest.mark.parametrize("text", ["Blue shoe, size 42", "Note: blue shoe, size 42"])
def test_plain_text_is_a_title(text):
    document = parse_document(text)
    assert document.title == document.sequence == phrase(text)
    assert document.values == {}


def test_a_line_without_a_title_field_still_has_a_title():
    assert parse_document("heading: Blue shoe | description: soft").title == phrase("blue shoe")


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_at_all_can_be_parsed(text):
    assert len(parse_query(text).stems) == len(parse_query(text).words)
    assert parse_document(text).body <= parse_document(text).all
