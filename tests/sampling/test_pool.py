"""Which pairs may be labelled."""

from __future__ import annotations

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Source
from relgate.eval.metrics.align import align
from relgate.eval.queries import QueryRow, QueryTable
from relgate.eval.runs.types import Run
from relgate.eval.sampling.pool import Stratum, pool_pairs

HUMAN, IMPORT, JUDGE = (
    Provenance(source) for source in (Source.HUMAN, Source.IMPORT, Source.JUDGE)
)


def listed(*rows):
    builder = ListBuilder(SCALES["0-3"])
    for query, doc, grade, origin in rows:
        builder.add(Query(query, query), doc, grade, origin)
    return builder.build()


def run_of(name="r", **docs):
    return Run(
        name,
        tuple(Query(q) for q in docs),
        tuple(None if d is None else tuple(d.split()) for d in docs.values()),
    )


def pool(*runs, judgments=None, older=(), **more):
    judgments = judgments or listed()
    return pool_pairs(
        judgments,
        runs,
        align(judgments, runs),
        older=[(one, align(one, runs)) for one in older],
        has_text=more.pop("has_text", lambda _: True),
        **more,
    )


def pairs(found):
    return [(p.query.id, p.doc_id) for p in found.pairs]


def test_the_pool_is_the_union_of_each_runs_first_documents():
    found = pool(run_of(q="a b c", p="x"), run_of("s", q="c d e"), depth=2)
    assert pairs(found) == [("q", "a"), ("q", "b"), ("q", "c"), ("q", "d"), ("p", "x")]
    assert (found.from_runs, found.known_good) == (5, 0)


def test_the_depth_is_20_documents():
    found = pool(run_of(q=" ".join(f"d{i:02}" for i in range(30))))
    assert pairs(found) == [("q", f"d{i:02}") for i in range(20)]


def test_a_repeated_document_takes_one_place_of_the_depth():
    assert pairs(pool(run_of(q="a a b c"), depth=2)) == [("q", "a"), ("q", "b")]


def test_good_documents_of_an_older_list_join_whoever_graded_them():
    older = listed(("q", "g", 2, HUMAN), ("q", "h", 3, JUDGE), ("q", "i", 1, HUMAN))
    found = pool(run_of(q="a"), older=[older])
    assert pairs(found) == [("q", "a"), ("q", "g"), ("q", "h")]
    assert (found.from_runs, found.known_good) == (1, 2)


def test_good_documents_of_the_list_itself_join_unless_a_person_graded_them():
    mine = listed(("q", "g", 3, IMPORT), ("q", "h", 3, HUMAN), ("q", "i", 1, IMPORT))
    found = pool(run_of(q="a"), judgments=mine)
    assert pairs(found) == [("q", "a"), ("q", "g")]
    assert found.human_rated == 1


def test_the_floor_of_good_can_be_stated():
    older = listed(("q", "g", 2, HUMAN), ("q", "h", 3, HUMAN))
    assert pairs(pool(run_of(q="a"), older=[older], floor=3)) == [("q", "a"), ("q", "h")]


def test_what_people_graded_is_not_asked_again_and_what_a_judge_graded_is():
    mine = listed(("q", "a", 0, HUMAN), ("q", "b", 0, JUDGE))
    found = pool(run_of(q="a b"), judgments=mine)
    assert pairs(found) == [("q", "b")]
    assert found.human_rated == 1


def test_a_document_without_a_text_is_left_out_and_counted():
    found = pool(run_of(q="a b"), has_text=lambda doc: doc != "a")
    assert (pairs(found), found.no_text) == ([("q", "b")], 1)


def test_queries_of_a_list_alone_are_not_pooled():
    assert pairs(pool(run_of(q="a"), judgments=listed(("z", "g", 3, IMPORT)))) == [("q", "a")]


def test_a_query_for_which_no_run_lists_documents_is_counted():
    assert pool(run_of(q="a", p=None)).no_documents == 1


def test_composed_and_decomposed_ids_are_one_document():
    mine = listed(("q", "cafe\u0301", 1, HUMAN))
    assert pairs(pool(run_of(q="caf\u00e9"), judgments=mine)) == []


def test_a_query_goes_by_the_lists_own_id():
    run = Run("r", (Query("17", "red shoes"),), (("a",),))
    builder = ListBuilder(SCALES["0-3"])
    builder.add_query(Query("red shoes"))
    mine = builder.build()
    found = pool_pairs(mine, [run], align(mine, [run]), has_text=lambda _: True)
    assert [(p.query.id, p.query.text) for p in found.pairs] == [("red shoes", "red shoes")]


def test_the_stratum_comes_from_the_table():
    rows = (QueryRow("q", head=True, stratum="shoes"), QueryRow("9", text="p", stratum="hats"))
    table = QueryTable(rows, "t", "csv", ("head", "stratum"))
    found = pool(run_of(q="a", p="b", o="c"), table=table)
    assert [p.stratum for p in found.pairs] == [
        Stratum("shoes", head=True), Stratum("hats"), Stratum(),
    ]  # fmt: skip
