"""`relgate review` with people's labels: the corrected delta beside the plain one, or why not."""

from __future__ import annotations

import html
import json
import random

import pytest

LENIENT = """\
import json
import re


def grade(request):
    rows = []
    for line in request.prompt.splitlines():
        found = re.match(r"(\\d+)\\. .*item ([nh])(\\d+)-\\d+ class (E|S|C|I)\\b", line)
        if found:
            letter = found[4]
            if found[2] == "n" and int(found[3]) % 3:  # new documents look better than they are
                letter = {"I": "C", "C": "S", "S": "E", "E": "E"}[letter]
            rows.append({"id": found[1], "esci": letter, "reason": "r"})
    return json.dumps({"grades": rows})
"""


@pytest.fixture
def corrected(call, tmp_path, monkeypatch, request):
    """A review of 120 queries by a lenient judge alone; people labelled some whole queries."""

    def corrected(labelled: int, *more: str, queries: int = 120):
        monkeypatch.syspath_prepend(tmp_path)
        module = f"lenient_{abs(hash(request.node.nodeid))}"
        (tmp_path / f"{module}.py").write_text(LENIENT, encoding="utf-8")
        draw = random.Random(5)  # noqa: S311 - example data
        texts, rows, human = [], ["query,doc_id,grade,source"], ["query,doc_id,grade"]
        runs: dict[str, list[dict]] = {"before": [], "after": []}
        for i in range(queries):
            old = [(f"h{i}-{j}", draw.randrange(4)) for j in range(5)]
            new = [(f"n{i}-{j}", draw.randrange(3)) for j in range(5)]
            texts += [{"id": d, "title": f"item {d} class {'ICSE'[g]}"} for d, g in (*old, *new)]
            if i < labelled:
                human += [f"thing {i},{d},{g}" for d, g in (*old, *new)]
                rows.append(f"thing {i},{old[0][0]},{old[0][1]},human")
            runs["before"].append({"query": f"thing {i}", "docs": [d for d, _ in old]})
            runs["after"].append({"query": f"thing {i}", "docs": [d for d, _ in (*new, *old)][:6]})
        for name, lines in (("c", texts), *runs.items()):
            body = "".join(json.dumps(line) + "\n" for line in lines)
            (tmp_path / f"{name}.jsonl").write_text(body, encoding="utf-8")
        (tmp_path / "l.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        (tmp_path / "h.csv").write_text("\n".join(human) + "\n", encoding="utf-8")
        return call(
            "review", "--before", "before.jsonl", "--after", "after.jsonl", "--judgments", "l.csv",
            "--catalogue", "c.jsonl", "--judge", f"python:{module}:grade", "--judge-family",
            "our-rules", "--fill", "--k", "5", "--human", "h.csv", "--correct", "--out", "r", *more,
        )  # fmt: skip

    return corrected


def test_the_corrected_delta_stands_beside_the_plain_one_in_every_output(corrected, tmp_path):
    done = corrected(60)
    assert done.out, done.err
    shown = done.out
    found = json.loads((tmp_path / "r/review.json").read_text(encoding="utf-8"))["corrected"]
    assert (found["n"], found["unlabelled"]) == (60, 60)
    # the judge flatters the new documents; what people say of half of the queries takes it back
    assert found["judge"]["delta"] > found["corrected"]["delta"]
    assert found["lambda"] > 0
    width = {name: found[name]["high"] - found[name]["low"] for name in ("corrected", "people")}
    assert width["corrected"] < width["people"]
    assert found["corrected"]["low"] < found["corrected"]["delta"] < found["corrected"]["high"]
    text = f"{found['corrected']['delta']:+.4f}"
    pages = [(tmp_path / "r" / f"review.{end}").read_text(encoding="utf-8")
             for end in ("md", "html")]  # fmt: skip
    for page in (shown, *pages):
        assert text in page
        assert "as scored" in page
        assert "PPI++" in page


def test_fewer_than_fifty_labelled_queries_say_why_nothing_is_corrected(corrected, tmp_path):
    shown = corrected(49).out
    found = json.loads((tmp_path / "r/review.json").read_text(encoding="utf-8"))["corrected"]
    assert (found["n"], found["corrected"]) == (49, None)
    pages = [(tmp_path / "r" / f"review.{end}").read_text(encoding="utf-8")
             for end in ("md", "html")]  # fmt: skip
    assert "50" in found["why"]
    for page in (shown, *pages):
        assert "not corrected" in page.lower()
        assert found["why"] in html.unescape(page)
