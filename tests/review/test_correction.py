"""A judge's delta corrected by people's labels: shown with its interval, or why not."""

from __future__ import annotations

import numpy as np
import pytest

from relgate.eval.correcting import correct_review, gaps_beside_fill, peoples_labels
from relgate.eval.inputs import align_inputs
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Source
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.project import Project
from relgate.eval.report import phrases
from relgate.eval.report.document import review_document
from relgate.eval.report.markdown import review_markdown
from relgate.eval.review.correction import Labels, correct_delta, only_by
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError

JUDGE = Provenance(Source.JUDGE, judge_version="v@1", fingerprint="f1", model="m")
PEOPLE = Provenance(Source.HUMAN)
K = 5


class World:
    """Queries with six documents; the judge overrates what the after side brings to the top."""

    def __init__(self, seed=1, queries=160, *, bias=1.2):
        rng = np.random.default_rng(seed)
        self.n = queries
        self.truth = rng.integers(0, 4, (queries, 6))
        noise = rng.normal(0, 0.6, (queries, 6))
        noise[:, 5] += bias
        self.judged = np.clip(np.rint(self.truth + noise), 0, 3).astype(int)
        docs = [f"d{i}" for i in range(6)]
        names = tuple(Query(f"q{i}", f"query {i}") for i in range(queries))
        self.before = Run("before", names, tuple(tuple(docs[:5]) for _ in names))
        self.after = Run("after", names, tuple(("d5", *docs[:4]) for _ in names))

    def grades(self, values, queries, provenance):
        builder = ListBuilder(SCALES["0-3"])
        for q in queries:
            for d in range(6):
                builder.add(Query(f"q{q}", f"query {q}"), f"d{d}", int(values[q, d]), provenance)
        return builder.build()

    def judge_list(self, queries=None):
        return self.grades(self.judged, range(self.n) if queries is None else queries, JUDGE)

    def people_list(self, queries):
        return self.grades(self.truth, queries, PEOPLE)

    @property
    def runs(self):
        return self.before, self.after

    def correct(self, labelled, *, judged=None, plain=0.0):
        labels = Labels(judged or self.judge_list(), self.people_list(labelled), {})
        return correct_delta(labels, self.runs, Conventions(k=K), plain=plain)


def true_delta(world):
    whole = world.correct(range(world.n))
    return whole.people.point


def test_the_corrected_delta_holds_the_truth_where_the_judges_does_not():
    world = World()
    labelled = np.random.default_rng(5).choice(world.n, 60, replace=False)
    found = world.correct(labelled)
    assert found.why is None
    assert (found.labelled, found.unlabelled) == (60, 100)
    truth = true_delta(world)
    assert found.judge.low > truth  # the judge is sure, and wrong
    assert found.corrected.low < truth < found.corrected.high
    assert 0 < found.weight <= 1.2
    assert found.corrected.high - found.corrected.low < found.people.high - found.people.low


def test_a_judge_that_people_confirm_is_hardly_corrected():
    world = World(bias=0.0)
    world.judged = world.truth.copy()
    found = world.correct(range(0, 160, 2))
    assert found.weight == pytest.approx(0.5, abs=0.1)  # cov / ((1 + n/N) var), n = N
    assert found.corrected.point == pytest.approx(found.judge.point, abs=2e-3)
    assert found.notes[1:] == ()


def test_all_queries_labelled_leaves_peoples_own_mean():
    found = World().correct(range(160))
    assert (found.unlabelled, found.weight) == (0, 0.0)
    assert found.corrected.point == found.people.point


def test_fewer_than_50_labelled_queries_say_why_and_how():
    found = World().correct(range(49))
    assert found.corrected is None
    assert "49 queries have people's and the judge's grades" in found.why
    assert "50 needed" in found.why
    assert "--human" in found.why
    assert World().correct(range(50)).corrected is not None


def test_people_without_the_judges_grades_on_the_same_queries_are_told_of_correct():
    world = World()
    found = world.correct(range(80), judged=world.judge_list(range(80, 160)))
    assert (found.labelled, found.unlabelled) == (0, 80)
    assert "people graded 80; with --correct the judge grades those too" in found.why


def test_a_query_with_a_gap_within_k_counts_for_nobody():
    world = World()
    builder = ListBuilder(SCALES["0-3"])
    for row in world.judge_list().rows():
        if (row.query.id, row.doc_id) != ("q7", "d2"):
            builder.add(row.query, row.doc_id, row.grade, row.provenance)
    found = world.correct(range(60), judged=builder.build())
    assert (found.labelled, found.unlabelled) == (59, 100)


def test_labels_of_the_queries_that_moved_most_are_noted_as_no_random_part():
    world = World()
    whole = world.judged[:, 5].argsort(kind="stable")[::-1][:60]
    notes = world.correct(whole).notes
    assert any("hardly a random part" in note for note in notes)
    labelled = np.random.default_rng(5).choice(world.n, 60, replace=False)
    assert not any("random part, and" in note for note in world.correct(labelled).notes)


def test_a_grade_that_people_never_checked_is_noted():
    world = World()
    world.judged[:60] = np.minimum(world.judged[:60], 2)
    notes = world.correct(range(60)).notes
    assert any(n.startswith("Grade 3 is") and "outside what they checked" in n for n in notes)


def test_a_plain_delta_outside_the_corrected_interval_is_noted():
    found = World().correct(range(60), plain=0.9)
    assert any("does not hold the delta as scored, +0.9000" in note for note in found.notes)


def test_several_judges_are_noted():
    world = World()
    other = Provenance(Source.JUDGE, judge_version="v@2", fingerprint="f2", model="m2")
    builder = ListBuilder(SCALES["0-3"])
    for row in world.judge_list().rows():
        builder.add(row.query, row.doc_id, row.grade, other if row.query.id == "q3" else JUDGE)
    notes = world.correct(range(60), judged=builder.build()).notes
    assert any("grades are of 2 judges" in note for note in notes)


# --- with a list, labels aside, and a judge


def aligned_of(world, judgments):
    return align_inputs(judgments, world.runs, Project(k=K))


def corrected(world, judgments, people=None):
    return correct_review(
        aligned_of(world, judgments), judgments, Project(k=K), people=people, opened=None, ask=None,
        moment=None, plain=0.0,
    )  # fmt: skip


def test_labels_aside_correct_a_list_that_a_judge_made():
    world = World()
    found = corrected(world, world.judge_list(), world.people_list(range(60)))
    assert (found.labelled, found.unlabelled, found.why) == (60, 100, None)


def test_a_list_of_people_alone_has_nothing_to_correct():
    world = World()
    assert corrected(world, world.people_list(range(world.n))) is None


def test_labels_aside_of_another_scale_or_that_contradict_are_refused():
    world = World()
    binary = ListBuilder(SCALES["0-1"])
    binary.add(Query("q1"), "d1", 1, PEOPLE)
    with pytest.raises(InputError, match="bring both onto one scale"):
        peoples_labels(world.people_list([1]), binary.build())
    other = world.grades(3 - world.truth, [1], PEOPLE)
    with pytest.raises(InputError, match="two different grades"):
        peoples_labels(world.people_list([1]), other)


def test_a_plan_asks_the_judge_only_for_what_people_graded_whole_and_it_did_not():
    class Opened:
        class judge:  # noqa: N801 - stands for an attribute
            fingerprint = "f1"

    world = World()
    people = world.people_list(range(30))
    gaps = gaps_beside_fill(aligned_of(world, people), Project(k=K), people=None, opened=Opened)
    assert len(gaps) == 30
    assert gaps[0].doc_ids == ("d0", "d1", "d2", "d3", "d4", "d5")


def test_the_report_shows_the_corrected_delta_beside_the_plain_one(make_review_of):
    world = World()
    labelled = np.random.default_rng(5).choice(world.n, 60, replace=False)
    review = make_review_of(correction=world.correct(labelled))
    lines = phrases.correction_lines(review.evidence)
    assert "as scored" in lines[0]
    assert lines[3].startswith("corrected (PPI++, lambda 0.")
    assert "n = 60, N = 100 by the judge alone" in lines[3]
    page = review_markdown(review)
    assert "### Corrected by people's labels" in page
    document = review_document(review)["corrected"]
    assert (document["n"], document["unlabelled"], document["why"]) == (60, 100, None)
    assert document["corrected"]["low"] < document["corrected"]["high"]
    assert document["lambda"] == pytest.approx(world.correct(labelled).weight, abs=1e-6)


def test_the_report_says_why_there_is_no_correction(make_review_of):
    review = make_review_of(correction=World().correct(range(10)))
    (line,) = phrases.correction_lines(review.evidence)
    assert line.startswith("not corrected: 10 queries have")
    assert review_document(review)["corrected"]["corrected"] is None
    assert phrases.correction_lines(make_review_of(correction=None).evidence) == []


@pytest.fixture
def make_review_of(query, evidence):
    from relgate.eval.review.verdict import review  # noqa: PLC0415

    return lambda **rest: review(evidence(query("q1", 0.5, 0.6), query("q2", 0.4, 0.5), **rest))


def test_only_the_rows_of_one_source_and_judge_are_kept():
    world = World(queries=3)
    mixed = ListBuilder(SCALES["0-3"])
    for row in [*world.judge_list([0, 1]).rows(), *world.people_list([2]).rows()]:
        mixed.add(row.query, row.doc_id, row.grade, row.provenance)
    judgments = mixed.build()
    assert len(only_by(judgments, Source.JUDGE)) == 12
    assert len(only_by(judgments, Source.JUDGE, "f1")) == 12
    assert len(only_by(judgments, Source.JUDGE, "other")) == 0
    assert len(only_by(judgments, Source.HUMAN)) == 6
