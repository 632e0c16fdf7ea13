"""relgate canary: an unmoved judge exits 0, a planted drift 1."""

from __future__ import annotations

import json


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
