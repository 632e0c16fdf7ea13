"""Columns of digits and of decimal numbers, read eight digits at a time. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.cells import NotCleanError, need
from relgate.eval.lists.ids import Ids, load_words

__all__ = ["decimals", "need_whole"]

# Eight ASCII digits at once in a 64-bit word: D. Lemire, "SWAR explained: parsing eight digits",
# 2022.
_ZEROS = np.uint64(0x3030303030303030)
_HIGH = np.uint64(0xF0F0F0F0F0F0F0F0)
_SIX = np.uint64(0x0606060606060606)
_DIGITS = np.uint64(0x3333333333333333)
_LOW, _BY_10 = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(1 + (10 << 8))
_PAIRS, _BY_100 = np.uint64(0x00FF00FF00FF00FF), np.uint64(1 + (100 << 16))
_FOURS, _BY_10000 = np.uint64(0x0000FFFF0000FFFF), np.uint64(1 + (10_000 << 32))
_DOTS = np.uint64(0x2E2E2E2E2E2E2E2E)
_ONES = np.uint64(0x0101010101010101)
_TOPS = np.uint64(0x8080808080808080)
_U = tuple(np.uint64(n) for n in range(65))
_WORD = 8
_TENS = 10.0 ** np.arange(_WORD + 1)


def _digits(words: NDArray[np.uint64], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Each word's first `lengths` bytes, 0 to 8, pushed up to its end behind zero digits."""
    used = lengths.astype(np.uint64) << _U[3]
    # NumPy: what is shifted by 64 is 0.
    digits: NDArray[np.uint64] = (words << (_U[64] - used)) | (_ZEROS >> used)
    return digits


def _are_digits(digits: NDArray[np.uint64]) -> NDArray[np.bool_]:
    return np.equal((digits & _HIGH) | (((digits + _SIX) & _HIGH) >> _U[4]), _DIGITS)


def _number(digits: NDArray[np.uint64]) -> NDArray[np.float64]:
    pairs = ((digits & _LOW) * _BY_10) >> _U[8]
    fours = ((pairs & _PAIRS) * _BY_100) >> _U[16]
    return (((fours & _FOURS) * _BY_10000) >> _U[32]).astype(np.float64)


def need_whole(column: Ids) -> None:
    """Refuses a column whose cells are not all one to eight digits.

    Raises:
        NotCleanError: one is not.
    """
    data, starts, lengths = column.held()
    need(lengths.max(initial=0) <= _WORD)
    digits = _digits(load_words(data, starts, lengths), lengths.astype(np.int64))
    need(_are_digits(digits).all())


def decimals(column: Ids) -> NDArray[np.float64]:
    """The numbers in a column, each the double nearest to what is written; shape (n,).

    Up to 7 digits, a point and up to 8 digits make a whole number below 2^53 over a power of ten
    below 10^23: both are exact, so their quotient is rounded once, and rightly. What is written in
    any other way goes through `float`.

    Raises:
        NotCleanError: one is no finite number, or has an underline.
    """
    data, starts, lengths = column.held()
    size = lengths.astype(np.int64)
    words = load_words(data, starts, lengths)
    dots = words ^ _DOTS
    dots = (dots - _ONES) & ~dots & _TOPS  # the lowest bit set marks the first point
    point = (np.bitwise_count((dots & (~dots + _U[1])) - _U[1]) >> 3).astype(np.int64)
    point = np.minimum(point, np.minimum(size, _WORD))
    after = np.maximum(size - point - 1, 0)
    simple = (point > 0) & (after <= _WORD) & ((point < _WORD) | (size == _WORD))
    after = np.minimum(after, _WORD)
    head = _digits(words, point)
    tail = _digits(
        load_words(data, starts + np.minimum(point + 1, size), after.astype(np.int32)), after
    )
    simple &= _are_digits(head) & _are_digits(tail)
    tens = _TENS[after]
    numbers: NDArray[np.float64] = (_number(head) * tens + _number(tail)) / tens
    other = np.flatnonzero(~simple)
    if other.size:
        numbers[other] = _floats(column.take(other))
    return numbers


def _floats(column: Ids) -> NDArray[np.float64]:
    texts = list(column)
    need("_" not in "".join(texts))  # which float() reads over
    try:
        numbers = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError as error:
        raise NotCleanError from error
    need(np.isfinite(numbers).all())
    return numbers
