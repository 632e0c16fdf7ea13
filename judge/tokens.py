"""How many tokens a text may be, without a tokeniser. Pure.

Providers count differently and their tokenisers are large; a range is what planning needs, and
its upper end is what a budget must hold.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TokenRange", "reply_tokens", "token_range"]

# Characters a token: English text runs at about 4; dense text, numbers and ids lower.
_ASCII_MOST, _ASCII_LEAST = 5.0, 2.5
# Other scripts: from a third of a token a character to somewhat more than one.
_OTHER_LEAST, _OTHER_MOST = 0.3, 1.3

# A row of a reply: id, label, and a short reason.
_ROW_LEAST, _ROW_MOST = 15, 80


@dataclass(frozen=True, slots=True)
class TokenRange:
    """Least and most tokens."""

    least: int
    most: int

    def __add__(self, other: TokenRange) -> TokenRange:
        return TokenRange(self.least + other.least, self.most + other.most)

    def __mul__(self, times: int) -> TokenRange:
        return TokenRange(self.least * times, self.most * times)


def token_range(text: str) -> TokenRange:
    """The tokens that `text` may be."""
    ascii_chars = sum(c.isascii() for c in text)
    other = len(text) - ascii_chars
    return TokenRange(
        int(ascii_chars / _ASCII_MOST + other * _OTHER_LEAST),
        int(ascii_chars / _ASCII_LEAST + other * _OTHER_MOST) + 1,
    )


def reply_tokens(rows: int) -> TokenRange:
    """The tokens of a reply with so many rows, thinking not included."""
    return TokenRange(rows * _ROW_LEAST, rows * _ROW_MOST + 10)
