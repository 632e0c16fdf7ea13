"""A verdict that must stand for the grades that the judge may have got wrong."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_reviews import (
    JUDGE,
    NOW,
    SLOW,
    Scripted,
    Small,
    certify,
    reviews,
    severity,
)

from relgate.eval.gaps.doubt import JudgeError
from relgate.eval.lists.types import Provenance, Source
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.types import Verdict
from relgate.rubrics.errors import InputError, UsageError

LEVEL = 0.85
TABLES = {  # rows people, columns judge
    "0-3": [[61, 3, 0, 0], [3, 61, 3, 0], [0, 0, 58, 3], [0, 0, 3, 61]],
    "0-1": [[61, 3], [3, 61]],
}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As the other tests' folder, but the judge is known to err by its tables."""
    folder = tmp_path_factory.mktemp("erring")
    for scale, floors in (("0-3", (1, 2, 3)), ("0-1", (1,))):
        certify(folder, scale, floors, table=TABLES[scale])
    return folder


@settings(max_examples=60, **SLOW)
@given(reviews(), st.floats(0.5, 0.97), st.data())
def test_a_settled_verdict_is_that_of_every_grade_that_stays_possible(
    certificates: Path, small: Small, level: float, data: st.DataObject
) -> None:
    """Three worlds a review: people's true grades are drawn from what stays possible."""
    small = with_judged(small, data)
    small.project["judge_error"] = level
    done = small.review("open", Scripted(small.truth), certificates)
    facts = done.open_fill
    assert facts is not None
    assert facts.judge_error is not None
    assert facts.least <= done.review.verdict or not facts.settled
    if facts.settled:
        assert done.review.verdict is facts.least
    else:
        assert facts.left == 0  # nothing more that the judge could say
        assert done.review.verdict >= Verdict.NEEDS_WORK
    for _ in range(3):
        other = true_world(small, facts.judge_error, data).review(
            "top-k", Scripted(small.truth), certificates
        )
        for standing in facts.standings:
            if standing.rule not in {"R15", "R16"}:  # of whom the grades are
                found = severity(other.review, standing.rule)
                assert standing.least <= found <= standing.most, standing
        assert facts.least <= other.review.verdict <= facts.most


def with_judged(small: Small, data: st.DataObject) -> Small:
    """Some of the rated pairs were graded by the judge."""
    pairs = [(q, d) for q, docs in small.rated.items() for d in docs]
    judged = data.draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    return replace(small, judged=frozenset(judged), project=dict(small.project))


def true_world(small: Small, error: JudgeError, data: st.DataObject) -> Small:
    """The same review where the judge knew what people would have said."""

    def true(grade: int) -> int:
        return data.draw(st.sampled_from(error.possible(JUDGE, grade)))

    rated = {
        q: {d: true(g) if (q, d) in small.judged else g for d, g in docs.items()}
        for q, docs in small.rated.items()
    }
    truth = {pair: true(grade) for pair, grade in small.truth.items()}
    project = {k: v for k, v in small.project.items() if k != "judge_error"}
    return replace(small, rated=rated, truth=truth, project=project)


@pytest.fixture
def close() -> Small:
    """Twenty queries; c stands first in the place of b. The judge says that c is as good."""
    names = [f"q{i}" for i in range(20)]
    return Small(
        rated={q: {"a": 2, "b": 0} for q in names},
        before={q: ["b", "a"] for q in names},
        after={q: ["c", "a"] for q in names},
        truth={(q, d): 2 for q in names for d in "abc"},
        project={"k": 5, "scale": "0-3", "floor": 2, "judge_error": LEVEL},
        change=ChangeDescription(intent="improve"),
    )


def test_a_point_approves_what_the_judges_error_leaves_open(
    certificates: Path, close: Small
) -> None:
    """Where it says 2, people said 1 or 3 in 6 of 64. With c at 1 the gain is 0.28, not 0.61."""
    close.project["budgets"] = {"min_improvement": 0.3}
    plain = replace(close, project={**close.project, "judge_error": None})
    assert plain.review("open", Scripted(close.truth), certificates).review.verdict is (
        Verdict.APPROVE
    )
    close.project["judge_error"] = 0.95
    done = close.review("open", Scripted(close.truth), certificates)
    facts = done.open_fill
    assert facts is not None
    assert (facts.settled, facts.left, facts.asked, facts.doubted) == (False, 0, 20, 20)
    assert done.review.verdict is Verdict.NEEDS_WORK
    assert "the judge may have got 20 documents wrong" in done.review.headline
    assert "R4" in facts.open_rules
    assert facts.doubtful[0][1] == ("c",)
    assert "Have people grade the 20 documents" in done.review.actions[0]
    said = " ".join(done.review.evidence.warnings)
    assert "of 20 documents graded by a judge more than one grade is possible" in said
    assert "2: 1, 2, 3;" in said


def test_what_no_error_can_change_is_said_to_stand(certificates: Path, close: Small) -> None:
    done = close.review("open", Scripted(close.truth), certificates)
    facts = done.open_fill
    assert facts is not None
    assert facts.settled
    assert done.review.verdict is Verdict.APPROVE
    said = " ".join(done.review.evidence.warnings)
    assert "by its certificates no judge got a grade of this review wrong" in said
    close.project["judge_error"] = 0.95
    done = close.review("open", Scripted(close.truth), certificates)
    said = " ".join(done.review.evidence.warnings)
    assert "and the verdict is APPROVE for all of them" in said


def test_a_judge_without_a_certificate_is_refused_before_any_call(
    tmp_path: Path, close: Small
) -> None:
    judge = Scripted(close.truth)
    with pytest.raises(InputError, match="no certificate of judge esci-v1@0badc0de") as caught:
        close.review("open", judge, tmp_path)
    assert "relgate calibrate" in str(caught.value)
    assert judge.asked == []


def test_a_judge_of_another_fingerprint_is_refused(certificates: Path, close: Small) -> None:
    judge = Scripted(close.truth, fingerprint="0" * 16)
    with pytest.raises(InputError, match="fingerprint 0000000000000000, is there"):
        close.review("open", judge, certificates)
    with pytest.raises(InputError, match="the grades of esci-v1@99999999"):
        close.review("open", Scripted(close.truth, version="esci-v1@99999999"), certificates)


@pytest.mark.parametrize(
    ("origin", "says"),
    [
        (Provenance(Source.JUDGE), "a judge that it does not name"),
        (replace(JUDGE, fingerprint="1" * 16), "fingerprint 1111111111111111, is there"),
    ],
)
def test_a_judge_that_graded_before_is_held_to_it_too(
    certificates: Path, close: Small, monkeypatch, origin: Provenance, says: str
) -> None:
    monkeypatch.setattr("small_reviews.JUDGE", origin)
    judged = replace(close, judged=frozenset({("q0", "a")}))
    with pytest.raises(InputError, match=says):
        judged.review("open", Scripted(close.truth), certificates)


def test_an_expired_certificate_tells_no_error(
    certificates: Path, close: Small, monkeypatch
) -> None:
    monkeypatch.setattr("small_reviews.NOW", NOW + timedelta(days=91))
    with pytest.raises(InputError, match="expired"):
        close.review("open", Scripted(close.truth), certificates)


def test_a_certificate_of_another_scale_is_refused(tmp_path: Path, close: Small) -> None:
    certify(tmp_path, "0-1", [1])
    (tmp_path / "0-1-1").rename(tmp_path / "0-3-2")
    with pytest.raises(InputError, match="on scale 0-1, the list on 0-3"):
        close.review("open", Scripted(close.truth), tmp_path)


def test_only_an_open_fill_has_bounds_to_widen(certificates: Path, close: Small) -> None:
    with pytest.raises(UsageError, match="open fill, and fill is top-k"):
        close.review("top-k", Scripted(close.truth), certificates)
