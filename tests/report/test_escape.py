"""Text from data cannot act: not in Markdown, not on a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_cases import shared_case

from relgate.eval.report.escape import markdown_text, terminal_text


def test_case_s05_no_escape_byte_reaches_a_terminal(shared: Path):
    case = shared_case(shared, "S05")
    shown = terminal_text(case["input"]["doc_text"])
    assert shown.count("\x1b") == case["right"]["expect"]["esc_bytes_on_tty"]
    assert "\\x1b[2J\\x1b]0;x\\x07" in shown
    assert "\\x9b31m" in shown
    assert "\\u202eabc\\x0d" in shown


@pytest.mark.parametrize(
    "code", [0x00, 0x08, 0x0B, 0x0C, 0x0D, 0x1B, 0x1F, 0x7F, 0x80, 0x9B, 0x9F, 0xAD]
)
def test_c0_del_and_c1_are_shown_as_hex(code: int):
    assert terminal_text(f"a{chr(code)}b") == f"a\\x{code:02x}b"


@pytest.mark.parametrize(
    "char", "\u061c\u200b\u200d\u200f\u2028\u2029\u202a\u202e\u2060\u2066\u2069\ufeff\ud800"
)
def test_bidi_zero_width_separators_and_surrogates_are_shown(char: str):
    assert terminal_text(f"a{char}b") == f"a\\u{ord(char):04x}b"


@pytest.mark.parametrize(
    "text", ["i\u200dg\u200cnore", "می\u200c\u200cشود", "\u200cمی", "می\u200c", "👩\u200da"]
)
def test_a_joiner_that_joins_nothing_is_shown(text: str):
    assert not {"\u200c", "\u200d"} & set(terminal_text(text))


def test_invisible_tag_characters_are_shown():
    assert terminal_text("\U000e0041") == "\\U000e0041"


@pytest.mark.parametrize(
    "text",
    [
        "a\tb\nc",
        "schön, 日本語, עברית, العربية, हिन्दी",
        "👍🏽 é ₹ \\x1b",
        "می\u200cشود",  # Persian is spelt with it
        "क्\u200dष",
        "👩🏽\u200d🔬 🏳️\u200d🌈",
    ],
)
def test_visible_text_newline_and_tab_are_left_alone(text: str):
    assert terminal_text(text) == text


@pytest.mark.parametrize(
    ("raw", "inert"),
    [
        ("a|b", "a&#124;b"),
        ("`x`", "\\`x\\`"),
        ("<img src=x>", "&lt;img src=x&gt;"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("![i](u)", "!\\[i\\](u)"),
        ("*b* _i_ ~s~", "\\*b\\* \\_i\\_ \\~s\\~"),
        ("@team", "@&#8203;team"),
        ("fixes #12", "fixes \\#&#8203;12"),
        ("# head", "\\# head"),
        ("https://x.test", "https:&#8203;//x.test"),
        ("WWW.x.test", "WWW&#8203;.x.test"),
        ("a\r\nb\n| c |", "a b &#124; c &#124;"),
        ("- item", "\\- item"),
        ("1. item", "1&#8203;. item"),
        ("2) item", "2&#8203;) item"),
        ("back\\|slash", "back\\\\&#124;slash"),
        ("$x$", "\\$x\\$"),
        ("\x1b[2J", "\\\\x1b\\[2J"),
        ("plain words 3.5 cm", "plain words 3.5 cm"),
    ],
)
def test_markdown_loses_its_meaning(raw: str, inert: str):
    assert markdown_text(raw) == inert


def test_markdown_text_is_one_line_whatever_comes():
    every = "".join(map(chr, range(0x3000)))
    shown = markdown_text(every)
    assert len(shown.splitlines()) == 1
    assert "|" not in shown
    assert "<" not in shown
