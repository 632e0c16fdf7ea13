"""`junit.xml`: a test case a rule, well-formed whatever text is in it."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from relgate.eval.report.junit import review_junit
from relgate.eval.review.rules import RULES
from relgate.eval.review.types import Finding, RuleOutcome, RuleState, Verdict

HOSTILE = [
    "</failure><testcase name='x'/>",
    "]]> <![CDATA[ x",
    "&amp; &#0; &bogus; \" ' <",
    "".join(map(chr, range(0x20))) + "\x7f\x80\x9f",
    "half \ud800 pair \udfff",
    "\ufffe\uffff\U0001fffe",
    "\u202ebidi\u200b",
    "a\r\n::error::forged\n##[error]x",
    "é漢字🙂",
]


def cases(text: str) -> dict[str, ET.Element]:
    return {str(case.get("name")): case for case in ET.fromstring(text).iter("testcase")}  # noqa: S314 - ours


def kind(case: ET.Element) -> str:
    return "failed" if case.find("failure") is not None else (
        "not checked" if case.find("skipped") is not None else "passed"
    )  # fmt: skip


def test_every_rule_is_a_case_in_its_state(make_review):
    done = make_review()
    found = cases(review_junit(done))
    names = {rule.id: f"{rule.id} {rule.name}" for rule in RULES}
    assert list(found) == [*(names[o.rule] for o in done.outcomes), "verdict"]
    assert {kind(found[names[o.rule]]) for o in done.outcomes} == {s.value for s in RuleState}
    for o in done.outcomes:
        assert kind(found[names[o.rule]]) == o.state.value
        assert o.summary in ET.tostring(found[names[o.rule]], encoding="unicode").replace(
            "&quot;", '"'
        ).replace("&gt;", ">")


def test_the_counts_are_those_of_the_cases(make_review):
    top = ET.fromstring(review_junit(make_review()))  # noqa: S314 - ours
    states = [kind(case) for case in top.iter("testcase")]
    for element in (top, top[0]):
        assert element.get("tests") == str(len(states))
        assert element.get("failures") == str(states.count("failed"))
        assert element.get("skipped") == str(states.count("not checked"))
        assert element.get("errors") == "0"


def test_a_failure_has_its_figures_and_what_to_do(make_review):
    done = make_review()
    failure = cases(review_junit(done))["R5 carnage"].find("failure")
    assert failure is not None
    assert failure.get("type") == "NEEDS-WORK"
    assert "share 0.5" in (failure.text or "")
    assert "to do: " in (failure.text or "")


def test_the_verdict_fails_unless_it_approves(make_review):
    done = make_review()
    failure = cases(review_junit(done))["verdict"].find("failure")
    assert failure is not None
    assert failure.get("type") == done.verdict.word
    assert failure.get("message") == done.headline
    capped = replace(
        done,
        verdict=Verdict.NEEDS_WORK,
        outcomes=(RuleOutcome("R8", RuleState.NOT_CHECKED, "no input", cap=Verdict.NEEDS_WORK),),
    )
    found = cases(review_junit(capped))
    assert (kind(found["R8 unrated"]), kind(found["verdict"])) == ("not checked", "failed")
    skipped = found["R8 unrated"].find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "not checked: no input; this caps the verdict"
    approved = replace(capped, verdict=Verdict.APPROVE, outcomes=())
    assert kind(cases(review_junit(approved))["verdict"]) == "passed"


def test_a_refusal_gives_no_other_verdict(make_review):
    text = review_junit(make_review(stale=True))
    assert "REFUSE" in text
    assert 'type="withheld"' in text
    assert not any(word in text for word in ("APPROVE", "NEEDS-WORK", "BLOCK"))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_leaves_it_well_formed(make_review, text):
    shown = review_junit(make_review(text))
    shown.encode()  # no half pairs
    tame = cases(review_junit(make_review("tame")))
    assert {n: kind(c) for n, c in cases(shown).items()} == {n: kind(c) for n, c in tame.items()}
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())


def test_text_that_xml_can_hold_is_kept(make_review):
    assert "error 漢字🙂 &lt;b&gt;" in review_junit(make_review("error 漢字🙂 <b>"))


def test_an_unknown_figure_type_is_no_crash(make_review):
    done = make_review()
    odd = Finding("R5", Verdict.BLOCK, "m", {"x": (1.5, None), "y": {"z": float("nan")}})
    outcome = RuleOutcome("R5", RuleState.FAILED, "s", (odd,))
    text = review_junit(replace(done, outcomes=(outcome,)))
    assert 'x [1.5, null], y {"z": null}' in text.replace("&quot;", '"')
