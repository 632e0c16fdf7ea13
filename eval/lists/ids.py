"""A column of ids: millions of short texts as UTF-8 bytes, read as text only one at a time. Pure.

Two ids are compared by 64-bit words, eight bytes each, gathered straight from the bytes that hold
them (a file, an Arrow buffer), and by their lengths: equal words of equal length are equal text.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.keys import match_key

__all__ = ["Ids", "IdsBuilder", "Rows", "distinct", "extend", "in_nfc", "load_words"]

Rows: TypeAlias = NDArray[np.int64]
"""Numbers of rows of a column."""

_Scalar = TypeVar("_Scalar", bound=np.generic)
_BLOCK = 1 << 16  # rows at a time: what they need stays in the processor's cache
_WORD = 8
_NEAR = 16  # bytes passed over for one that is read: a copy of all still costs less than slices
_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(8)] + [(1 << 64) - 1], np.uint64)
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: Fibonacci hashing (Knuth 6.4)
_SHIFT = np.uint64(29)


class Ids(Sequence[str]):
    """An immutable sequence of texts, held as UTF-8 bytes, as text, or as both.

    Texts are held in an array of objects: the garbage collector, which goes through a list of
    millions of texts time and again, has no business there.
    """

    __slots__ = ("_bytes", "_hashes", "_keys", "_later", "_made")

    def __init__(
        self,
        texts: NDArray[np.object_] | None,
        held: tuple[NDArray[np.uint8], Rows, NDArray[np.int32]] | None,
        *,
        plain: bool = False,
    ) -> None:
        """Use `of` or `within`."""
        self._made = texts
        self._later: tuple[int, Callable[[], Iterable[str]]] | None = None
        self._bytes = held
        self._keys: Ids | None = self if plain else None
        self._hashes: NDArray[np.uint64] | None = None

    @classmethod
    def of(cls, texts: Sequence[str]) -> Ids:
        """The column of these texts; a column is returned as it is."""
        return texts if isinstance(texts, Ids) else cls(_objects(texts, len(texts)), None)

    @classmethod
    def over(cls, texts: NDArray[np.object_], *, plain: bool) -> Ids:
        """The column of these texts, which are not copied and must not change.

        Args:
            texts: the ids.
            plain: they are known to be in NFC, see `in_nfc`.
        """
        return cls(texts, None, plain=plain)

    @classmethod
    def later(cls, n: int, make: Callable[[], Iterable[str]], *, plain: bool) -> Ids:
        """The column of the `n` texts that `make` gives, which is called when one is looked at.

        Args:
            n: how many there will be.
            make: gives them.
            plain: they are known to be in NFC.
        """
        made = cls(None, None, plain=plain)
        made._later = n, make
        return made

    @property
    def plain_texts(self) -> NDArray[np.object_] | None:
        """All ids as text, where they are at hand as such and are known to be in NFC."""
        return self._texts if self.is_plain else None

    @property
    def _texts(self) -> NDArray[np.object_] | None:
        if self._later is not None:
            n, make = self._later
            self._made, self._later = _objects(make(), n), None
        return self._made

    @classmethod
    def within(
        cls,
        data: NDArray[np.uint8],
        starts: Rows,
        lengths: NDArray[np.int32],
        *,
        plain: bool,
        hashes: NDArray[np.uint64] | None = None,
    ) -> Ids:
        """The column of the ids that stand in `data`, which is not copied and must not change.

        Args:
            data: valid UTF-8 wherever an id stands.
            starts: where each begins.
            lengths: how many bytes each has.
            plain: every id is known to be in NFC, as ASCII is.
            hashes: those of all ids, where they were made already.
        """
        made = cls(None, (data, starts, lengths), plain=plain)
        made._hashes = hashes
        return made

    def held(self) -> tuple[NDArray[np.uint8], Rows, NDArray[np.int32]]:
        """(bytes, where in them each id begins, how many bytes each has)."""
        if self._bytes is None:
            texts = () if self._texts is None else self._texts.tolist()
            whole = "".join(texts)
            if whole.isascii():
                lengths = np.fromiter(map(len, texts), np.int32, len(texts))
                raw = whole.encode()
                self._keys = self
            else:
                cells = [text.encode("utf-8", "surrogatepass") for text in texts]
                lengths = np.fromiter(map(len, cells), np.int32, len(cells))
                raw = b"".join(cells)
            ends = np.cumsum(lengths, dtype=np.int64)
            self._bytes = (np.frombuffer(raw, np.uint8), ends - lengths, lengths)
        return self._bytes

    @property
    def is_plain(self) -> bool:
        """Whether every id is known to be in NFC."""
        return self._keys is self

    def __len__(self) -> int:
        if self._later is not None:
            return self._later[0]
        return len(self.held()[1]) if self._made is None else len(self._made)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: int | slice) -> str | tuple[str, ...]:
        if self._texts is not None:
            found: str | NDArray[np.object_] = self._texts[at]
            return found if isinstance(found, str) else tuple(found.tolist())
        data, starts, lengths = self.held()
        if isinstance(at, slice):
            return tuple(_decoded(data, starts[at], lengths[at]))
        return _text(data.data[int(starts[at]) : int(starts[at]) + int(lengths[at])])

    def __iter__(self) -> Iterator[str]:
        if self._texts is not None:
            yield from self._texts.tolist()
            return
        data, starts, lengths = self.held()
        for block in range(0, len(starts), _BLOCK):
            part = slice(block, block + _BLOCK)
            yield from _decoded(data, starts[part], lengths[part])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Ids, tuple, list)):
            return NotImplemented
        return tuple(self) == tuple(cast("Sequence[object]", other))

    __hash__ = None  # type: ignore[assignment] # as a list's

    def __repr__(self) -> str:
        return repr(tuple(self))

    def take(self, rows: Rows) -> Ids:
        """The column of these rows, in this order."""
        if self._texts is not None:
            return Ids(self._texts[rows], None, plain=self.is_plain)
        data, starts, lengths = self.held()
        hashes = None if self._hashes is None else self._hashes[rows]
        return Ids.within(data, starts[rows], lengths[rows], plain=self.is_plain, hashes=hashes)

    @property
    def kept_hashes(self) -> NDArray[np.uint64] | None:
        """The hashes of all ids, where they were made already."""
        return self._hashes

    def hashed(self) -> Ids:
        """The same column, its hashes made at once: best while its bytes are in the cache."""
        self.all_hashes()
        return self

    def all_hashes(self) -> NDArray[np.uint64]:
        """The hash of every id, see `hashes`; made once. Shape (n,)."""
        if self._hashes is None:
            data, starts, lengths = self.held()
            made = np.empty(len(starts), np.uint64)
            for at in range(0, len(starts), _BLOCK):
                part = slice(at, at + _BLOCK)
                made[part] = _hashed(data, starts[part], lengths[part])
            self._hashes = made
        return self._hashes

    def changes(self) -> NDArray[np.bool_]:
        """Whether each id differs from the one before it, as the first does. Shape (n,)."""
        data, starts, lengths = self.held()
        out = np.ones(len(lengths), np.bool_)
        out[1:] = lengths[1:] != lengths[:-1]
        for at, left in _turns(lengths):
            words = np.zeros(len(lengths), np.uint64)
            words[left] = load_words(data, starts[left] + at, lengths[left] - at)
            out[1:] |= words[1:] != words[:-1]
        return out

    def keys(self) -> Ids:
        """The column in the form in which ids are compared, see `match_key`."""
        self.held()
        if self._keys is None:
            texts = tuple(self)
            self._keys = self if in_nfc(texts) else Ids.of(tuple(map(match_key, texts)))
        return self._keys

    def hashes(self, rows: Rows) -> NDArray[np.uint64]:
        """A 64-bit hash of each of these ids; equal ids have equal hashes. Shape as `rows`."""
        if self._hashes is not None:
            return self._hashes[rows]
        data, starts, lengths = self.held()
        out = np.empty(len(rows), np.uint64)
        for block in range(0, len(rows), _BLOCK):
            own = rows[block : block + _BLOCK]
            out[block : block + _BLOCK] = _hashed(data, starts[own], lengths[own])
        return out

    def same(self, rows: Rows, other: Ids, other_rows: Rows) -> NDArray[np.bool_]:
        """Whether each of `rows` is the very text of its counterpart in `other`. Shape as `rows`.

        Exact: every byte is compared, and no hash.
        """
        a_data, a_starts, a_lengths = self.held()
        b_data, b_starts, b_lengths = other.held()
        lengths = a_lengths[rows]
        equal = np.equal(lengths, b_lengths[other_rows])
        a, b = a_starts[rows], b_starts[other_rows]
        for at, left in _turns(lengths):
            size = lengths[left] - at
            one = load_words(a_data, a[left] + at, size)
            two = load_words(b_data, b[left] + at, size)
            equal[left] &= one == two
        return equal


class IdsBuilder:
    """A column that grows part by part, in place: a large one is never held twice."""

    def __init__(self) -> None:
        self._data: NDArray[np.uint8] | None = None
        self._copied: bytearray | None = None  # once the parts stand in different bytes
        self._starts, self._lengths, self._hashes = array("q"), array("i"), array("Q")
        self._is_plain = True

    def add(self, part: Ids) -> None:
        """Appends the ids of a part."""
        data, starts, lengths = part.held()
        if self._data is None:
            self._data = data
        elif data is not self._data:
            if self._copied is None:
                self._copied = bytearray(self._data.data)
            starts = starts + len(self._copied)
            self._copied += data.data
        extend(self._starts, starts)
        extend(self._lengths, lengths)
        if part.kept_hashes is not None:
            extend(self._hashes, part.kept_hashes)
        self._is_plain &= part.is_plain

    def build(self) -> Ids:
        """The whole column."""
        data = np.zeros(0, np.uint8) if self._data is None else self._data
        if self._copied is not None:
            data = np.frombuffer(self._copied, np.uint8)
        starts, lengths = (
            np.frombuffer(self._starts, np.int64),
            np.frombuffer(self._lengths, np.int32),
        )
        hashes = np.frombuffer(self._hashes, np.uint64)
        return Ids.within(
            data,
            starts,
            lengths,
            plain=self._is_plain,
            hashes=hashes if len(hashes) == len(starts) else None,
        )


def extend(held: array[Any], values: NDArray[Any]) -> None:
    """Appends values of the array's own type; their bytes are copied once."""
    held.frombytes(np.ascontiguousarray(values).view(np.uint8).data)


def _turns(lengths: NDArray[np.int32]) -> Iterator[tuple[int, slice | Rows]]:
    """Each word's place, and which ids go on beyond it."""
    shortest = int(lengths.min()) if len(lengths) else 0
    for at in range(0, int(lengths.max(initial=0)), _WORD):
        yield at, slice(None) if at < shortest else np.flatnonzero(lengths > at)


def load_words(
    data: NDArray[np.uint8], starts: Rows, lengths: NDArray[np.int32]
) -> NDArray[np.uint64]:
    """Up to eight bytes at each start as one word, the first the least significant, then zeros.

    Args:
        data: the bytes.
        starts: where to begin; what is wanted ends within `data`.
        lengths: how many bytes are wanted, 0 and up; more than eight are eight.
    """
    if data.size < _WORD:
        data = np.concatenate((data, np.zeros(_WORD, np.uint8)))
    view = np.ndarray((data.size - _WORD + 1,), "<u8", buffer=data, strides=(1,))
    last = view.size - 1
    if starts.size and starts.max() > last:  # the view has no word that begins in the last bytes
        late = np.flatnonzero(starts > last)
        begins = np.minimum(starts, last)
        words = view[begins]
        words[late] >>= (np.minimum(starts[late] - last, _WORD - 1) * 8).astype(np.uint64)
    else:
        words = view[starts]
    shortest = int(lengths.min(initial=_WORD))
    if shortest < _WORD:
        alike = shortest == lengths.max()  # one mask for all: ids often have one length
        words &= _MASKS[shortest] if alike else _MASKS[np.minimum(lengths, _WORD)]
    return words


def _hashed(
    data: NDArray[np.uint8], starts: Rows, lengths: NDArray[np.int32]
) -> NDArray[np.uint64]:
    mixed = lengths.astype(np.uint64)
    for at, left in _turns(lengths):
        words = load_words(data, starts[left] + at, lengths[left] - at)
        mixed[left] = (mixed[left] ^ (mixed[left] >> _SHIFT) ^ words) * _MIX
    mixed ^= mixed >> _SHIFT
    return mixed


def _objects(texts: Iterable[str], n: int) -> NDArray[np.object_]:
    return np.fromiter(texts, np.object_, n)


def in_nfc(texts: Collection[str]) -> bool:
    """Whether each of these texts is its own `match_key`; one look at all of them at once."""
    if "".join(texts).isascii():
        return True
    # A part of a text in NFC is in NFC, and nothing composes with a line end (UAX 15).
    return unicodedata.is_normalized("NFC", "\n".join(texts))


def distinct(values: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """The values in order, each once. `np.unique` loads numpy.ma, a tenth of numpy's start."""
    ordered = np.sort(values)
    new = np.ones(len(ordered), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


def _text(raw: memoryview) -> str:
    return str(raw, "utf-8", "surrogatepass")


def _decoded(data: NDArray[np.uint8], starts: Rows, lengths: NDArray[np.int32]) -> Iterator[str]:
    """The texts, cut out of one piece of text where they stand close together in ASCII."""
    if not len(starts):
        return
    view, ends = data.data, starts + lengths
    low, high = int(starts.min()), int(ends.max())
    places = zip(starts.tolist(), ends.tolist(), strict=True)
    if high - low > _NEAR * int(lengths.sum()) or not (raw := bytes(view[low:high])).isascii():
        yield from (_text(view[start:end]) for start, end in places)
    else:
        text = raw.decode()
        yield from (text[start - low : end - low] for start, end in places)
