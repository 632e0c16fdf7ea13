"""Columns of ids behave as the tuples they stand for, and pairs are found exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relgate.eval.lists import ids as module
from relgate.eval.lists.cells import NotCleanError
from relgate.eval.lists.ids import Ids, IdsBuilder, distinct
from relgate.eval.lists.keys import match_key
from relgate.eval.lists.numerals import decimals, need_whole
from relgate.eval.lists.pairs import PairIndex, Pairs

TEXTS = st.text(st.sampled_from("ab\0\u00e9e\u0301\U0001f600"), max_size=20) | st.text(max_size=9)
COLUMNS = st.lists(TEXTS, max_size=30)


def _held(texts: list[str]) -> Ids:
    """The texts as bytes alone, with others between them and none after the last."""
    raw, starts, lengths = b"", [], []
    for text in texts:
        raw += b"#"
        starts.append(len(raw))
        raw += text.encode("utf-8", "surrogatepass")
        lengths.append(len(raw) - starts[-1])
    data = np.frombuffer(raw, np.uint8)
    return Ids.within(data, np.array(starts, np.int64), np.array(lengths, np.int32), plain=False)


@pytest.mark.parametrize("make", [Ids.of, _held])
@given(texts=COLUMNS, more=COLUMNS, data=st.data())
def test_a_column_is_the_tuple_of_its_texts(make, texts, more, data):
    column = make(texts)
    assert len(column) == len(texts)
    assert column == tuple(texts)
    assert column[1:3] == tuple(texts[1:3])
    assert [column[i] for i in range(-len(texts), len(texts))] == texts * 2
    builder = IdsBuilder()
    for part in (column, make(more), column):
        builder.add(part)
    assert builder.build() == tuple(texts + more + texts)
    rows = data.draw(st.lists(st.integers(0, max(len(texts) - 1, 0)), max_size=5))
    rows = rows if texts else []
    assert column.take(np.array(rows, np.int64)) == tuple(texts[i] for i in rows)
    assert column.keys() == tuple(map(match_key, texts))
    assert column.changes().tolist() == [
        i == 0 or texts[i] != texts[i - 1] for i in range(len(texts))
    ]


@given(texts=COLUMNS.filter(bool), others=COLUMNS.filter(bool), data=st.data())
def test_two_ids_are_the_same_where_their_texts_are(texts, others, data):
    one, two = _held(texts), Ids.of(others)
    n = data.draw(st.integers(1, 20))
    rows = [data.draw(st.integers(0, len(texts) - 1)) for _ in range(n)]
    more = [data.draw(st.integers(0, len(others) - 1)) for _ in range(n)]
    pairs = [(texts[a], others[b]) for a, b in zip(rows, more, strict=True)]
    left, right = np.array(rows), np.array(more)
    assert one.same(left, two, right).tolist() == [a == b for a, b in pairs]
    for (a, b), x, y in zip(pairs, one.hashes(left), two.hashes(right), strict=True):
        assert a != b or x == y


def test_half_a_surrogate_pair_goes_in_and_out():
    column = Ids.of(("a\ud800", "b"))
    assert column.take(np.array([0])) == ("a\ud800",)
    assert column.keys() == ("a\ud800", "b")


@given(st.lists(st.integers(0, 9)))
def test_distinct_values_are_in_order(values):
    assert distinct(np.array(values, np.int64)).tolist() == sorted(set(values))


PAIRS = st.lists(st.tuples(st.integers(0, 3), TEXTS), max_size=40)


@pytest.mark.parametrize("hashes", ["good", "all alike", "two"])
@given(listed=PAIRS, asked=PAIRS)
@settings(deadline=None)
def test_a_pair_is_found_where_a_dictionary_finds_it(listed, asked, hashes):
    """Also when all hashes collide: then only the bytes tell pairs apart."""
    constants = {"good": None, "all alike": 1, "two": 2}
    with pytest.MonkeyPatch.context() as patch:
        if constants[hashes] is not None:
            patch.setattr(
                module,
                "_hashed",
                lambda _data, _starts, lengths: (lengths % constants[hashes]).astype(np.uint64),
            )
        rows = {(q, match_key(doc)): i for i, (q, doc) in enumerate(listed)}
        query = np.array([q for q, _ in listed], np.int32)
        index = PairIndex(query, Ids.of([doc for _, doc in listed]), 4)
        assert index.has_repeats == (len(rows) < len(listed))
        keys = _held([doc for _, doc in asked]).keys()
        at = np.arange(len(asked))
        wanted = np.array([q for q, _ in asked] or [0], np.int64)[: len(asked)]
        found = index.find(Pairs(keys, at, keys.hashes(at), wanted)).tolist()
        for (q, doc), row in zip(asked, found, strict=True):
            key = (q, match_key(doc))
            assert (row >= 0) == (key in rows)
            assert row < 0 or (listed[row][0], match_key(listed[row][1])) == key


def test_a_query_that_the_list_does_not_have_finds_nothing():
    index = PairIndex(np.array([0], np.int32), Ids.of(("a",)), 1)
    keys, at = Ids.of(("a",)), np.array([0])
    assert index.find(Pairs(keys, at, keys.hashes(at), np.array([-1]))).tolist() == [-1]
    assert index.find(Pairs(keys, at, keys.hashes(at), np.array([0]))).tolist() == [0]


NUMBERS = (
    st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.integers(0, 10**20).map(str)
    | st.decimals(0, 10**7, places=6, allow_nan=False).map(str)
    | st.sampled_from(["5.", ".5", "-0", "00012.50", "12345678", "1234567.12345678", "+1"])
)


@given(st.lists(NUMBERS, max_size=20))
def test_numbers_are_what_float_makes_of_them(texts):
    assert decimals(_held(texts)).tolist() == list(map(float, texts))


@pytest.mark.parametrize("text", ["", "x", "1a", "1.2.3", "nan", "inf", "1e999", "1_0", ".", "1/2"])
def test_what_is_no_finite_number_is_left_to_the_careful_reader(text):
    with pytest.raises(NotCleanError):
        decimals(_held(["1", text, "2.5"]))


@given(st.text("0123456789/:-+. ", min_size=1, max_size=10))
def test_whole_numbers_are_one_to_eight_digits(text):
    column = _held(["7", text])
    if text.isdigit() and len(text) <= 8:
        need_whole(column)
    else:
        with pytest.raises(NotCleanError):
            need_whole(column)
