"""The review as JUnit XML, for the test tab of a CI system. Pure.

One test case a rule, and one for the verdict itself: a verdict that is capped fails although each
rule that ran has passed. Nothing depends on a clock or a machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree import ElementTree as ET

from relgate.eval.report.escape import terminal_text
from relgate.eval.report.values import plain
from relgate.eval.review.rules import RULES
from relgate.eval.review.types import Finding, Review, RuleOutcome, RuleState, Verdict

__all__ = ["review_junit"]

_SUITE = "relgate.review"
_NAMES = {rule.id: f"{rule.id} {rule.name}" for rule in RULES}

# What XML 1.0 cannot hold and `terminal_text` leaves: the noncharacters of the basic plane.
_NO_XML = re.compile("[\ufffe\uffff]")


def review_junit(review: Review) -> str:
    """The file `junit.xml`.

    A failed rule is a failure whose type is its worst finding's verdict, a rule without its input
    is skipped. When no verdict can be given, only what refuses has a verdict as its type.
    """
    cases = [_rule_case(outcome, review) for outcome in review.outcomes]
    cases.append(_verdict_case(review))
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": "0",
        "skipped": str(sum(case.find("skipped") is not None for case in cases)),
    }
    top = ET.Element("testsuites", {"name": "relgate", **counts})
    suite = ET.SubElement(top, "testsuite", {"name": _SUITE, **counts})
    _properties(suite, review)
    suite.extend(cases)
    ET.indent(top)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(top, encoding="unicode")}\n'


def _text(text: str) -> str:
    """`text` with what XML cannot hold shown as an escape."""
    return _NO_XML.sub(lambda m: f"\\u{ord(m.group()):04x}", terminal_text(text))


def _properties(suite: ET.Element, review: Review) -> None:
    change = review.evidence.change
    given = {
        "verdict": review.verdict.word,
        "headline": review.headline,
        "sha": None if change is None else change.sha,
        **{f"input.{name}": value for name, value in review.evidence.inputs.items()},
    }
    told = ET.SubElement(suite, "properties")
    for name, value in given.items():
        if value is not None:
            ET.SubElement(told, "property", {"name": _text(name), "value": _text(value)})


def _case(name: str) -> ET.Element:
    return ET.Element("testcase", {"classname": _SUITE, "name": name})


def _rule_case(outcome: RuleOutcome, review: Review) -> ET.Element:
    case = _case(_NAMES.get(outcome.rule, outcome.rule))
    match outcome.state:
        case RuleState.FAILED:
            _add(
                case,
                "failure",
                outcome.summary,
                _findings(outcome.findings),
                _type(outcome, review),
            )
        case RuleState.NOT_CHECKED:
            cap = "; this caps the verdict" if outcome.cap is not None else ""
            ET.SubElement(
                case, "skipped", {"message": _text(f"not checked: {outcome.summary}{cap}")}
            )
        case RuleState.PASSED:
            said = ET.SubElement(case, "system-out")
            lines = [f"- {_one_line(outcome.summary)}", *_findings(outcome.findings)]
            said.text = _text("\n".join(lines))
    return case


def _type(outcome: RuleOutcome, review: Review) -> str:
    """The worst finding's verdict; under a refusal a finding that does not refuse has none."""
    worst = max(f.severity for f in outcome.findings) if outcome.findings else Verdict.APPROVE
    refused = review.verdict is Verdict.REFUSE and worst is not Verdict.REFUSE
    return "withheld" if refused else worst.word


def _findings(findings: Iterable[Finding]) -> list[str]:
    """Lines that begin with a mark of ours: printed in a log, none is a command."""
    lines: list[str] = []
    for found in findings:
        lines.append(f"- {_one_line(found.message)}")
        if found.figures:
            lines.append(f"  {_one_line(_figures(found.figures))}")
        if found.advice is not None:
            lines.append(f"  to do: {_one_line(found.advice)}")
    return lines


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _figures(figures: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in plain(figures).items()
    )


def _verdict_case(review: Review) -> ET.Element:
    case = _case("verdict")
    if review.verdict is Verdict.APPROVE:
        ET.SubElement(case, "system-out").text = _text(f"- {_one_line(review.headline)}")
    else:
        actions = [f"{i}. {_one_line(action)}" for i, action in enumerate(review.actions, start=1)]
        _add(case, "failure", review.headline, actions, review.verdict.word)
    return case


def _add(case: ET.Element, tag: str, message: str, lines: Iterable[str], kind: str) -> None:
    found = ET.SubElement(case, tag, {"type": kind, "message": _text(message)})
    found.text = _text("\n".join(lines))
