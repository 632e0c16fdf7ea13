"""The pytest plugin, in pytest runs of its own."""

from __future__ import annotations

import json

import pytest

pytest_plugins = "pytester"

TEST = """
def test_gate(relgate_review):
    done = relgate_review(before="before.json", after="after.json"{more})
    {then}
"""


@pytest.fixture
def gate(pytester: pytest.Pytester):
    def gate(score: float, then: str = "done.check()", more: str = "", before: float = 0.80):
        for name, value in (("before", before), ("after", score)):
            details = {f"q{i}": {"metric_score": value, "unrated_docs": []} for i in range(4)}
            body = {"metric_score": value, "details": details}
            (pytester.path / f"{name}.json").write_text(json.dumps(body), "utf-8")
        pytester.makepyfile(TEST.format(then=then, more=more))
        return pytester.runpytest_subprocess("-p", "no:cacheprovider")

    return gate


def test_an_approval_passes(gate):
    gate(0.83).assert_outcomes(passed=1)


def test_a_block_fails_with_its_findings_and_no_traceback(gate):
    done = gate(0.70)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*BLOCK: aggregate dropped*", "*R4: *"])
    done.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize(
    ("word", "outcome"), [("needs-work", "failed"), ("block", "passed"), ("refuse", "passed")]
)
def test_fail_on_lets_milder_verdicts_pass(gate, word, outcome):
    gate(0.801, f"assert done.verdict == 'NEEDS-WORK'; done.check({word!r})").assert_outcomes(
        **{outcome: 1}
    )


def test_a_word_that_is_no_verdict_is_an_error(gate):
    done = gate(0.83, "done.check('never')")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*fail_on is 'never'; one of: needs-work, block, refuse*"])


def test_the_document_is_at_hand(gate):
    gate(
        0.83, "assert round(done.document['aggregate']['given']['delta'], 2) == 0.03"
    ).assert_outcomes(passed=1)


def test_options_are_those_of_the_command(gate, pytester):
    done = gate(
        0.83,
        "assert done.document['change']['types'] == ['synonyms', 'analyzer']",
        ", type=['synonyms', 'analyzer'], intent='improve', k=5, out='report', no_color=True",
    )
    done.assert_outcomes(passed=1)
    assert (pytester.path / "report/junit.xml").is_file()


def test_bad_input_fails_with_its_reason(gate):
    done = gate(0.83, more=", judgments='nowhere.csv'")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*relgate review ended with 2: *nowhere.csv: no such file*"])


def test_the_step_summary_and_annotations_are_left_to_the_gate_itself(gate, monkeypatch, tmp_path):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    gate(0.70, "assert done.verdict == 'BLOCK'").assert_outcomes(passed=1)
    assert not (tmp_path / "summary.md").exists()


def test_a_project_that_does_not_use_it_pays_nothing(pytester):
    pytester.makepyfile(
        """
        import sys

        def test_light():
            assert "relgate.eval.pytest_plugin" in sys.modules
            heavy = {"numpy", "pydantic", "sklearn", "click", "rich", "openai"}
            assert not heavy & set(sys.modules)
        """
    )
    done = pytester.runpytest_subprocess(
        "-p", "no:hypothesispytest", "-p", "no:inline_snapshot", "-p", "no:cacheprovider"
    )
    done.assert_outcomes(passed=1)


def test_the_fixture_is_listed_with_its_words(pytester):
    done = pytester.runpytest_subprocess("--fixtures")
    done.stdout.fnmatch_lines(["relgate_review*", "*Reviews saved results before and after*"])
