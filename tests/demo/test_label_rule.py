"""The stated label rule, point by point, on pairs made by hand."""

from __future__ import annotations

import pytest

from relgate.eval.demo.labels import ESCI_OF_GRADE, Need, conflicts, grade

SHOE = {
    "type": "running shoe",
    "brand": "Velmorin",
    "price": 79.9,
    "colors": ["red", "white"],
    "gender": "women",
    "material": "mesh",
    "occasions": ["easy runs"],
}
SOCKS = {**SHOE, "type": "running socks", "price": 12.0, "colors": ["black"], "gender": "unisex"}
NEED = Need(
    types=("running shoe",),
    substitutes=("trail shoe",),
    complements=("running socks",),
    colors=("red",),
    genders=("women",),
    max_price=100.0,
)


def letter(need: Need, product: dict[str, object]) -> str:
    return ESCI_OF_GRADE[grade(need, product)]


def test_every_constraint_met_is_exact():
    assert letter(NEED, SHOE) == "E"
    assert grade(NEED, SHOE) == 3


@pytest.mark.parametrize(
    "conflict", [{"colors": ["blue"]}, {"gender": "men"}, {"gender": "kids"}, {"price": 100.01}]
)
def test_a_conflict_is_irrelevant_and_no_substitute(conflict):
    assert conflicts(NEED, {**SHOE, **conflict})
    assert letter(NEED, {**SHOE, **conflict}) == "I"
    assert letter(NEED, {**SHOE, "type": "trail shoe", **conflict}) == "I"


def test_a_price_equal_to_the_bound_is_not_over_it():
    assert letter(NEED, {**SHOE, "price": 100.0}) == "E"


def test_unisex_is_for_everybody():
    assert letter(NEED, {**SHOE, "gender": "unisex"}) == "E"


def test_a_substitute_type_without_conflict_is_a_substitute():
    assert letter(NEED, {**SHOE, "type": "trail shoe"}) == "S"


@pytest.mark.parametrize(
    ("kind", "wanted", "other"),
    [
        ("brands", "Velmorin", "Kaldruh"),
        ("materials", "mesh", "knit"),
        ("occasions", "easy runs", "race day"),
    ],
)
def test_a_wrong_brand_material_or_occasion_makes_a_substitute(kind, wanted, other):
    assert letter(Need(types=("running shoe",), **{kind: (wanted,)}), SHOE) == "E"
    assert letter(Need(types=("running shoe",), **{kind: (other,)}), SHOE) == "S"
    assert letter(Need(types=("running shoe",), **{kind: (other, wanted)}), SHOE) == "E"


def test_a_complement_needs_no_colour_and_no_price_but_the_gender():
    assert letter(NEED, SOCKS) == "C"
    assert letter(NEED, {**SOCKS, "price": 500.0}) == "C"
    assert letter(NEED, {**SOCKS, "gender": "men"}) == "I"


def test_any_other_type_is_irrelevant():
    assert letter(NEED, {**SHOE, "type": "tent"}) == "I"


def test_a_need_that_the_shop_does_not_serve_finds_everything_irrelevant():
    assert letter(Need(), SHOE) == "I"


def test_a_query_without_constraints_takes_every_product_of_its_type():
    need = Need(types=("running shoe",))
    for other in ({"gender": "kids"}, {"price": 999.0}, {"colors": ["pink"]}):
        assert letter(need, {**SHOE, **other}) == "E"
