"""Makes text from data safe to show: in Markdown, and on a terminal. Pure.

Queries, titles and a judge's reasons are written by others. Raw, they could forge a table row,
ping people, hide text, or clear a screen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["heeds_commands", "inert_in_ci", "markdown_text", "terminal_text"]

# C0 but tab and newline, DEL, C1; soft hyphen; bidi and zero-width controls; invisible operators;
# line and paragraph separators; lone surrogates; byte-order mark; annotation marks; tag characters
_INVISIBLE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# Scripts that are spelt with joiners (Arabic to Mongolian), and emoji: there they hide nothing.
_JOINABLE = (
    "[\u0600-\u18af\ua840-\ua8ff\ufb50-\ufdff\ufe0f\ufe70-\ufefc\u2600-\u27bf\U0001f000-\U0001faff]"
)
_CONTROLS = re.compile(f"(?<={_JOINABLE})[\u200c\u200d](?={_JOINABLE})|({_INVISIBLE})")
_BACKSLASHED = re.compile(r"([\\`*_\[\]#~$])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"}
_ENTITY_CHARS = re.compile("[&<>|]")
_GAP = "&#8203;"  # zero-width space: the known way to keep a forge from linking or notifying
_BLOCK_START = re.compile(r"^(\s*)(\d{1,9}(?=[.)])|[-+=])")


def terminal_text(text: str) -> str:
    r"""`text` with every control but newline and tab shown as an escape, `\x1b`, `\u202e`.

    Covers C0, DEL, C1, bidi and zero-width controls, line separators, lone surrogates and
    invisible tag characters. Visible text of any language is left as it is, and so are the joiners
    between two letters of a script that is spelt with them, and between emoji.
    """
    return _CONTROLS.sub(_shown, text)


def markdown_text(text: str) -> str:
    """`text` as one line of inert GitHub-flavoured Markdown, also inside a table cell.

    Newlines and tabs become blanks. Pipes, backticks, angle brackets, emphasis, links, images,
    headings, lists and math lose their meaning; @mentions, #references and bare addresses get an
    invisible gap, so that nobody is notified and nothing is linked.
    """
    line = re.sub(r"[\r\n\t]+", " ", text)
    line = _BACKSLASHED.sub(r"\\\1", terminal_text(line))
    line = _ENTITY_CHARS.sub(lambda m: _ENTITIES[m.group()], line)
    line = line.replace("@", f"@{_GAP}").replace("://", f":{_GAP}//")
    line = re.sub(r"\\#(?=\d)", rf"\\#{_GAP}", line)
    line = re.sub(r"\b(www)\.", rf"\1{_GAP}.", line, flags=re.IGNORECASE)
    return _BLOCK_START.sub(_inert_start, line)


# CI systems that take lines of a log for commands: GitHub Actions, Azure Pipelines, TeamCity.
_COMMANDED = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")


def heeds_commands(environ: Mapping[str, str]) -> bool:
    """Whether a CI system reads this log for commands."""
    return any(environ.get(name) for name in _COMMANDED)


def inert_in_ci(text: str) -> str:
    """`text` that no CI system takes for a command: `::name::`, `##[name]`, `##vso[`, `##team...`.

    What is printed holds queries and titles that others wrote; a blank in the mark is enough.
    """
    return text.replace("::", ": :").replace("##", "# #")


def _shown(match: re.Match[str]) -> str:
    if match[1] is None:
        return match[0]
    code = ord(match[1])
    if code <= 0xFF:  # noqa: PLR2004 - the width of the escape
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - likewise


def _inert_start(match: re.Match[str]) -> str:
    blanks, mark = match.groups()
    return f"{blanks}{mark}{_GAP}" if mark.isdigit() else f"{blanks}\\{mark}"
