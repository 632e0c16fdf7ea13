"""relgate canary: an unmoved judge exits 0, a planted drift 1."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from relgate.eval.agreement.canary_alarm import read_alarms


def rows(n=40):
    return [(f"q{i % 8}", f"p{i}", "ICSE"[i % 4]) for i in range(n)]


def write(folder, letters):
    lines = ["query,doc_id,grade", *(f"{q},{d},{'ICSE'.index(c)}" for q, d, c in rows())]
    (folder / "l.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    items = [{"id": d, "title": f"thing class {c}"} for _, d, c in rows()]
    text = "".join(json.dumps(item) + "\n" for item in items)
    (folder / "c.jsonl").write_text(text, encoding="utf-8")
    (folder / f"canary_{letters}.py").write_text(
        "import json, re\n\n\ndef grade(request):\n    rows = []\n"
        "    for line in request.prompt.splitlines():\n"
        "        found = re.match(r'(\\d+)\\. .*class ([ESCI])', line)\n"
        "        if found:\n"
        f"            letter = dict(zip('ICSE', {letters!r}))[found[2]]\n"
        "            rows.append({'id': found[1], 'esci': letter, 'reason': 'r'})\n"
        "    return json.dumps({'grades': rows})\n",
        encoding="utf-8",
    )


def test_an_unmoved_judge_is_quiet_and_a_planted_drift_is_found(call, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for letters in ("ICSE", "SSEE"):
        write(tmp_path, letters)
    judge = ("--judge-family", "our-rules", "--judge")
    done = call(
        "canary", "freeze", "--judgments", "l.csv", "--catalogue", "c.jsonl", "--pairs", "40",
        *judge, "python:canary_ICSE:grade", "--out", "canary.json", "--json",
    )  # fmt: skip
    assert (done.code, done.json["pairs"], done.json["flips"]) == (0, 40, 0)
    quiet = call("canary", "check", "canary.json", *judge, "python:canary_ICSE:grade", "--json")
    assert (quiet.code, quiet.json["verdict"]) == (0, "nothing moved")
    assert quiet.json["same_judge"]
    moved = call("canary", "check", "canary.json", *judge, "python:canary_SSEE:grade", "--json")
    assert (moved.code, moved.json["verdict"]) == (1, "the judge moved")
    assert moved.json["rose"] == 20


class Canary:
    """A judge in a module that can be edited: the same name, another grade tomorrow."""

    def __init__(self, call, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        self.call, self.folder, self.name = call, folder, name
        write(folder, "ICSE")
        (folder / f"{name}.py").write_text(
            "import json, re, pathlib\n\n\ndef grade(request):\n    rows = []\n"
            "    how = pathlib.Path('how.txt').read_text()\n"
            "    with open('asked.txt', 'a') as log:\n        log.write('x\\n')\n"
            "    if how == 'down':\n        raise OSError('no answer')\n"
            "    if how == 'flaky':\n"
            "        pathlib.Path('how.txt').write_text('ICSE')\n"
            "        raise TimeoutError('once')\n"
            "    for line in request.prompt.splitlines():\n"
            "        found = re.match(r'(\\d+)\\. .*class ([ESCI])', line)\n"
            "        if found:\n"
            "            letter = dict(zip('ICSE', how))[found[2]]\n"
            "            rows.append({'id': found[1], 'esci': letter, 'reason': 'r'})\n"
            "    return json.dumps({'grades': rows})\n",
            encoding="utf-8",
        )
        monkeypatch.syspath_prepend(folder)
        self.says("ICSE")
        (folder / "bars.toml").write_text(
            'name = "bars"\nmin_labels = 20\nmin_each_side = 5\n', encoding="utf-8"
        )
        (folder / "relgate.toml").write_text(
            f'judge = "python:{name}:grade"\njudge_family = "our-rules"\npolicy = "bars.toml"\n'
            'judgments = "l.csv"\ncatalogue = "c.jsonl"\njudgments_source = "human"\n',
            encoding="utf-8",
        )
        rows = [json.dumps({"query": f"q{q}", "docs": [f"p{q}", f"p{q + 8}", "p99"]})
                for q in range(8)]  # fmt: skip
        (folder / "run.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
        (folder / "run2.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")

    def says(self, how: str) -> None:
        (self.folder / "how.txt").write_text(how, encoding="utf-8")

    @property
    def asked(self) -> int:
        return len((self.folder / "asked.txt").read_text(encoding="utf-8").splitlines())

    def state(self) -> str:
        return self.call("certificate", "verify", "--json").out


@pytest.fixture
def canary(call, tmp_path, monkeypatch, request):
    made = Canary(call, tmp_path, monkeypatch, f"moving_{abs(hash(request.node.nodeid))}")
    frozen = call("canary", "freeze", "--pairs", "40", "--out", "canary.json")
    assert frozen.code == 0
    return made


def test_an_alarm_ends_the_certificate_until_the_judge_is_calibrated_again(canary):
    call = canary.call
    first = call("calibrate", "--json").json
    assert first["level"] == "trusted", first["reasons"]
    assert call("certificate", "verify").code == 0
    canary.says("SSEE")
    moved = call("canary", "check", "canary.json", "--json")
    assert (moved.code, moved.json["verdict"]) == (1, "the judge moved")
    alarms = read_alarms(canary.folder / "certificates")
    assert list(alarms) == [first["judge"]["fingerprint"]]
    held = call("certificate", "verify")
    assert held.code == 1
    assert "expired by a canary" in held.out
    looked_up = call("certificate", "verify", "--judge", f"python:{canary.name}:grade")
    assert (looked_up.code, "expired by a canary" in looked_up.out) == (1, True)
    asked = canary.asked
    canary.says("ICSE")  # mended: the provider took the change back
    time.sleep(1)  # a certificate of the alarm's own second counts as older than the alarm
    again = call("calibrate", "--json").json
    assert canary.asked > asked  # grades from before the alarm are no evidence
    assert again["level"] == "trusted"
    assert call("certificate", "verify").code == 0


def test_an_alarm_caps_a_review_that_rests_on_the_judge(canary):
    call = canary.call
    assert call("calibrate", "--json").json["level"] == "trusted"
    text = (canary.folder / "c.jsonl").read_text(encoding="utf-8")
    more = json.dumps({"id": "p99", "title": "thing class E"}) + "\n"
    (canary.folder / "c.jsonl").write_text(text + more, encoding="utf-8")
    words = ("review", "--before", "run.jsonl", "--after", "run2.jsonl", "--fill", "--json")
    (use,) = call(*words).json["judge"]["grades"]
    assert use["certificate_problem"] is None
    canary.says("SSEE")
    assert call("canary", "check", "canary.json").code == 1
    document = call(*words).json
    (use,) = document["judge"]["grades"]
    assert "expired by a canary's alarm" in use["certificate_problem"]
    assert "R15" in {o["rule"] for o in document["checked"] if o["state"] == "failed"}


def test_a_dry_run_says_what_would_be_asked_and_asks_nothing(canary):
    asked = canary.asked
    check = canary.call("canary", "check", "canary.json", "--dry-run", "--json").json
    assert (check["pairs"], check["calls"], check["gradings"]) == (40, 8, 1)
    freeze = canary.call("canary", "freeze", "--out", "x.json", "--dry-run", "--json").json
    assert (freeze["calls"], freeze["gradings"]) == (16, 2)
    assert "cost unknown: no price" in canary.call("canary", "check", "canary.json",
                                                   "--dry-run").out  # fmt: skip
    assert canary.asked == asked
    assert not (canary.folder / "x.json").exists()


def test_an_outage_is_no_drift_and_leaves_no_alarm(canary):
    canary.says("down")
    done = canary.call("canary", "check", "canary.json", "--json")
    assert done.code == 6
    assert "an outage says nothing of drift" in done.err
    assert not (canary.folder / "certificates").exists()


@pytest.mark.parametrize(
    ("p", "how", "verdict"),
    [
        (0.001, "ICSE", "search moved"),
        (0.4, "ICSE", "nothing moved"),
        (0.4, "SSEE", "the judge moved"),
        (0.001, "SSEE", "the judge moved, so the metric's change cannot be put down to search"),
    ],
)
def test_a_review_beside_the_canary_tells_search_from_the_judge(canary, p, how, verdict):
    (canary.folder / "review.json").write_text(json.dumps({"noise": {"p": p}}), encoding="utf-8")
    canary.says(how)
    done = canary.call("canary", "check", "canary.json", "--review", "review.json", "--json")
    assert done.json["verdict"] == verdict
    assert done.code == (how == "SSEE")


def test_a_file_that_is_no_review_or_no_alarm_is_refused(canary):
    (canary.folder / "review.json").write_text("{}", encoding="utf-8")
    done = canary.call("canary", "check", "canary.json", "--review", "review.json")
    assert (done.code, "no p of the change" in done.err) == (2, True)
    folder = canary.folder / "certificates"
    folder.mkdir()
    (folder / "x.canary.json").write_text("{}", encoding="utf-8")
    done = canary.call("calibrate")
    assert (done.code, "no canary alarm" in done.err) == (2, True)


def test_what_cannot_be_written_is_found_out_before_anything_is_asked(canary):
    asked = canary.asked
    (canary.folder / "file").write_text("", encoding="utf-8")
    freeze = canary.call("canary", "freeze", "--out", "file/c.json")
    check = canary.call("canary", "check", "canary.json", "--certificates", "file/certificates")
    assert (freeze.code, check.code, canary.asked) == (6, 6, asked)


# --- limits: what was not asked is said, and half a canary is never green


def test_a_limit_that_the_canary_is_sure_to_pass_is_refused_before_any_call(canary):
    asked = canary.asked
    check = canary.call("canary", "check", "canary.json", "--max-calls", "7")
    assert check.code == 2
    assert "--max-calls 7 is below the 8" in check.err
    freeze = canary.call("canary", "freeze", "--out", "x.json", "--max-calls", "15")
    assert freeze.code == 2
    assert canary.asked == asked
    assert not (canary.folder / "x.json").exists()
    assert canary.call("canary", "check", "canary.json", "--max-calls", "8").code == 0


def test_a_dry_run_says_that_the_limit_is_too_low(canary):
    done = canary.call("canary", "check", "canary.json", "--max-calls", "7", "--dry-run", "--json")
    assert done.code == 0
    assert "--max-calls 7" in done.json["refused"]


def test_a_check_that_a_limit_stopped_gives_no_verdict(canary):
    canary.says("flaky")  # its first answer is lost, so that one call more is needed
    done = canary.call("canary", "check", "canary.json", "--max-calls", "8", "--json")
    assert done.code == 6
    assert "5 of 40 pairs were not asked: the limit of 8 calls is reached" in done.err
    assert not (canary.folder / "certificates").exists()


def test_a_freeze_that_a_limit_stopped_says_what_is_left_out_and_is_not_green(canary):
    canary.says("flaky")
    words = ("canary", "freeze", "--pairs", "40", "--max-calls", "16", "--out", "x.json")
    done = canary.call(*words)
    assert done.code == 1
    assert "35 of 40 pairs frozen" in done.out
    assert "incomplete: 5 of 40 pairs were not asked: the limit of 16 calls is reached" in done.out
    assert len(json.loads((canary.folder / "x.json").read_text())["pairs"]) == 35


def test_a_cost_limit_needs_a_known_price(canary):
    done = canary.call("canary", "check", "canary.json", "--max-cost", "1")
    assert done.code == 2
    assert "a cost limit needs the model's price" in done.err
