"""The rule book as Markdown, made from the rules themselves. Pure but for `python -m`."""

from __future__ import annotations

from relgate.eval.report.rule_book import SOURCES, STATES, rule_settings
from relgate.eval.review.rules import RULES

__all__ = ["rule_table"]

_HEAD = f"""\
# The reviewer's rules

Made from the code by `make docs`; do not edit. Each rule ends `passed`, `failed` or `not
checked`; the verdict is the worst finding (REFUSE > BLOCK > NEEDS-WORK > APPROVE), or the cap of a
rule that could not be checked. Shares of queries are over queries scored on both sides; a drop
equal to its limit passes. Sources: {"; ".join(f"{k}, {v}" for k, v in SOURCES.items())}.
`relgate explain R7` says the same of one rule, with the numbers of the project at hand.

| id | asks | default | severity | source | not checked |
|---|---|---|---|---|---|
"""


def rule_table() -> str:
    """The page `docs/rules.md`."""
    rows = [
        f"| {r.id} {r.name} | {r.asks} | {r.default} | {r.severity} | {r.source} | {r.unchecked} |"
        for r in RULES
    ]
    mends = [f"| {r.id} {r.name} | {r.mend} |" for r in RULES]
    numbers = [f"| `{s.name}` | {s.default} | {s.meaning} |" for s in rule_settings()]
    table, settings, mending = "\n".join(rows), "\n".join(numbers), "\n".join(mends)
    return (
        f"{_HEAD}{table}\n\n{STATES}\n\n## How to mend\n\n"
        f"| id | what to do |\n|---|---|\n{mending}\n\n## Every number is a setting\n\n"
        "Under `[budgets]` in `relgate.toml`.\n\n"
        f"| name | default | meaning |\n|---|---:|---|\n{settings}\n\n"
        "Under `[stratum_budgets]`, by the name of a stratum, a drop in place of `stratum_drop`: "
        "`billing = 0.005`, `filtered = 0.02`.\n"
    )


if __name__ == "__main__":
    print(rule_table(), end="")  # noqa: T201 - a page on stdout is this module's job as a program
