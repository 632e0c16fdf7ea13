"""The embedded engine: a real index, two-way synonyms, the same answer every time."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys

import pytest

from relgate.eval.demo.engine import Engine, expand, parse_synonyms, tokens_of
from relgate.rubrics.errors import InputError, PlatformError

PRODUCTS = [
    {"id": "socks", "title": "Running Socks", "type": "socks", "colors": ["blue", "red"]},
    {"id": "race", "title": "Marathon Shoes", "type": "shoe", "description": "Not for socks."},
    {"id": "jog", "title": "Jogging Shoes", "type": "shoe"},
    {"id": "tent", "title": "Zelt grün", "type": "tent", "description": "Für zwei."},
]


@pytest.fixture(scope="module")
def engine():
    with Engine(PRODUCTS) as made:
        yield made


def test_any_word_of_the_query_finds_and_more_words_rank_higher(engine):
    assert engine.search("running socks") == ["socks", "race"]


def test_the_title_weighs_more_than_the_description(engine):
    assert engine.search("socks") == ["socks", "race"]


def test_words_are_stemmed_and_accents_folded(engine):
    assert engine.search("shoes shoe", 2) == engine.search("shoe", 2)
    assert engine.search("grun") == engine.search("GRÜN") == engine.search("gru\u0308n") == ["tent"]


def test_colours_are_searched(engine):
    assert engine.search("red") == ["socks"]


def test_k_cuts(engine):
    assert len(engine.search("shoes", 1)) == 1


def test_equal_scores_are_in_order_of_id():
    twins = [{"id": i, "title": "Same Lamp"} for i in ("b", "c", "a")]
    with Engine(twins) as engine:
        assert engine.search("lamp") == ["a", "b", "c"]


@pytest.mark.parametrize("query", ["", "  ", "!?", "_", "snorkel"])
def test_nothing_found_is_an_empty_answer(engine, query):
    assert engine.search(query) == []


@pytest.mark.parametrize(
    "query", ["socks AND (", "NEAR(socks", "socks*", "-socks", "a:b socks", 'socks "']
)
def test_query_syntax_is_only_text(engine, query):
    assert engine.search(query) == engine.search("socks") == ["socks", "race"]


def test_a_quote_inside_a_word_parts_it(engine):
    assert engine.search('so"cks') == engine.search("so cks") == []


def test_a_very_long_query_is_answered(engine):
    assert engine.search(" ".join(f"w{i}" for i in range(2000)) + " tent") == ["tent"]


def test_a_comma_line_works_in_both_directions(engine):
    two_way = parse_synonyms("running, marathon")
    assert "race" in engine.search("running", synonyms=two_way)
    assert "socks" in engine.search("marathon", synonyms=two_way)
    assert engine.search("running") == ["socks"]
    assert engine.search("marathon") == ["race"]


def test_an_arrow_line_works_in_one_direction(engine):
    one_way = parse_synonyms("marathon => marathon, running")
    assert set(engine.search("marathon", synonyms=one_way)) == {"race", "socks"}
    assert engine.search("running", synonyms=one_way) == ["socks"]


def test_an_arrow_line_replaces_what_it_does_not_repeat():
    assert expand(["jogging"], parse_synonyms("jogging => running")) == ["running"]


def test_a_word_on_two_lines_gets_both_and_no_chain_follows():
    synonyms = parse_synonyms("bag, rucksack\nrucksack, backpack  # packs\n\n# done\n")
    assert expand(["rucksack"], synonyms) == ["rucksack", "bag", "backpack"]
    assert expand(["bag"], synonyms) == ["bag", "rucksack"]


def test_expansion_keeps_order_and_repeats_nothing():
    synonyms = parse_synonyms("hat, cap")
    assert expand(tokens_of("Red hat, red CAP"), synonyms) == ["red", "hat", "cap"]


@pytest.mark.parametrize("line", ["a, , b", "a, hiking boots", "=> b", "a =>", ","])
def test_an_entry_that_is_not_one_word_is_refused_with_its_line(line):
    with pytest.raises(InputError, match=r"^words\.txt:2: synonym .* is not a single word; give"):
        parse_synonyms(f"x, y\n{line}\n", path="words.txt")


def test_the_order_does_not_depend_on_the_hash_seed():
    code = (
        "from relgate.eval.demo.engine import *; from relgate.eval.demo.data_files import *\n"
        "s = parse_synonyms((DATA / 'synonyms.txt').read_text(encoding='utf-8'))\n"
        "with Engine(read_products()) as e:\n"
        "    print([e.search(q.text, 20, synonyms=s) for q in read_queries()])"
    )
    answers = {
        subprocess.run(  # noqa: S603 - our own interpreter and code
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(answers) == 1
    assert b"p0" in answers.pop()


def test_sqlite_without_fts5_is_the_platforms_fault(monkeypatch):
    class Bare(sqlite3.Connection):
        def execute(self, sql, *args):
            return super().execute(sql.replace("fts5(", "no_such_module("), *args)

    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, **more: real(path, factory=Bare, **more))
    with pytest.raises(sqlite3.OperationalError, match="no_such_module"):
        Engine(PRODUCTS)  # another fault is not taken for a missing FTS5

    class NoFts5(sqlite3.Connection):
        def execute(self, *_):
            raise sqlite3.OperationalError("no such module: fts5")  # SQLite's own words

    monkeypatch.setattr(sqlite3, "connect", lambda path, **more: real(path, factory=NoFts5, **more))
    with pytest.raises(PlatformError, match="FTS5; use a Python from"):
        Engine(PRODUCTS)
