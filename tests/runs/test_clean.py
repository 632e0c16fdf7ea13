"""The fast way through a TREC run gives what the careful one gives, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relgate.eval.lists.notes import Notes
from relgate.eval.lists.types import Query
from relgate.eval.runs.clean import clean_run
from relgate.eval.runs.trec import _careful
from relgate.rubrics.errors import InputError

PLAIN = "q1 Q0 a 1 2.5 t\nq1 Q0 b 2 1 t\nq2 Q0 a 1 7e-1 t\n"

_IDS = st.sampled_from(["a", "b", "q1", "q2", "1E+5", "caf\u00e9", "x\u200b", "", "_", "7"])
_RANKS = st.sampled_from(["1", "2", "-1", "x", "+3", ""])
_SCORES = st.sampled_from(
    ["1", "2.5", "-0.5", "0", "-0", "nan", "inf", "1_0", "x", "1e400", "7e-1"]
)
_BLANKS = st.sampled_from([" "] * 8 + ["\t", "  ", "\f", "\r"])
_ENDS = st.sampled_from(["\n"] * 8 + ["\r\n", " \n", "\n\n", ""])


@st.composite
def _lines(draw: st.DrawFn) -> str:
    fields = [draw(_IDS), "Q0", draw(_IDS), draw(_RANKS), draw(_SCORES), "t"]
    return draw(_BLANKS).join(fields) + draw(_ENDS)


_FEW = st.tuples(st.sampled_from(["q1", "q2"]), st.sampled_from("abc"), st.integers(0, 3))
_CLEAN = st.lists(_FEW, max_size=8).map(
    lambda rows: "".join(f"{q} Q0 {doc} 1 {score} t\n" for q, doc, score in rows)
)


@settings(max_examples=1_000, deadline=None)
@given(st.one_of(st.lists(_lines(), max_size=5).map("".join), _CLEAN))
def test_it_reads_as_the_careful_reader_or_leaves_it_alone(text):
    found = clean_run(text.encode())
    if found is None:
        return
    notes = Notes()
    assert found == _careful(text, "run.txt", notes)
    assert notes.lines() == ()


@pytest.mark.parametrize(
    "text", [PLAIN, PLAIN.replace(" ", "\t"), PLAIN.replace("\n", "\r\n"), PLAIN.rstrip("\n")]
)
def test_a_clean_run_is_read_the_fast_way(text):
    found = clean_run(text.encode())
    assert found is not None
    assert found.queries == (Query("q1"), Query("q2"))
    assert found.docs == (("a", "b"), ("a",))
    assert found.tied == ()


def test_a_query_in_two_places_of_the_file_is_put_together():
    found = clean_run(b"q1 Q0 a 1 1 t\nq2 Q0 b 1 5 t\nq1 Q0 c 2 3 t\n")
    assert found is not None
    assert found.docs == (("c", "a"), ("b",))


def test_equal_scores_keep_the_files_order_and_are_named():
    found = clean_run(b"q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\nq1 Q0 c 3 2 t\n")
    assert found is not None
    assert (found.docs, found.tied) == ((("c", "a", "b"),), ("q1",))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "q1 Q0 a 1 2\n",
        PLAIN.replace("2.5", "nan"),
        PLAIN.replace("2.5", "2_5"),
        PLAIN.replace(" a ", " 1E+5 "),
        PLAIN.replace(" a ", " \u00e9 "),
        PLAIN.replace(" a ", "  "),
        PLAIN.replace("\n", "\n\n"),
    ],
)
def test_what_needs_care_is_left_to_the_careful_reader(text):
    assert clean_run(text.encode()) is None


def test_real_runs_are_read_alike_both_ways(shared):
    paths = sorted((shared / "data/trec_eval_tests").glob("*results*"))
    assert len(paths) == 3
    for path in paths:
        text = path.read_text("utf-8")
        found = clean_run(text.encode())
        assert found is None or found == _careful(text, str(path), Notes())


def test_a_fault_is_still_told_with_its_line():
    with pytest.raises(InputError, match="not finite"):
        _careful(PLAIN.replace("7e-1", "inf"), "run.txt", Notes())
