"""Do 95 % intervals hold the truth 95 % of the time? Simulated judges whose truth is known.

The short form runs with the tests, the long one (more figures, more resamples, 30 queries) in
`make soak`. Intervals: expanded percentile over 400 (long: 2,000) resampled queries; Student's t
for prediction-powered means.
"""

from __future__ import annotations

import numpy as np
import pytest
from dl19 import tables_of_queries

from relgate.eval.agreement.confusion import all_figures, floor_table
from relgate.eval.agreement.intervals import figures_with_intervals
from relgate.eval.agreement.people import judge_among_people
from relgate.eval.agreement.powered import as_values, powered_mean
from relgate.eval.agreement.rates import corrected_rate
from relgate.eval.agreement.ratings import Ratings, rater_agreement

DRAWS = 1_000
LEAST, MOST = 0.93, 0.97


def holds(figure, truth):
    return figure.low is not None and figure.low <= truth <= figure.high


def coverage_of_kappas(queries, *, draws=DRAWS, resamples=400, seed=11):
    rng = np.random.default_rng(seed)
    pool = tables_of_queries(rng, 40_000, 12)
    names = ("kappa", "kappa_quadratic", "floor_kappa", "f1", "precision", "recall", "mean_shift")
    truth = all_figures(pool.sum(axis=0), floor=2)
    hits = dict.fromkeys(names, 0)
    for i in range(draws):
        sample = pool[rng.integers(0, len(pool), queries)]
        found = figures_with_intervals(sample, floor=2, seed=i, resamples=resamples)
        for name in names:
            hits[name] += holds(found[name], float(truth[name]))
    return {name: n / draws for name, n in hits.items()}


class Crowd:
    """Three raters with gaps and a judge, who see one latent relevance of clustered documents."""

    def __init__(self, seed, queries=20_000, each=5):
        rng = np.random.default_rng(seed)
        n = queries * each
        level = np.repeat(rng.normal(0, 0.6, queries), each)
        truth = rng.normal(1.5, 0.9, n) + level
        seen = truth[:, None] + rng.normal(0, 0.7, (n, 3))
        people = np.clip(np.rint(seen), 0, 3).astype(int)
        self.people = np.where(rng.random((n, 3)) < 0.2, -1, people)
        self.judge = np.clip(np.rint(truth + rng.normal(0.3, 0.9, n)), 0, 3).astype(int)
        self.queries, self.each = queries, each

    def sample(self, queries):
        rows = (np.asarray(queries)[:, None] * self.each + np.arange(self.each)).ravel()
        ratings = Ratings(
            self.people[rows],
            ("a", "b", "c"),
            np.repeat(np.arange(len(queries)), self.each),
            tuple(map(str, range(len(queries)))),
            tuple(map(str, range(len(rows)))),
            4,
        )
        return ratings, self.judge[rows]


def coverage_of_raters(queries, measure, names, *, draws=DRAWS, resamples=300, seed=3):
    crowd = Crowd(seed)
    rng = np.random.default_rng(seed)
    true = measure(*crowd.sample(range(crowd.queries)), resamples=2).figures
    hits = dict.fromkeys(names, 0)
    for i in range(draws):
        sample = crowd.sample(rng.integers(0, crowd.queries, queries))
        found = measure(*sample, seed=i, resamples=resamples).figures
        for name in names:
            hits[name] += holds(found[name], true[name].point)
    return {name: n / draws for name, n in hits.items()}


def coverage_of_people(queries, **how):
    names = ("alpha_people", "alpha_with_judge", "over_people", "judge_kappa_quadratic")
    return coverage_of_raters(queries, judge_among_people, names, **how)


def coverage_of_alphas(queries, **how):
    def measure(ratings, _judge, **given):
        return rater_agreement(ratings, **given)

    return coverage_of_raters(queries, measure, ("alpha_ordinal", "conger", "ac1"), **how)


def deltas(rng, n):
    """Deltas as reviews have them: most queries do not move, some much; the judge sees part."""
    moved = rng.random(n) < 0.4
    people = np.where(moved, rng.normal(0.02, 0.25, n), 0.0)
    judge = np.where(moved, 0.7 * people + rng.normal(0.03, 0.12, n), 0.0)
    ghost = rng.random(n) < 0.05
    return people, np.where(ghost, judge + rng.normal(0.1, 0.1, n), judge)


def study_of_powered(labelled, unlabelled, *, draws=DRAWS, seed=4):
    """Coverage of people alone, PPI and PPI++, and mean width of each over people's."""
    rng = np.random.default_rng(seed)
    truth = 0.4 * 0.02
    hits, width = dict.fromkeys(("people", "ppi", "ppi++"), 0), dict.fromkeys(("ppi", "ppi++"), 0.0)
    for _ in range(draws):
        people, judge = deltas(rng, labelled + unlabelled)
        people[labelled:] = np.nan
        tuned = powered_mean(as_values(people, judge))
        plain = powered_mean(as_values(people, judge), weight=1)
        found = {"people": tuned.people, "ppi": plain.corrected, "ppi++": tuned.corrected}
        for name, estimate in found.items():
            hits[name] += holds(estimate, truth)
        own = tuned.people.high - tuned.people.low
        for name in width:
            width[name] += (found[name].high - found[name].low) / own / draws
    return {name: n / draws for name, n in hits.items()}, width


def coverage_of_rates(labelled, unlabelled, *, draws=DRAWS, resamples=400, seed=5):
    rng = np.random.default_rng(seed)
    pool = tables_of_queries(rng, 40_000, 12)
    binary = floor_table(pool, floor=2)
    truth = float(binary[:, 1].sum() / binary.sum())
    hits = 0
    for i in range(draws):
        part = binary[rng.integers(0, len(pool), labelled)]
        rest = binary[rng.integers(0, len(pool), unlabelled)].sum(axis=1)
        hits += holds(corrected_rate(part, rest, seed=i, resamples=resamples).corrected, truth)
    return hits / draws


def within(found):
    return {name: share for name, share in found.items() if not LEAST <= share <= MOST}


def test_kappas_and_f1_cover_at_120_queries():
    assert within(coverage_of_kappas(120)) == {}


def test_alphas_and_the_judge_over_people_cover_at_120_queries():
    assert within(coverage_of_people(120)) == {}


@pytest.mark.parametrize(("labelled", "unlabelled"), [(100, 150), (150, 1_000), (200, 200)])
def test_corrected_deltas_cover_and_are_not_wider_than_peoples_on_average(labelled, unlabelled):
    found, width = study_of_powered(labelled, unlabelled)
    assert within(found) == {}
    assert width["ppi++"] < 1


def test_ppi_without_tuning_may_be_wider_than_people_alone_which_is_why_it_is_tuned():
    """A judge whose deltas are mostly noise: lambda 1 adds it, lambda* leaves it."""
    rng = np.random.default_rng(6)
    wider = narrower = 0.0
    for _ in range(200):
        people, judge = rng.normal(0, 0.1, 300), rng.normal(0, 0.3, 300)
        people[100:] = np.nan
        tuned, plain = (powered_mean(as_values(people, judge), weight=w) for w in (None, 1))
        own = tuned.people.high - tuned.people.low
        wider += (plain.corrected.high - plain.corrected.low) / own / 200
        narrower += (tuned.corrected.high - tuned.corrected.low) / own / 200
    assert wider > 2
    assert narrower == pytest.approx(1, abs=0.01)


def test_corrected_rates_cover_at_120_queries():
    assert LEAST <= coverage_of_rates(120, 200) <= MOST


@pytest.mark.soak
@pytest.mark.parametrize("queries", [100, 200, 500])
def test_the_long_form_covers_with_2000_resamples(queries):
    assert within(coverage_of_kappas(queries, resamples=2_000, seed=21)) == {}
    assert within(coverage_of_people(queries, resamples=1_000, seed=22)) == {}
    assert within(coverage_of_alphas(queries, resamples=1_000, seed=24)) == {}
    assert LEAST <= coverage_of_rates(queries, 2 * queries, resamples=2_000, seed=23) <= MOST


@pytest.mark.soak
def test_30_queries_are_reported_as_they_are(capsys):
    """No bar at so few clusters: the shares are printed."""
    found = {
        **coverage_of_kappas(30, resamples=2_000, seed=31),
        **coverage_of_people(30, resamples=1_000, seed=32),
        **coverage_of_alphas(30, resamples=1_000, seed=34),
        "rogan_gladen": coverage_of_rates(30, 60, resamples=2_000, seed=33),
    }
    with capsys.disabled():
        print("\n30 queries:", {k: round(share, 3) for k, share in found.items()})  # noqa: T201
    assert all(0.80 < share < 0.97 for share in found.values())
