"""The key under which a grade is stored, and the hash of a document's text. Pure.

What is in a key: the judge's version (rubric), its fingerprint (template, schema, model,
parameters), the query and the text shown. What is not: the product's id and the order of retrieval,
because neither reaches the model.
"""

from __future__ import annotations

import hashlib
import unicodedata

__all__ = ["grade_key", "query_hash", "text_hash"]

_DOMAIN = "relgate grade key 1"
"""Names what is hashed and how; a change of either changes every key."""


def _encode(text: str) -> bytes:
    # a catalogue may hold lone surrogates: they get a key like anything else, never an exception
    return text.encode("utf-8", "surrogatepass")


def grade_key(*, version: str, fingerprint: str, query: str, text: str) -> str:
    """The key of one grade: hex SHA-256, 64 characters.

    Each part is preceded by its length, so that `tv|stand` + `oak` and `tv` + `stand|oak` differ.
    The query counts in Unicode NFC: composed and decomposed letters are one query.

    Args:
        version: the judge's version, `<tag>@<hash>`.
        fingerprint: the judge's fingerprint.
        query: the shopper's query.
        text: the document's text as the judge sees it, to the letter.
    """
    hasher = hashlib.sha256()
    for part in (_DOMAIN, version, fingerprint, unicodedata.normalize("NFC", query), text):
        data = _encode(part)
        hasher.update(len(data).to_bytes(8, "big"))
        hasher.update(data)
    return hasher.hexdigest()


def text_hash(text: str) -> str:
    """Hash of a document's text as the judge sees it: hex SHA-256, 64 characters."""
    return hashlib.sha256(_encode(text)).hexdigest()


def query_hash(query: str) -> str:
    """Hash of a query in Unicode NFC: hex SHA-256, 64 characters."""
    return hashlib.sha256(_encode(unicodedata.normalize("NFC", query))).hexdigest()
