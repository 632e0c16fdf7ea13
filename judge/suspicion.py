"""Whether a candidate's text talks to the judge instead of describing a product. Pure."""

from __future__ import annotations

import re

__all__ = ["SUSPICION_VERSION", "suspicion"]

SUSPICION_VERSION = "0"
"""Part of a judge's fingerprint: which texts go alone shapes the batches."""

_INSTRUCTION = re.compile(r"\b(ignore (all |the )?previous|grade this|you are a)\b", re.IGNORECASE)


def suspicion(text: str) -> str | None:
    """Why the text is suspect, in a few words; None for an ordinary text."""
    return "instruction" if _INSTRUCTION.search(text) else None
