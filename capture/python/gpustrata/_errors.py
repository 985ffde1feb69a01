"""What can go wrong, as Python has it."""
from __future__ import annotations

__all__ = ["FileError", "raise_error"]


class FileError(ValueError):
    """A file that cannot be read.

    code      "invalid_format", "truncated", "unsupported", ... (engine/base/status.h)
    path      the file
    offset    the byte at which it went wrong, None where that means nothing
    inside    what the offset counts in, where one file holds others ("rank0.pickle"); "" = the file
    """

    def __init__(self, code: str, path: str, message: str, offset: int | None = None, inside: str = "") -> None:
        where = ""
        if offset is not None:
            where = f" (at byte {offset:,}{' of ' + inside if inside else ''})"
        super().__init__(f"{path}: {message}{where}" if path else message + where)
        self.code, self.path, self.offset, self.inside = code, path, offset, inside


def raise_error(path: str, error: dict[str, object]) -> None:
    """As the exception that fits an answer's {"code", "message", "offset", "inside"}."""
    code, message = str(error.get("code")), str(error.get("message"))
    if code == "wrong_usage":
        raise ValueError(message)
    if code == "limit_exceeded":
        raise MemoryError(f"{path}: {message}" if path else message)
    if code in ("unreadable", "unwritable"):
        raise OSError(f"{path}: {message}")
    offset = error.get("offset")
    raise FileError(code, path, message, offset if isinstance(offset, int) and offset >= 0 else None,
                    str(error.get("inside") or ""))
