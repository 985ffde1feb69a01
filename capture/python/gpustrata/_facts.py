"""Facts of one file, as the lines that `gpustrata facts` prints, from a path, from memory or from a stream."""
from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Iterator

from gpustrata import _native
from gpustrata._errors import raise_error
from gpustrata._native import Handle, ask_text, call, checked, library

__all__ = ["facts_lines", "failed_line", "raise_failed"]

_PIECE = 4 << 20  # bytes of a stream at once
_FAILED = 2  # exit code of the command: the line says why


def _opened(source: Any) -> tuple[Any, str, int]:
    """What can be read(), its name, its size (-1 = unknown)."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if path.startswith("file:"):
            path = "/" + path[len("file:"):].lstrip("/")
        if "://" in path:
            import fsspec  # the extra of the store: s3fs, gcsfs, ...

            stream = fsspec.open(path, "rb").open()
            return stream, path, _size_of(stream)
        stream = open(path, "rb", buffering=0)  # noqa: SIM115: closed by _pieces
        size = os.fstat(stream.fileno()).st_size
        return stream, path, size or -1  # of a pipe nothing is known
    name = getattr(source, "path", None) or getattr(source, "name", None)
    return source, name if isinstance(name, str) else "", _size_of(source)


def _size_of(stream: Any) -> int:
    size = getattr(stream, "size", None)
    return size if isinstance(size, int) and size >= 0 else -1


def _memory(source: Any) -> tuple[int, int, Any] | None:
    """Address and size of bytes in memory, and who keeps them; pyarrow's buffers are not copied."""
    if hasattr(source, "address") and hasattr(source, "size"):
        return source.address, source.size, source
    if isinstance(source, (bytearray, memoryview)):
        source = bytes(source)
    if isinstance(source, bytes):
        return ctypes.cast(ctypes.c_char_p(source), ctypes.c_void_p).value or 0, len(source), source
    return None


def _pieces(stream: Any, own: bool) -> Iterator[tuple[int, int]]:
    """Address and size of one piece after the other, each valid until the next."""
    buffer = bytearray(_PIECE)
    address = ctypes.addressof((ctypes.c_char * _PIECE).from_buffer(buffer))
    try:
        while True:
            if hasattr(stream, "readinto"):
                count = stream.readinto(buffer)
            else:
                piece = stream.read(_PIECE)
                count = len(piece or b"")
                buffer[:count] = piece or b""
            if not count:
                return
            yield address, count
    finally:
        if own:
            stream.close()


def facts_lines(source: Any, options: list[str], name: str | None = None, memory_limit: int = 0) -> tuple[str, bool]:
    """The lines, and whether the file could be read; else its line says why.

    Failure: OSError, of the source; ValueError, of the options.
    """
    memory = _memory(source)
    if memory:
        address, total, kept = memory
        return _facts_of(name or "", total, iter([(address, total)]), options, memory_limit, kept)
    stream, found, total = _opened(source)
    pieces = _pieces(stream, own=stream is not source)
    try:
        return _facts_of(name or found, total, pieces, options, memory_limit, stream)
    finally:
        pieces.close()  # type: ignore[attr-defined]


def failed_line(name: str, options: list[str], code: str, message: str) -> str:
    """The line of a file that could not be had."""
    text, _ = _facts_of(name, 0, iter([]), options, 0, None)
    line = json.loads(text)
    line["error"] = {"code": code, "message": message, "offset": None}
    return json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n"


def raise_failed(name: str, text: str) -> None:
    """What a line of a file that could not be read says, as an exception."""
    raise_error(name, json.loads(text.splitlines()[0])["error"])


def _facts_of(name: str, total: int, pieces: Iterator[tuple[int, int]], options: list[str], memory_limit: int,
              kept: Any) -> tuple[str, bool]:
    if "\0" in name:
        raise ValueError(f"a name has no NUL, but it is {name!r}")
    name = "./" + name if name.startswith("-") or not name else name
    address, _ = checked(name, "gpustrata_file_begin", _native._text_of(os.fsencode(name)), total, _native._whole(memory_limit))
    handle = Handle(address, library().gpustrata_file_close)
    ended, count = True, 0
    for piece, size in pieces:
        count += size
        goes_on, _, _ = call("gpustrata_file_write", address, piece, size)  # the line tells what went wrong
        if not goes_on:
            ended = False
            break
    if ended and 0 <= count < total:
        raise OSError(f"{name}: it ended after {count:,} of {total:,} bytes")
    if not ended and total < 0:
        count += sum(size for _, size in pieces)  # so that the same bytes give the same facts
    call("gpustrata_file_end", address, count if total < 0 else total)
    del kept
    code, text = ask_text([handle], ["facts", name, *options])
    if code not in (0, _FAILED) or not text.startswith("{"):
        message = text.strip().partition("gpustrata: ")[2] or text.strip()
        raise ValueError(message.splitlines()[0] if message else f"the command ended with exit code {code}")
    return text, code == 0
