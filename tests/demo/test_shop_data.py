"""The made-up shop's files are whole, reviewable and say what they are."""

from __future__ import annotations

import tomllib
from collections import Counter

import pytest

from relgate.eval.demo.data_files import DATA, DemoQuery, read_products, read_queries
from relgate.eval.demo.labels import grade
from relgate.eval.demo.make_shop import main, products_text

FIELDS = {
    "id": str,
    "title": str,
    "brand": str,
    "price": float,
    "currency": str,
    "category": str,
    "type": str,
    "colors": list,
    "gender": str,
    "styles": list,
    "occasions": list,
    "material": str,
    "lang": str,
    "description": str,
}


@pytest.fixture(scope="module")
def products():
    return read_products()


@pytest.fixture(scope="module")
def queries() -> list[DemoQuery]:
    return read_queries()


def test_the_product_file_is_what_the_generator_makes_of_shop_toml(tmp_path):
    committed = (DATA / "products.jsonl").read_bytes()
    assert products_text((DATA / "shop.toml").read_text(encoding="utf-8")).encode() == committed
    (tmp_path / "shop.toml").write_bytes((DATA / "shop.toml").read_bytes())
    main(tmp_path)
    assert (tmp_path / "products.jsonl").read_bytes() == committed


def test_another_shop_toml_makes_other_products():
    text = (DATA / "shop.toml").read_text(encoding="utf-8")
    fewer = text.replace("count = 14", "count = 13", 1)
    assert len(products_text(fewer).splitlines()) == len(products_text(text).splitlines()) - 1


def test_every_product_has_every_field_of_its_type_and_a_unique_id(products):
    for product in products:
        assert {name: type(value) for name, value in product.items()} == FIELDS, product["id"]
        assert all(product.values()), product["id"]
    assert 300 <= len(products) <= 450
    assert len({p["id"] for p in products}) == len(products)
    assert {p["currency"] for p in products} == {"EUR"}


def test_attributes_come_from_the_shops_own_vocabulary(products):
    shop = tomllib.loads((DATA / "shop.toml").read_text(encoding="utf-8"))
    for product in products:
        assert set(product["colors"]) <= set(shop["colors"])
        assert product["gender"] in shop["genders"]
        assert product["material"] in shop["materials"]
        assert product["price"] > 0


def test_descriptions_are_written_in_the_products_language(products):
    english, german = {"the", "a", "and", "for", "of", "in"}, {"der", "die", "das", "und", "für"}
    by_language = Counter(p["lang"] for p in products)
    assert min(by_language["en"], by_language["de"]) > 0.3 * len(products)
    for lang, own, other in (("en", english, german), ("de", german, english - {"in"})):
        words = Counter(
            word
            for p in products
            if p["lang"] == lang
            for word in p["description"].lower().replace(".", "").split()
        )
        assert sum(words[w] for w in own) > 20 * sum(words[w] for w in other)


def test_queries_are_unique_and_weighted_and_few_are_head(queries):
    assert 70 <= len(queries) <= 90
    assert len({q.id for q in queries}) == len({q.text for q in queries}) == len(queries)
    assert 8 <= sum(q.head for q in queries) <= 12
    assert min(q.weight for q in queries if q.head) > max(q.weight for q in queries if not q.head)
    assert set(Counter(q.stratum for q in queries)) == {
        "attribute",
        "broad",
        "empty",
        "german",
        "price",
        "typo",
    }


def test_every_kind_of_constraint_is_asked_for(queries):
    needs = [q.need for q in queries]
    for kind in ("brands", "colors", "genders", "materials", "occasions", "max_price"):
        assert sum(bool(getattr(need, kind)) for need in needs) >= 1, kind
    assert sum(need.max_price is not None for need in needs) >= 3


def test_constraints_name_values_that_the_shop_has(queries, products):
    have = {
        "types": {p["type"] for p in products},
        "substitutes": {p["type"] for p in products},
        "complements": {p["type"] for p in products},
        "brands": {p["brand"] for p in products},
        "colors": {c for p in products for c in p["colors"]},
        "genders": {p["gender"] for p in products},
        "materials": {p["material"] for p in products},
        "occasions": {o for p in products for o in p["occasions"]},
    }
    for query in queries:
        for kind, values in have.items():
            assert set(getattr(query.need, kind)) <= values, (query.text, kind)


def test_a_price_in_the_query_is_its_constraint(queries):
    for query in queries:
        _, under, bound = query.text.partition(" under ")
        assert query.need.max_price == (float(bound) if under else None), query.text


def test_every_query_with_a_need_can_be_met(queries, products):
    for query in queries:
        good = sum(grade(query.need, p) >= 2 for p in products)
        assert (good == 0) == (query.stratum == "empty"), query.text


def test_the_readme_says_that_it_is_made_up_and_proves_nothing():
    readme = " ".join((DATA / "README.txt").read_text(encoding="utf-8").split())
    assert "is made up" in readme
    assert "says NOTHING about its agreement with people, or about real data" in readme


def test_the_change_is_described_as_the_synonym_file_has_it():
    change = tomllib.loads((DATA / "change.toml").read_text(encoding="utf-8"))
    assert (change["type"], change["intent"]) == ("synonyms", "improve")
    assert change["system_models"] == []
    lines = [
        {word.strip() for word in line.split(",")}
        for line in (DATA / "synonyms.txt").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]
    assert {"running", "jogging", "sprint", "marathon"} in lines
    assert "running -> +jogging, sprint, marathon" in change["description"]
    assert {"backpack", "rucksack", "daypack"} in lines
    assert "backpack -> +rucksack, daypack;" in change["description"]
