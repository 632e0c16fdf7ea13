"""Finds personal data in queries from a log, by kind. Pure.

A query that holds any is dropped and counted, never masked: half a query is not what anybody typed.
Kinds with a check digit are checked (python-stdnum), phone numbers are parsed (phonenumbers), so
that a SKU of twelve digits stays a SKU. What only a person can see, a name for example, no rule
finds: that is what the least count of users is for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address
from types import MappingProxyType

__all__ = ["KINDS", "personal_data"]

_EMAIL = re.compile(r"[^\s@<>\"']+@[^\s@<>\"']+\.[^\W\d_]{2,}")
_ADDRESS = re.compile(r"(?<![\w.:])[0-9a-f:.]{7,39}(?![\w.:])", re.IGNORECASE)
_SECRET_URL = re.compile(
    r"https?://\S*[?&](?:token|key|code|sig|session|auth)[^=&\s]*=\S", re.IGNORECASE
)
_CARD = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8}\b", re.IGNORECASE)
_SSN = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")
_TOKEN = re.compile(r"(?<!\w)(?:sk-|ghp_|xox[bp]-|AKIA|eyJ)[\w.-]{12,}")


def personal_data(text: str, *, region: str | None = None) -> str | None:
    """The kind of personal data that a query holds, one of `KINDS`, or None.

    Args:
        text: the query.
        region: two-letter region whose national phone numbers are looked for too; without one only
            numbers in the international form (+49 ...) are.
    """
    for kind, finds in _CHECKS.items():
        if finds(text):
            return kind
    return "phone number" if _has_phone(text, region) else None


def _has_phone(text: str, region: str | None) -> bool:
    import phonenumbers  # noqa: PLC0415 - only a log needs it

    if region is None and "+" not in text:
        return False
    return any(True for _ in phonenumbers.PhoneNumberMatcher(text, region))


def _valid(pattern: re.Pattern[str], is_valid: Callable[[str], bool]) -> Callable[[str], bool]:
    def finds(text: str) -> bool:
        return any(is_valid(found) for found in _found(pattern, text))

    return finds


def _found(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    return (match.group() for match in pattern.finditer(text))


def _is_card(digits: str) -> bool:
    from stdnum import luhn  # noqa: PLC0415 - only a log needs it

    return bool(luhn.is_valid(re.sub(r"[ -]", "", digits)))


def _is_iban(text: str) -> bool:
    from stdnum import iban  # noqa: PLC0415 - only a log needs it

    return bool(iban.is_valid(text, check_country=False))


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


_CHECKS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        "email address": lambda text: _EMAIL.search(text) is not None,
        "access token": lambda text: _TOKEN.search(text) is not None,
        "address with a token": lambda text: _SECRET_URL.search(text) is not None,
        "IP address": _valid(_ADDRESS, _is_address),
        "card number": _valid(_CARD, _is_card),
        "IBAN": _valid(_IBAN, _is_iban),
        "social security number": lambda text: _SSN.search(text) is not None,
    }
)

KINDS: tuple[str, ...] = (*_CHECKS, "phone number")
"""What is looked for."""
