"""A pytest plugin: the fixture `relgate_review`. Nothing heavy is loaded until a test uses it.

A review runs in a process of its own: it can neither change pytest's logging nor its streams, and
reads `relgate.toml` of the folder that it runs in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

__all__ = ["PytestReview", "ReviewRunner", "relgate_review"]

_RANK = {"APPROVE": 0, "NEEDS-WORK": 1, "BLOCK": 2, "REFUSE": 3}
_MILDEST = {"needs-work": 1, "block": 2, "refuse": 3}
_REVIEWED = frozenset({0, 1, 3, 4})

Value = str | os.PathLike[str] | int | bool | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True, slots=True)
class PytestReview:
    """A finished review.

    Attributes:
        document: all of `review.json`.
    """

    document: Mapping[str, Any]

    @property
    def verdict(self) -> str:
        """`APPROVE`, `NEEDS-WORK`, `BLOCK` or `REFUSE`."""
        return str(self.document["verdict"])

    @property
    def headline(self) -> str:
        """Why, in one sentence."""
        return str(self.document["headline"])

    def check(self, fail_on: Literal["needs-work", "block", "refuse"] = "needs-work") -> None:
        """Fails the test, with every finding, when the verdict is `fail_on` or worse.

        Raises:
            ValueError: `fail_on` is none of the three.
        """
        if fail_on not in _MILDEST:
            raise ValueError(f"fail_on is {fail_on!r}; one of: {', '.join(_MILDEST)}")
        if _RANK[self.verdict] >= _MILDEST[fail_on]:
            findings = [f"{f['rule']}: {f['message']}" for f in self.document["findings"]]
            lines = [f"{self.verdict}: {self.headline}", *findings, *self.document["actions"]]
            pytest.fail("\n".join(lines), pytrace=False)


class ReviewRunner:
    """Runs `relgate review`; what the fixture hands to a test.

    Args:
        folder: where it runs, and what paths are relative to.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(
        self, *, before: str | os.PathLike[str], after: str | os.PathLike[str], **options: Value
    ) -> PytestReview:
        """Reviews two saved results.

        Args:
            before: results before the change.
            after: results after it.
            options: those of `relgate review` with `_` for `-`: `judgments`, `change`, `diff`, `k`,
                `out` ... A list repeats the option, True gives it without a value.

        Raises:
            Failed: no verdict came back: bad input, an honesty rule, a provider; with the reason.
        """
        words = _words({"before": before, "after": after, **options})
        environ = {k: v for k, v in os.environ.items() if k != "GITHUB_STEP_SUMMARY"}
        done = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-X", "utf8", "-m", "relgate.eval", "review", *words, "--json",
             "--quiet", "--no-annotations"],
            cwd=self._folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True,
            encoding="utf-8", check=False,
        )  # fmt: skip
        if done.returncode not in _REVIEWED:
            said = done.stderr.strip() or "no word of why"
            pytest.fail(f"relgate review ended with {done.returncode}: {said}", pytrace=False)
        return PytestReview(json.loads(done.stdout))


def _words(options: Mapping[str, Value]) -> list[str]:
    words: list[str] = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words += [flag] if value else []
        elif isinstance(value, str | int | os.PathLike):
            words += [flag, str(value)]
        else:
            words += [word for item in value for word in (flag, str(item))]
    return words


@pytest.fixture
def relgate_review(request: pytest.FixtureRequest) -> ReviewRunner:
    """Reviews saved results before and after a change; paths are relative to the test's folder."""
    return ReviewRunner(Path(str(request.path)).parent)
