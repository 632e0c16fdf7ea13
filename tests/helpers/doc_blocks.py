"""The code blocks of a Markdown page, and what the page says of each in a comment ahead of it.

A comment right before a block may hold, for the tests:

    <!-- not run: why -->          it is not run; why is one of a few reasons
    <!-- exits: 1 4 -->            the codes that its commands end with, those of 0 left out
    <!-- file: change.toml -->     it is a file of that name, and is read by that file's own reader
    <!-- pytest -->                it is a test file
    <!-- output -->                what the block before it prints; `...` stands for anything
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

_SAYS = re.compile(r"<!-- (not run|exits|file|pytest|output)(?:: (.*?))? -->", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        place: file and line, for messages.
        language: the first word after the fence; empty for an indented block.
        text: what is in it.
        not_run: why it is not run, or None.
        exits: codes other than 0 that its commands end with.
        file: the name that it is a file of, or None.
        pytest: it is a test file.
        output: it is what the block before it prints.
    """

    place: str
    language: str
    text: str
    not_run: str | None = None
    exits: tuple[int, ...] = ()
    file: str | None = None
    pytest: bool = False
    output: bool = False


def blocks_of(page: Path, root: Path) -> list[Block]:
    """The blocks of a page in their order; directives of the site generator are none."""
    out: list[Block] = []
    said: dict[str, str] = {}
    for token in MarkdownIt("commonmark").parse(page.read_text("utf-8")):
        if token.type == "html_block":
            said |= dict(_SAYS.findall(token.content))
        elif token.type in {"fence", "code_block"} and not token.info.startswith("{"):
            line = (token.map or [0])[0] + 1
            out.append(
                Block(
                    place=f"{page.relative_to(root)}:{line}",
                    language=token.info.strip(),
                    text=token.content,
                    not_run=said.get("not run"),
                    exits=tuple(map(int, said.get("exits", "").split())),
                    file=said.get("file"),
                    pytest="pytest" in said,
                    output="output" in said,
                )
            )
            said = {}
        elif not token.hidden and token.nesting >= 0 and token.type != "list_item_open":
            said = {}
    return out
