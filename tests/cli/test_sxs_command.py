"""`relgate sxs`: the tally on the command line, and what is refused before any page opens."""

from __future__ import annotations

import json

import pytest

from relgate.eval.inputs import align_inputs
from relgate.eval.project import Project
from relgate.eval.runs.read import read_run
from relgate.eval.sidebyside.match import Side, match_runs
from relgate.eval.sidebyside.types import Preference, Vote
from relgate.eval.sidebyside.votes import VoteFile, head_of

SERVE = ("sxs", "serve", "--before", "before.jsonl", "--after", "after.jsonl")
TALLY = ("sxs", "tally", "--votes", "votes.jsonl")
LIST = ("--judgments", "judgments.csv", "--judgments-source", "human")


@pytest.fixture
def voted(shop):
    """The example shop, and its first five queries voted on: four for after, one for before."""
    names = ("before.jsonl", "after.jsonl")
    runs = [read_run(shop.folder / name, name=name) for name in names]
    matches = match_runs(align_inputs(None, runs, Project()), k=10)
    head = head_of(matches, before=names[0], after=names[1])
    words = [Preference.AFTER] * 4 + [Preference.BEFORE]
    with VoteFile(shop.folder / "votes.jsonl", head) as kept:
        for match, prefers in zip(matches.matches, words, strict=False):
            query = match.query
            kept.add(Vote("ann", query.id, query.shown, prefers, Side.BEFORE, "because"))
    return shop


def test_the_tally_has_its_figures_and_is_no_verdict(call, voted):
    done = call(*TALLY, "--json", "--quiet")
    assert done.code == 0
    found = done.json
    assert found["is_verdict"] is False
    assert (found["before"], found["after"], found["ties"]) == (1, 4, 0)
    assert (found["preference"], found["p"]) == (0.6, 0.375)  # 2 * (1 + 5) / 2^5
    assert found["alpha"] is None
    assert found["votes_on"]["asked"] == voted.n


@pytest.mark.usefixtures("voted")
def test_the_votes_stand_beside_ndcg(call):
    """The after side is better on every query by its labels, as far as they go."""
    words = (*TALLY, "--before", "before.jsonl", "--after", "after.jsonl", *LIST)
    found = call(*words, "--json", "--quiet").json["against"]
    counts = (found["alike"], found["apart"], found["metric_only"], found["people_only"])
    assert sum(counts) + found["unscored"] == 5
    assert found["alike"] + found["apart"] == 5
    shown = call(*words).out
    assert "on 5 queries both prefer a side" in shown
    assert "it is no verdict" in shown


@pytest.mark.usefixtures("voted")
def test_votes_are_not_held_against_other_runs(call):
    done = call(*TALLY, "--before", "after.jsonl", "--after", "before.jsonl", *LIST)
    assert done.code == 2
    assert "other runs" in done.err


@pytest.mark.usefixtures("voted")
def test_half_of_the_runs_is_refused(call):
    done = call(*TALLY, "--before", "before.jsonl", *LIST)
    assert done.code == 2
    assert "--before and --after together" in done.err


@pytest.mark.usefixtures("shop")
def test_a_file_that_is_none_of_votes_is_refused(call):
    done = call("sxs", "tally", "--votes", "judgments.csv")
    assert done.code == 2
    assert "judgments.csv" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--votes", "before.jsonl"), "before.jsonl"),
        (("--votes", "v.jsonl", "--after", "before.jsonl"), "the same 10 documents"),
        (("--votes", "v.jsonl", "--host", "192.0.2.1"), "192.0.2.1"),
        (("--votes", "v.jsonl", "--host", "0.0.0.0"), "--allow-network"),  # noqa: S104 - refused
        (("--votes", "v.jsonl", "--images", "nowhere"), "no such folder"),
        (("--votes", "v.jsonl", "--image-host", "a b"), "is no host"),
    ],
)
def test_what_cannot_be_served_is_said_at_once(call, shop, words, said):
    before = (shop.folder / "before.jsonl").read_bytes()
    done = call(*SERVE, *words)
    assert done.code == 2
    assert said in done.err
    assert (shop.folder / "before.jsonl").read_bytes() == before


def test_votes_on_other_runs_are_not_gone_on_with(call, voted):
    lines = [json.loads(x) for x in (voted.folder / "after.jsonl").read_text().splitlines()]
    lines[0]["docs"] = lines[0]["docs"][::-1]
    (voted.folder / "after.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = call(*SERVE, "--votes", "votes.jsonl")
    assert done.code == 2
    assert "answers on other inputs" in done.err
