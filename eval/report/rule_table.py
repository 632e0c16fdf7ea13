"""The rule book as Markdown, made from the rules themselves. Pure but for `python -m`."""

from __future__ import annotations

from relgate.eval.review.rules import RULES
from relgate.eval.review.settings import ReviewSettings

__all__ = ["rule_table"]

_HEAD = """\
# The reviewer's rules

Made from the code by `make docs`; do not edit. Each rule ends `passed`, `failed` or `not
checked`; the verdict is the worst finding (REFUSE > BLOCK > NEEDS-WORK > APPROVE), or the cap of a
rule that could not be checked. Shares of queries are over queries scored on both sides; a drop
equal to its limit passes. Sources: R, the reviewer document; G, the golden-query guide; X, ours.

| id | asks | default | severity | source | not checked |
|---|---|---|---|---|---|
"""


def rule_table() -> str:
    """The page `docs/rules.md`."""
    rows = [
        f"| {r.id} {r.name} | {r.asks} | {r.default} | {r.severity} | {r.source} | {r.unchecked} |"
        for r in RULES
    ]
    numbers = [
        f"| `{name}` | {value} | {_meaning(name)} |"
        for name, value in ReviewSettings().numbers().items()
    ]
    table = "\n".join(rows)
    settings = "\n".join(numbers)
    return (
        f"{_HEAD}{table}\n\n## Every number is a setting\n\n"
        "Under `[budgets]` in `relgate.toml`.\n\n"
        f"| name | default | meaning |\n|---|---:|---|\n{settings}\n\n"
        "Under `[stratum_budgets]`, by the name of a stratum, a drop in place of `stratum_drop`: "
        "`billing = 0.005`, `filtered = 0.02`.\n"
    )


def _meaning(name: str) -> str:
    """The attribute's line in the docstring of `ReviewSettings`."""
    doc = ReviewSettings.__doc__ or ""
    line = next(x.strip() for x in doc.splitlines() if x.strip().startswith(f"{name}:"))
    return line.partition(":")[2].strip()


if __name__ == "__main__":
    print(rule_table(), end="")  # noqa: T201 - a page on stdout is this module's job as a program
