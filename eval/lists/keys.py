"""How ids and query texts are compared. Pure."""

from __future__ import annotations

import unicodedata

__all__ = ["match_key"]


def match_key(text: str) -> str:
    """The form in which ids and query texts are compared: Unicode NFC.

    So composed and decomposed letters meet. The original text is kept for showing and export.
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text)
