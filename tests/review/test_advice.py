"""What to look at, by the type of change; one-way synonyms as the description reads."""

from __future__ import annotations

import pytest

from relgate.eval.metrics.conventions import Conventions
from relgate.eval.review.advice import look_at, one_way_mappings, type_advice
from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.eval.review.losers import loser_of
from relgate.eval.review.types import RankedDoc

GOOD, NEW = RankedDoc("good", 3), RankedDoc("new")


@pytest.fixture
def fallen(query):
    """A query whose good document fell below a new one, or left."""

    def build(name="running socks", *, left=False):
        now = (NEW,) if left else (NEW, GOOD)
        found = query(name, 0.9, 0.3, was={"top": (GOOD,)}, now={"top": now})
        return loser_of(found, Conventions())

    return build


def advice(kind, *losers, description=None, titles=None):
    change = ChangeDescription(types=(kind,), description=description)
    return list(type_advice(change, losers, titles or {}))


@pytest.mark.parametrize("kind", list(ChangeType))
def test_every_type_names_the_query_and_says_one_thing(fallen, kind):
    (said,) = advice(kind, fallen())
    assert "running socks" in said
    assert said.endswith(".")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (ChangeType.SYNONYMS, "one-way"),
        (ChangeType.FILTER_LOGIC, "with the filter and without it"),
        (ChangeType.REWRITER, "with the rewriter on and off"),
        (ChangeType.RERANKER, "with the reranker on and off"),
        (ChangeType.ANALYZER, "tokens"),
        (ChangeType.MAPPINGS, "tokens"),
        (ChangeType.HNSW_PARAMS, "num_candidates"),
        (ChangeType.EMBEDDING_MODEL, "num_candidates"),
        (ChangeType.QUERY_TEMPLATE, "good (grade 3), now below new (unrated)"),
        (ChangeType.HYBRID_WEIGHTS, "good (grade 3), now below new (unrated)"),
    ],
)
def test_it_says_what_to_look_at(fallen, kind, words):
    (said,) = advice(kind, fallen())
    assert words in said


def test_a_filter_change_names_what_it_may_have_dropped(fallen):
    (said,) = advice(ChangeType.FILTER_LOGIC, fallen(left=True))
    assert 'may have dropped good (grade 3) of "running socks"' in said
    (kept,) = advice(ChangeType.FILTER_LOGIC, fallen())
    assert "dropped" not in kept


def test_types_that_say_the_same_say_it_once(fallen):
    change = ChangeDescription(types=(ChangeType.ANALYZER, ChangeType.MAPPINGS))
    assert len(list(type_advice(change, [fallen()], {}))) == 1


@pytest.mark.parametrize("change", [None, ChangeDescription()])
def test_without_a_type_there_is_no_advice_of_a_type(fallen, change):
    assert list(type_advice(change, [fallen()], {})) == []


@pytest.mark.parametrize(
    ("description", "mappings"),
    [
        (
            "running -> +jogging, sprint, marathon",
            ["jogging => jogging, running", "sprint => sprint, running",
             "marathon => marathon, running"],
        ),
        ("Synonyms: tv \u2192 television", ["television => television, tv"]),
        ("sofa <-> couch", ["couch => couch, sofa"]),
        ("a -> b; c => d", ["b => b, a", "d => d, c"]),
        ("running -> running", []),
        ("the synonyms were tidied up", []),
        ("", []),
    ],
)  # fmt: skip
def test_a_description_that_names_expansions_gives_the_mappings(description, mappings):
    assert [line for line, _ in one_way_mappings(description)] == mappings


def test_only_mappings_that_touch_a_losing_query_are_suggested(fallen):
    both = "running -> +marathon; sofa -> couch"
    (said,) = advice(ChangeType.SYNONYMS, fallen("running_socks"), description=both)
    assert "as the description reads: marathon => marathon, running;" in said
    assert "couch" not in said
    (other,) = advice(ChangeType.SYNONYMS, fallen("desk"), description=both)
    assert "as the description reads" not in other


def test_titles_stand_beside_the_ids(fallen):
    said = look_at(fallen(), {"good": "Red shoe"})
    assert said == (
        'Look at "running socks" (0.90 to 0.30): good "Red shoe" (grade 3) fell from rank 1 to 2; '
        "above now: new at rank 1 (unrated)."
    )


def test_a_document_that_left_is_said_to_be_out(fallen):
    assert "good (grade 3) fell from rank 1 out of the top" in (
        look_at(fallen(left=True), {}) or ""
    )


def test_where_nothing_is_listed_there_is_nothing_to_look_at(query):
    assert look_at(loser_of(query("a", 0.9, 0.1), Conventions()), {}) is None
