"""`relgate explain`: what a rule asks, and what to do about it."""

from __future__ import annotations

from typing import Any

import click

from relgate.eval.cli.common import Output, config_option, output_options, settings

__all__ = ["command"]


@click.command("explain")
@click.argument("rule")
@config_option
@output_options
def command(rule: str, **flags: Any) -> None:  # noqa: ANN401 - click hands over flags
    """Say what a RULE of the reviewer asks: R7, 7 or masked.

    Defaults, this project's numbers, what a finding means, what it means that it was not checked,
    and how to mend.
    """
    from relgate.eval.report.rule_book import (  # noqa: PLC0415 - numpy
        SOURCES,
        STATES,
        find_rule,
        rule_settings,
    )

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    found = find_rule(rule)
    own = settings(output, flags["config"], {}).review_settings()
    numbers = [(s, getattr(own, s.name)) for s in rule_settings(found.id)]
    source = ", ".join(SOURCES.get(letter, letter) for letter in found.source.split(", "))
    output.line(f"{found.id} {found.name}")
    output.line(f"Asks         {found.asks}")
    output.line(f"Default      {found.default}")
    output.line(f"Means        {found.severity}")
    output.line(f"Not checked  {found.unchecked}")
    output.line(f"Mend         {found.mend}")
    output.line(f"Source       {source}")
    if numbers:
        output.line()
        output.table(
            "Numbers, under [budgets] in relgate.toml",
            ["Name", "Default", "Here", "Meaning"],
            [[s.name, f"{s.default:g}", f"{here:g}", s.meaning] for s, here in numbers],
            text_columns=(0, 3),
        )
    output.line(STATES)
    output.document(
        {
            "rule": found.id,
            "name": found.name,
            "asks": found.asks,
            "default": found.default,
            "severity": found.severity,
            "not_checked": found.unchecked,
            "mend": found.mend,
            "source": source,
            "settings": {
                s.name: {"default": s.default, "here": here, "meaning": s.meaning}
                for s, here in numbers
            },
        }
    )
