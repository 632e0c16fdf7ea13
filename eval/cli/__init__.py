"""The command line: one thin module a command, loaded when called.

Exit codes: 0 approve, 1 needs-work, 2 usage or bad input, 3 block, 4 refuse, 5 honesty rule,
6 environment or provider, 130 interrupted.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """The `relgate` command."""
    from relgate.eval.cli.app import run  # noqa: PLC0415 - importing the package loads no click

    run()
