"""Queries without a text in any file: an id that is words is the text typed, and that is said."""

from __future__ import annotations

import pytest

from relgate.eval.lists.types import Query
from relgate.eval.query_ids import bare_queries, reads_as_text


@pytest.mark.parametrize(
    "query_id",
    ["shoes", "red shoes", "tv", "t-shirt", "men's boots", "H&M", "Schuhe für Kinder", "靴", "जूते",
     "\u06a9\u0641\u0634\u200c\u0647\u0627", "iphone 15 case", "usb c cable 2m"],
)  # fmt: skip
def test_an_id_of_words_is_the_text_typed(query_id: str) -> None:
    assert reads_as_text(query_id)


@pytest.mark.parametrize(
    "query_id",
    ["q17", "17", "query 17", "red_shoes", "2f8a-11bc", "JFK_query", "a:b", "", "--", "q#"],
)
def test_an_id_with_digits_or_marks_of_code_is_an_id(query_id: str) -> None:
    assert not reads_as_text(query_id)


def test_it_is_said_which_ids_were_taken_as_texts_and_which_were_seen_as_ids() -> None:
    words, codes = bare_queries([Query("shoes"), Query("q1"), Query("q2"), Query("q3", "known")])
    assert words == (
        "1 query has no text in any file; the id is words and was taken as the text typed: "
        '"shoes"; --queries gives another'
    )
    assert codes == (
        '2 queries have no text in any file, so the judge sees the id: "q1", "q2"; give --queries'
    )


def test_queries_with_a_text_need_no_remark() -> None:
    assert bare_queries([Query("q1", "shoes")]) == ()
