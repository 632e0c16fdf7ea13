"""`relgate certificate`: what certificates say, whether they hold, two side by side."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from relgate.eval.agreement.calibrate import Terms, calibrate_pairs
from relgate.eval.agreement.certificate import make_certificate, write_certificate
from relgate.eval.agreement.pairs import GradedPairs, JudgeIdentity
from relgate.eval.agreement.policy import POLICIES
from relgate.eval.lists.types import SCALES, Query

NOW = datetime.now(UTC)
PARTS = {"rubric": "a1", "template": "b1", "schema": "c1", "parameters": "d1"}


def certificate(*, fingerprint="f1", judge=None, age=1, wrong=0, policy="default", days=90):
    import numpy as np  # noqa: PLC0415

    human = np.array([3, 0] * 100)
    said = human.copy()
    said[:wrong] = 3 - said[:wrong]
    pairs = GradedPairs(
        query=np.arange(200),
        human=human,
        judge=said,
        queries=tuple(Query(f"q{i}") for i in range(200)),
        doc_ids=("d",) * 200,
        sources={"human": 200},
    )
    result = calibrate_pairs(
        pairs,
        scale=SCALES["0-3"],
        terms=Terms(policy=POLICIES[policy]),
        judge=judge or JudgeIdentity("v@1", fingerprint, "model-1", "none", PARTS),
    )
    return make_certificate(result, now=NOW - timedelta(days=age), days=days)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "certificates"


def test_a_certificate_is_shown_with_judge_labels_terms_and_figures(call, folder):
    write_certificate(certificate(), folder / "f1.json")
    done = call("certificate", "show")
    assert done.code == 0
    for part in ("v@1", "model-1", "f1", "200 by human", "template b1", "policy default",
                 "F1 at the floor", "1.0000", "Level: trusted", "nothing declared"):  # fmt: skip
        assert part in done.out
    shown = call("certificate", "show", folder / "f1.json", "--json").json["certificates"]
    assert shown[0]["fingerprint"] == "f1"
    assert shown[0]["policy_terms"]["f1_bar"] == 0.8


def test_the_title_of_a_certificate_is_one_line_however_long_its_file_is_called(call, folder):
    """The file's name has 69 characters: it stands in the table, which folds it at any width."""
    write_certificate(certificate(fingerprint="f" * 64), folder / f"{'f' * 64}.json")
    out = call("certificate", "show").out
    assert out.splitlines()[0] == "Certificate of v@1"
    assert "f" * 64 + ".json" in out


def test_one_that_holds_is_verified(call, folder):
    write_certificate(certificate(), folder / "f1.json")
    done = call("certificate", "verify")
    assert done.code == 0
    assert "it holds" in done.out
    assert call("certificate", "verify", "--json").json["holds"] is True


@pytest.mark.parametrize(
    ("made", "flags", "code", "told"),
    [
        ({"age": 91}, (), 1, "expired at"),
        ({"age": -1}, (), 1, "in the future"),
        ({"wrong": 60}, (), 1, "level is untrusted"),
        ({"policy": "seed"}, (), 1, "policy seed, not default"),
        ({}, ("--floor", "1"), 1, "floor 2, not 1"),
        ({}, ("--scale", "esci"), 1, "scale 0-3, not esci"),
        ({"policy": "seed"}, ("--policy", "seed"), 0, "it holds"),
    ],
)
def test_what_does_not_hold_is_said_with_the_reason(call, folder, *, made, flags, code, told):
    write_certificate(certificate(**made), folder / "f1.json")
    done = call("certificate", "verify", *flags)
    assert done.code == code
    assert told in done.out
    document = call("certificate", "verify", *flags, "--json")
    assert (document.code, document.json["holds"]) == (code, code == 0)


def test_a_certificate_that_was_edited_is_found_and_names_its_file(call, folder):
    write_certificate(certificate(wrong=60), folder / "bad.json")
    write_certificate(certificate(fingerprint="f2"), folder / "good.json")
    path = folder / "bad.json"
    path.write_text(path.read_text().replace('"untrusted"', '"trusted"'))
    done = call("certificate", "verify")
    assert done.code == 2
    assert "bad.json" in done.out
    assert "the file was changed" in done.out
    states = {
        c["file"]: c["state"] for c in call("certificate", "verify", "--json").json["certificates"]
    }
    assert states[str(folder.relative_to(folder.parent) / "bad.json")] == "changed"
    assert states[str(folder.relative_to(folder.parent) / "good.json")] == "holds"
    shown = call("certificate", "show")
    assert shown.code == 2
    assert "changed" in shown.complaint


def test_an_older_one_of_the_same_judge_is_superseded_and_no_fault(call, folder):
    write_certificate(certificate(age=100), folder / "old.json")
    write_certificate(certificate(age=1), folder / "new.json")
    done = call("certificate", "verify", "--json")
    assert done.code == 0
    assert [c["state"] for c in done.json["certificates"]] == ["holds", "superseded"]


def test_a_judge_is_looked_up_by_its_fingerprint(call, folder):
    write_certificate(certificate(), folder / "f1.json")
    assert call("certificate", "verify", "--fingerprint", "f1").code == 0
    done = call("certificate", "verify", "--fingerprint", "f9")
    assert done.code == 1
    assert "No certificate there is of the fingerprint f9" in done.out


def test_an_edited_judge_is_told_which_part_differs(call, shop):
    """The scripted judge's batch size is a parameter; its rubric is another judge's."""
    words = ("--human", "judgments.csv", "--catalogue", "catalogue.jsonl", "--judge", shop.judge())
    call("calibrate", *words, "--quiet")
    assert call("certificate", "verify", "--judge", shop.judge()).code == 0
    (shop.folder / "relgate.toml").write_text("batch_size = 3\n")
    done = call("certificate", "verify", "--judge", shop.judge())
    assert done.code == 1
    assert "no calibration certificate" in done.out.replace("\n", " ")
    assert "a parameter (temperature, output limit, batch size)" in done.out.replace("\n", " ")


def test_a_review_with_an_edited_judge_says_so_too(call, shop):
    words = ("--human", "judgments.csv", "--catalogue", "catalogue.jsonl", "--judge", shop.judge())
    call("calibrate", *words, "--quiet")
    (shop.folder / "relgate.toml").write_text("batch_size = 3\n")
    (use,) = call(*shop.review("--json")).json["judge"]["grades"]
    assert "a parameter (temperature, output limit, batch size)" in use["certificate_problem"]


def test_a_folder_without_a_certificate_is_an_input_error(call, tmp_path):
    for verb in ("show", "verify"):
        done = call("certificate", verb, tmp_path, "--quiet")
        assert done.code == 2
        assert "no certificate there" in done.complaint


def test_judge_and_fingerprint_are_not_both_given(call):
    done = call("certificate", "verify", "--judge", "baseline", "--fingerprint", "x", "--quiet")
    assert done.code == 2
    assert "not both" in done.complaint


def test_two_are_compared_in_judge_labels_terms_and_figures(call, folder):
    other = JudgeIdentity("v@1", "f2", "model-1", "none", {**PARTS, "template": "b2"})
    write_certificate(certificate(), folder / "a.json")
    write_certificate(certificate(judge=other, wrong=20), folder / "b.json")
    done = call("certificate", "compare", folder / "a.json", folder / "b.json")
    assert done.code == 0
    assert "differ in: the prompt's template or examples" in done.out
    assert "The same labels" in done.out
    assert "no interval on a difference" in done.out
    document = call("certificate", "compare", folder / "a.json", folder / "b.json", "--json").json
    assert (document["same_labels"], document["same_terms"]) == (True, True)
    figure = document["figures"]["accuracy"]
    assert (figure["first"]["point"], figure["second"]["point"]) == (1.0, 0.9)
    assert figure["difference"] == pytest.approx(-0.1)


def test_other_terms_are_said_when_compared(call, folder):
    write_certificate(certificate(), folder / "a.json")
    write_certificate(certificate(policy="seed"), folder / "b.json")
    done = call("certificate", "compare", folder / "a.json", folder / "b.json")
    assert "The same judge, by version and fingerprint" in done.out
    assert "Not the same terms" in done.out


def test_json_of_a_certificate_is_what_is_in_the_file(call, folder):
    write_certificate(certificate(), folder / "f1.json")
    (shown,) = call("certificate", "show", "--json").json["certificates"]
    written = json.loads((folder / "f1.json").read_text())
    assert {k: v for k, v in shown.items() if k != "file"} == written
