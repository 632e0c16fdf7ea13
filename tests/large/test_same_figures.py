"""Files scored part by part give what files read as a whole give: figures, counts, refusals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from relgate.eval.inputs import query_texts, with_texts
from relgate.eval.large import parts as parts_module
from relgate.eval.large.score import score_parts
from relgate.eval.lists.read import read_list
from relgate.eval.lists.sink import Options
from relgate.eval.lists.summary import ListSummary
from relgate.eval.lists.types import SCALES, Source
from relgate.eval.metrics.align import align
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.metrics.overlap import overlap
from relgate.eval.metrics.score import score_runs
from relgate.eval.metrics.totals import Totals
from relgate.eval.metrics.types import RunScores
from relgate.eval.queries import QueryTable, read_queries
from relgate.eval.runs.read import read_run
from relgate.rubrics.errors import InputError

SCALE = SCALES["0-3"]
MEMORY = 200_000_000


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every two rows get a part."""
    monkeypatch.setattr(parts_module, "_BYTES_A_ROW", MEMORY // 4)


@dataclass
class Outcome:
    """What came out of scoring, in a form that does not depend on the order of queries."""

    figures: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    counts: list[tuple[object, ...]] = field(default_factory=list)
    means: list[float] = field(default_factory=list)
    said: list[set[str]] = field(default_factory=list)

    def take(self, side: RunScores) -> None:
        for at, query in enumerate(side.queries):
            known = [float(of[at]) for of in side.all_values().values()]
            counts = [side.returned[at], side.unrated[at], side.repeats[at], side.missing[at]]
            assert (side.name, query.id) not in self.figures, "a query stands in two parts"
            self.figures[side.name, query.id] = [*known, *map(float, counts)]


def _counted(lines: Sequence[str]) -> set[str]:
    """Notes without the example: which one comes first is a matter of order."""
    return {re.sub(r" \(first: .*\)$", "", line, flags=re.DOTALL) for line in lines}


def whole(
    listed: Path, runs: Sequence[Path], conventions: Conventions, table: QueryTable | None
) -> Outcome:
    file = read_list(listed, scale=SCALE)
    read = [read_run(path, name=path.name) for path in runs]
    axis = align(with_texts(file.judgments, table), read, query_texts(table))
    judgments = with_texts(file.judgments, table)
    found = Outcome()
    for side in score_runs(judgments, read, axis, conventions):
        found.take(side)
        totals = Totals(side.name, conventions)
        totals.add(side)
        _tell(found, totals)
    own = ListSummary.of(file)
    found.counts.append((own.judgments, own.queries, own.unlabelled, own.grades.counts.tolist()))
    found.counts.append(tuple(len(run.queries) for run in read))
    met = overlap(judgments, read, axis, k=conventions.k)
    found.counts.append((met.run_queries, met.judged_queries, met.retrieved, met.judged))
    found.counts.append((met.any_judged,))
    found.said = [_counted(file.notes), *(_counted(run.notes) for run in read), {*axis.warnings}]
    return found


def in_parts(
    listed: Path, runs: Sequence[Path], conventions: Conventions, table: QueryTable | None
) -> Outcome:
    found = Outcome()
    scores = score_parts(
        listed,
        runs,
        Options(SCALE, source=Source.IMPORT),
        conventions,
        table=table,
        memory=MEMORY,
        each=found.take,
        report=lambda _done, _all: None,
    )
    for run in scores.runs:
        counts = (run.queries, run.missing, run.failed, run.unlisted, run.apart, run.repeats)
        found.counts.append((run.name, *counts, *(mean.n for mean in run.means.values())))
        found.means += [mean.value for mean in run.means.values()]
    own, met = scores.listed, scores.overlap
    found.counts.append((own.judgments, own.queries, own.unlabelled, own.grades.counts.tolist()))
    found.counts.append(scores.run_queries)
    found.counts.append((met.run_queries, met.judged_queries, met.retrieved, met.judged))
    found.counts.append((met.any_judged,))
    found.said = [
        _counted(scores.list_notes), *map(_counted, scores.run_notes), {*scores.warnings},
    ]  # fmt: skip
    return found


def _tell(found: Outcome, totals: Totals) -> None:
    run = totals.totals()
    counts = (run.queries, run.missing, run.failed, run.unlisted, run.apart, run.repeats)
    found.counts.append((run.name, *counts, *(mean.n for mean in run.means.values())))
    found.means += [mean.value for mean in run.means.values()]


def both(
    listed: Path,
    runs: Sequence[Path],
    conventions: Conventions | None = None,
    table: QueryTable | None = None,
) -> Outcome | InputError:
    """The outcome, alike both ways; or the refusal of the parts, where both refuse."""
    found: list[Outcome | InputError] = []
    for way in (whole, in_parts):
        try:
            found.append(way(listed, runs, conventions or Conventions(), table))
        except InputError as error:
            found.append(error)
    one, two = found
    if isinstance(one, InputError) or isinstance(two, InputError):
        assert isinstance(one, InputError), f"only the parts refuse: {two}"
        assert isinstance(two, InputError), f"only the whole is refused: {one}"
        return two
    assert two.counts == one.counts
    assert two.said == one.said
    assert two.figures.keys() == one.figures.keys()
    for key, values in one.figures.items():
        np.testing.assert_allclose(two.figures[key], values, rtol=1e-14, atol=0, err_msg=str(key))
    np.testing.assert_allclose(two.means, one.means, rtol=1e-13, atol=0)
    return two


def write(path: Path, rows: Sequence[Sequence[Any]], *names: str) -> Path:
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    parquet.write_table(pa.table(columns), path)
    return path


IDS = st.sampled_from(["q1", "q2", "q3", "7", "007", "été", "e\u0301te\u0301", "red shoes"])
DOCS = st.sampled_from(["a", "b", "c", "d", "é", "e\u0301", " a", "1E+5"])
GRADES = st.sampled_from([0, 1, 2, 3, 3, 2, 1, 0, None])
TEXTS = st.sampled_from(["red shoes", "blue bag", "été", None])
LISTED = st.one_of(
    st.dictionaries(st.tuples(IDS, DOCS), GRADES, min_size=1, max_size=25).map(
        lambda known: [(*pair, grade) for pair, grade in known.items()]
    ),
    st.lists(st.tuples(IDS, DOCS, GRADES), min_size=1, max_size=25),
)
SCORES = st.sampled_from([3.0, 2.0, 2.0, 1.0, 0.5])
CONVENTIONS = st.builds(
    Conventions,
    k=st.integers(1, 6),
    gain=st.sampled_from(["exp2", "linear"]),
    no_ideal=st.sampled_from(["apart", "zero"]),
    unrated=st.sampled_from(["zero", "condensed", "judged-only"]),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    listed=LISTED,
    runs=st.lists(
        st.lists(st.tuples(IDS, DOCS, SCORES), min_size=1, max_size=25), min_size=1, max_size=2
    ),
    conventions=CONVENTIONS,
)
@example(
    listed=[("q1", "a", 3), ("q1", "a", 2)], runs=[[("q1", "a", 1.0)]], conventions=Conventions()
)
@example(listed=[("q1", "a", 3)], runs=[[("q1", "a", float("nan"))]], conventions=Conventions())
@example(listed=[("q1", "a", 3)], runs=[[("q1", "b", 2.0)] * 3], conventions=Conventions())
def test_ids_ties_repeats_and_faults(tmp_path, listed, runs, conventions) -> None:
    paths = [
        write(tmp_path / f"run{n}.parquet", rows, "query_id", "doc_id", "score")
        for n, rows in enumerate(runs)
    ]
    both(write(tmp_path / "l.parquet", listed, "qid", "docid", "grade"), paths, conventions)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    listed=st.lists(st.tuples(IDS, TEXTS, DOCS, GRADES), min_size=1, max_size=8),
    run=st.lists(st.tuples(IDS, TEXTS, DOCS, SCORES), min_size=1, max_size=8),
    named=st.tuples(st.booleans(), st.booleans()),
    texts=st.none() | st.dictionaries(IDS, TEXTS.filter(bool), max_size=4),
)
def test_queries_that_meet_by_text_come_into_one_part(tmp_path, listed, run, named, texts) -> None:
    by_id = ("query_id", "query", "doc_id")
    table = None
    if texts is not None:
        rows = "".join(f"{query_id},{text}\n" for query_id, text in texts.items())
        (tmp_path / "queries.csv").write_text("query_id,query\n" + rows, "utf-8")
        try:
            table = read_queries(tmp_path / "queries.csv")
        except InputError:  # one id in two forms
            return
    names = [by_id if one else by_id[1:] for one in named]
    rows = listed if named[0] else [row[1:] for row in listed]
    hits = run if named[1] else [row[1:] for row in run]
    both(
        write(tmp_path / "l.parquet", rows, *names[0], "grade"),
        [write(tmp_path / "r.parquet", hits, *names[1], "score")],
        table=table,
    )


def test_a_chain_of_names_is_followed_to_its_end(tmp_path, monkeypatch) -> None:
    """1 and 2 share a text, 2 of the run another text, which the list has as a query's id."""
    listed = [("1", "red", "a", 3), ("3", "blue", "a", 2), ("4", "green", "b", 1)]
    run = [("2", "red", "a", 2.0), ("5", "blue", "a", 2.0), ("4", None, "b", 1.0)]
    columns = ("query_id", "query", "doc_id")
    found = both(
        write(tmp_path / "l.parquet", listed, *columns, "grade"),
        [write(tmp_path / "r.parquet", run, *columns, "score")],
    )
    assert isinstance(found, Outcome)
    assert {query for _, query in found.figures} == {"2", "5", "4"}  # all three have met
    monkeypatch.setattr(parts_module._Names, "_tie", lambda *_: False)  # noqa: SLF001
    with pytest.raises(AssertionError):  # the planted fault: names that are not tied
        both(tmp_path / "l.parquet", [tmp_path / "r.parquet"])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("q", "a", 3), ("p", "b", 1), ("q", "a", 2)], r"two different grades.*'a'"),
        ([("p", "b", 1), ("q", "a", 9)], "grade 9 of document 'a' is not on the scale"),
        ([("p", "b", 1), (None, "a", 3)], "the query id is empty"),
    ],
)
def test_a_fault_of_the_list_is_told_with_its_row(tmp_path, rows, said) -> None:
    run = write(tmp_path / "r.parquet", [("q", "a", 1.0)], "query_id", "doc_id", "score")
    listed = write(tmp_path / "l.parquet", rows, "query_id", "doc_id", "grade")
    found = both(listed, [run])
    assert isinstance(found, InputError)
    assert re.search(said, str(found))
    with pytest.raises(InputError, match=re.escape(str(found))):
        whole(listed, [run], Conventions(), None)


def test_a_score_that_is_no_number_is_told_with_its_row(tmp_path) -> None:
    rows = [("p", "b", 1.0), ("q", "a", float("nan"))]
    run = write(tmp_path / "r.parquet", rows, "query_id", "doc_id", "score")
    listed = write(tmp_path / "l.parquet", [("q", "a", 3)], "query_id", "doc_id", "grade")
    found = both(listed, [run])
    assert isinstance(found, InputError)
    assert (found.line, found.path) == (2, str(run))


def test_several_runs_in_one_file_are_refused_wherever_they_stand(tmp_path) -> None:
    rows = [("p", "b", 1.0, "one"), ("q", "a", 1.0, "two")]
    run = write(tmp_path / "r.parquet", rows, "query_id", "doc_id", "score", "run")
    listed = write(tmp_path / "l.parquet", [("q", "a", 3)], "query_id", "doc_id", "grade")
    assert "2 runs in it" in str(both(listed, [run]))


def test_people_outrank_a_judge_in_another_place_of_the_file(tmp_path) -> None:
    rows = [("q", "a", 1, "judge"), ("p", "b", 2, "human"), ("q", "a", 3, "human")]
    listed = write(tmp_path / "l.parquet", rows, "query_id", "doc_id", "grade", "source")
    run = write(tmp_path / "r.parquet", [("q", "a", 1)], "query_id", "doc_id", "rank")
    found = both(listed, [run])
    assert isinstance(found, Outcome)
    assert found.figures["r.parquet", "q"][0] == 1.0


def test_columns_and_paths_may_have_names_that_sql_and_globs_heed(tmp_path) -> None:
    folder = tmp_path / "a'b [x] *?"
    folder.mkdir()
    rows = [("q", "a", 3, "x"), ("p", "b", 0, "y")]
    listed = write(folder / "l.parquet", rows, "Query ID", "Doc-ID", "grade", 'part"; drop')
    run = write(folder / "r.parquet", [("q", "a", 1)], "QUERY id", "doc", "rank")
    assert isinstance(both(listed, [run]), Outcome)
