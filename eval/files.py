"""Reads and writes whole files: text, gzip, JSON; every fault has its place. I/O."""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import re
import secrets
import zlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from relgate.eval.lists.jsontext import Content, Json, content_of, parse_json
from relgate.rubrics.errors import InputError, PlatformError

__all__ = [
    "MAX_BYTES",
    "MAX_GZIP_RATIO",
    "file_name",
    "inside",
    "load_content",
    "new_file",
    "read_json",
    "read_raw",
    "read_text",
    "sync_folder",
    "write_bytes_atomic",
    "write_text_atomic",
]

MAX_BYTES = 256 * 1024 * 1024
"""The longest text that is read, in bytes after unpacking."""
MAX_GZIP_RATIO = 100
"""The greatest unpacked-to-packed ratio of a gzip file that unpacks to more than 1 MB."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
_KEPT_NAMES = frozenset(
    {"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10))}
)
_RATIO_FREE_BYTES = 1024 * 1024
_CHUNK = 1024 * 1024
_SNIFFED = 1000
_NUL_SHARE = 0.4  # of one parity of bytes: Latin text in UTF-16 has nearly 1.0, UTF-8 nearly 0.0
_KNOWN_BINARY = (
    (b"PK\x03\x04", "a zip archive or an .xlsx workbook", "unpack it, or save the sheet as CSV"),
    (b"PAR1", "a Parquet file", "name its format parquet, or save it as CSV or JSONL"),
    (b"%PDF", "a PDF", "name the data file itself"),
    (codecs.BOM_UTF32_LE, "UTF-32 text", "save it as UTF-8"),
    (codecs.BOM_UTF32_BE, "UTF-32 text", "save it as UTF-8"),
)


def read_text(path: str | Path) -> str:
    """The text of a file, unpacked when it is gzip, without its byte-order mark.

    UTF-8 with or without a mark, and UTF-16 with a mark. Line ends are kept as they are.

    Raises:
        InputError: missing, a folder, not readable, empty, longer than `MAX_BYTES`, a gzip file
            that is damaged or unpacks more than `MAX_GZIP_RATIO` times, or in another encoding.
    """
    return load_content(path, text_only=True).text


def read_raw(path: str | Path) -> bytes:
    """What `read_text` would read, in UTF-8; whether it is UTF-8 is seen when it is decoded.

    Raises:
        InputError: as `read_text`.
    """
    raw = _read_bytes(path)
    if raw[:2] == b"\x1f\x8b":
        raw = _gunzip(raw, path)
    raw = _as_utf8(raw, path)
    if not raw or raw.isspace():
        raise _empty(path)
    return raw


def _empty(path: str | Path) -> InputError:
    return InputError("the file is empty", path=path, mend="export it again, or name another")


def _read_bytes(path: str | Path) -> bytes:
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise InputError("no such file", path=path, mend="check the path") from error
    except IsADirectoryError as error:
        raise InputError("is a folder, not a file", path=path, mend="name a file in it") from error
    except PermissionError as error:
        raise InputError(
            "may not be read (permission denied)", path=path, mend="give read permission"
        ) from error
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"cannot be read: {why}", path=repr(path), mend="check it") from error
    if len(raw) > MAX_BYTES:
        raise _too_long(path)
    return raw


def _too_long(path: str | Path) -> InputError:
    return InputError(
        f"longer than the limit MAX_BYTES ({MAX_BYTES // 1024**2} MB)",
        path=path,
        mend="split the file",
    )


def _gunzip(raw: bytes, path: str | Path) -> bytes:
    parts: list[bytes] = []
    size = 0
    rest = raw
    try:
        while rest:
            unzip = zlib.decompressobj(wbits=31)
            data = unzip.decompress(rest, _CHUNK)
            while data:
                parts.append(data)
                size += len(data)
                _check_gzip(size, len(raw), path)
                data = unzip.decompress(unzip.unconsumed_tail, _CHUNK)
            if not unzip.eof:
                raise InputError("the gzip file ends too early", path=path, mend="fetch it again")
            rest = unzip.unused_data.lstrip(b"\0")  # members may follow one another, zero-padded
    except zlib.error as error:
        raise InputError(
            f"a damaged gzip file ({error})", path=path, mend="fetch it again"
        ) from error
    return b"".join(parts)


def _check_gzip(size: int, packed: int, path: str | Path) -> None:
    if size > MAX_BYTES:
        raise _too_long(path)
    if size > _RATIO_FREE_BYTES and size > MAX_GZIP_RATIO * packed:
        raise InputError(
            f"unpacks to more than the limit MAX_GZIP_RATIO ({MAX_GZIP_RATIO} times its size)",
            path=path,
            mend="unpack it yourself if you trust it",
        )


def _as_utf8(raw: bytes, path: str | Path) -> bytes:
    for magic, what, mend in _KNOWN_BINARY:
        if raw.startswith(magic):
            raise InputError(f"is {what}", path=path, mend=mend)
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _from_utf16(raw, path)
    if _is_utf16_without_mark(raw):
        raise InputError(
            "looks like UTF-16 without a byte-order mark (byte 0)",
            path=path,
            line=1,
            mend="save it as UTF-8",
        )
    return raw.removeprefix(codecs.BOM_UTF8)


def _from_utf16(raw: bytes, path: str | Path) -> bytes:
    try:
        return raw.decode("utf-16").encode()
    except UnicodeDecodeError as error:
        newline = "\n".encode("utf-16")[2:]
        raise InputError(
            f"not UTF-16: byte {error.start} is 0x{raw[error.start]:02x}",
            path=path,
            line=raw.count(newline, 0, error.start) + 1,
            mend="save it as UTF-8",
        ) from error


def _is_utf16_without_mark(raw: bytes) -> bool:
    head = raw[:_SNIFFED]
    even, odd = head[::2], head[1::2]
    shares = (even.count(0) / max(len(even), 1), odd.count(0) / max(len(odd), 1))
    return max(shares) > _NUL_SHARE and min(shares) < _NUL_SHARE / 4


def load_content(path: str | Path, *, text_only: bool = False) -> Content:
    """A file read once, its JSON parsed, for those who find out what it is.

    Args:
        path: the file, plain or gzip.
        text_only: take it as text, also when it begins like JSON.

    Raises:
        InputError: as `read_text` and `read_json`.
    """
    raw = read_raw(path)
    content = Content(str(path), "text", raw, None) if text_only else content_of(raw, path)
    if not raw[:1].isascii() and content.text.isspace():
        raise _empty(path)
    return content


def read_json(path: str | Path) -> Json:
    """The JSON value of a file. NaN and Infinity are let through: rules deal with them.

    Raises:
        InputError: not JSON, cut short, nested deeper than `MAX_DEPTH`, a number too long to
            read, a name twice in one object, or as `read_text`.
    """
    return parse_json(read_text(path), path)


def file_name(text: str) -> str:
    """`text` as the name of a file: itself where it is plain, else a hash of it.

    Plain are ASCII letters, digits, `-`, `_` and dots that do not lead, up to 100 of them, and no
    name that a system keeps for itself (`CON`, `NUL` ...).
    """
    plain = _PLAIN_NAME.fullmatch(text) and text.partition(".")[0].upper() not in _KEPT_NAMES
    return text if plain else f"x-{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:16]}"


def inside(folder: Path, name: str) -> Path:
    """The path of a file in a folder, unless what is there is a link that leads out of it.

    Raises:
        PlatformError: it is such a link.
    """
    path = folder / name
    home, target = (os.path.realpath(place) for place in (folder, path))
    if os.path.dirname(target) != home:  # noqa: PTH120 - text of real paths
        raise PlatformError(f"{path} leads out of its folder, to {target}; remove that link")
    return path


def write_text_atomic(path: str | Path, text: str) -> None:
    """Writes UTF-8 text so that the file is either the old one or the whole new one.

    Missing parent folders are made. An existing file keeps its permissions.

    Raises:
        InputError: the text holds half a surrogate pair, which UTF-8 cannot carry.
        PlatformError: the disk or the permissions are at fault.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"half a surrogate pair ({error.object[error.start]!r}) cannot be written as UTF-8",
            path=path,
            mend="mend the text it comes from",
        ) from error
    write_bytes_atomic(path, data)


def write_bytes_atomic(path: str | Path, data: bytes) -> None:
    """Writes bytes so that the file is either the old one or the whole new one.

    Missing parent folders are made. An existing file keeps its permissions.

    Raises:
        PlatformError: the disk or the permissions are at fault.
    """
    with new_file(path, size=len(data)) as file:
        file.write(data)


@contextmanager
def new_file(path: str | Path, *, size: int | None = None) -> Generator[BinaryIO]:
    """A file to write bytes to that stands at `path` once the block ends without an error.

    Until then, and after an error, there is what was there before. Missing parent folders are
    made. An existing file keeps its permissions.

    Args:
        path: where it is to stand.
        size: bytes that will be written, where that is known: for the message on a full disk.

    Raises:
        PlatformError: the disk or the permissions are at fault.
    """
    try:
        target = Path(os.path.realpath(path))
    except ValueError as error:  # a NUL character in the path
        raise PlatformError(f"{path!r}: cannot be written: {error}; check it") from error
    try:
        with _replacing(target) as file:
            yield file
    except OSError as error:
        raise _unwritable(path, error, size) from error


def _unwritable(path: str | Path, error: OSError, size: int | None) -> PlatformError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        need = "" if size is None else f": about {size:,} bytes are needed"
        return PlatformError(f"{path}: the disk is full{need}; make room, run again")
    return PlatformError(f"{path}: cannot be written: {error.strerror or error}; check the folder")


@contextmanager
def _replacing(target: Path) -> Generator[BinaryIO]:
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.parent / f".relgate-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        with temporary.open("xb") as file:
            if target.exists():
                os.fchmod(file.fileno(), target.stat().st_mode & 0o7777)
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Puts a folder's own entries on disk: a new file's name is one of them."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
