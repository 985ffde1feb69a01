"""libgpustrata_file.so by ctypes: its functions, and its answers as Python values or exceptions.

Looked for in GPUSTRATA_FILE (a path), beside this file, then in build/*/lib of the checkout that this file lies in.
Calls release the interpreter's lock.
"""
from __future__ import annotations

import ctypes
import glob
import json
import os
import threading
from typing import Any, Callable

from gpustrata._errors import raise_error
from gpustrata._recorder import _text_of, _whole

__all__ = ["Handle", "ask", "ask_text", "call", "checked", "folder", "in_background", "library"]

_INTERFACE = 3
_LIBRARY = "libgpustrata_file.so"
folder = os.path.dirname(os.path.abspath(__file__))


class _Answer(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("size", ctypes.c_int64), ("text", ctypes.c_void_p)]


def call(name: str, *arguments: Any) -> tuple[Any, int, str]:
    """What a function returns; exit code and text of the answer, its last argument, which is given back."""
    answer = _Answer()
    try:
        returned = getattr(library(), name)(*arguments, ctypes.byref(answer))
        text = ctypes.string_at(answer.text, answer.size) if answer.text else b""
        return returned, answer.code, text.decode("utf-8", "replace")
    finally:
        library().gpustrata_answer_free(ctypes.byref(answer))


def checked(path: str, name: str, *arguments: Any) -> tuple[Any, str]:
    """What a function returns, and the text. Raises what went wrong with this file."""
    returned, code, text = call(name, *arguments)
    if code != 0:
        _raise(path, code, text)
    return returned, text


_POINTER, _TEXT, _INT32, _INT64 = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_int64
_ANSWER = ctypes.POINTER(_Answer)
_FUNCTIONS = [
    ("gpustrata_answer_free", None, [_ANSWER]),
    ("gpustrata_file_interface", _INT32, []),
    ("gpustrata_file_version", _TEXT, []),
    ("gpustrata_file_open", _POINTER, [_TEXT, _INT64, _ANSWER]),
    ("gpustrata_file_read", _INT32, [_POINTER, _INT64, _ANSWER]),
    ("gpustrata_file_progress", None, [_POINTER, ctypes.POINTER(_INT64)]),
    ("gpustrata_file_close", None, [_POINTER]),
    ("gpustrata_file_begin", _POINTER, [_TEXT, _INT64, _INT64, _ANSWER]),
    ("gpustrata_file_write", _INT32, [_POINTER, _POINTER, _INT64, _ANSWER]),
    ("gpustrata_file_end", None, [_POINTER, _INT64, _ANSWER]),
    ("gpustrata_file_contents", None, [_POINTER, _ANSWER]),
    ("gpustrata_file_ask", None, [ctypes.POINTER(_POINTER), _INT32, ctypes.POINTER(_TEXT), _INT32, _ANSWER]),
    ("gpustrata_file_table", _POINTER, [_POINTER, _INT32, _INT32, _INT32, _ANSWER]),
    ("gpustrata_file_ops", _POINTER, [_POINTER, _INT32, _TEXT, _INT32, _ANSWER]),
    ("gpustrata_table_rows", _INT64, [_POINTER]),
    ("gpustrata_table_stream", _POINTER, [_POINTER]),
    ("gpustrata_stream_free", None, [_POINTER]),
    ("gpustrata_stream_set_capsules", None, [_POINTER]),
    ("gpustrata_stream_capsule_name", _POINTER, []),
    ("gpustrata_table_close", None, [_POINTER]),
]
_loaded: ctypes.CDLL | None = None
_loading = threading.Lock()


def _candidates() -> list[str]:
    named = os.environ.get("GPUSTRATA_FILE")
    if named:
        return [named]
    checkout = os.path.join(folder, "..", "..", "..", "build", "*", "lib", _LIBRARY)
    return [path for path in [os.path.join(folder, _LIBRARY), *sorted(glob.glob(checkout))] if os.path.exists(path)]


def library() -> ctypes.CDLL:
    global _loaded
    if _loaded is not None:
        return _loaded
    with _loading:
        if _loaded is not None:
            return _loaded
        reasons = []
        for path in _candidates():
            try:
                found = ctypes.CDLL(path)
                break
            except OSError as error:
                reasons.append(str(error))
        else:
            raise ImportError(f"gpustrata: {_LIBRARY} cannot be loaded: {'; '.join(reasons) or 'it is not there'}. "
                              "Install the package, or build the library and name it in GPUSTRATA_FILE.")
        for name, result, arguments in _FUNCTIONS:
            function = getattr(found, name)
            function.restype, function.argtypes = result, arguments
        if found.gpustrata_file_interface() != _INTERFACE:
            raise ImportError(f"gpustrata: {found._name} is of another version than this package")
        _loaded = found
    return _loaded


def _raise(path: str, code: int, text: str) -> None:
    try:
        told = json.loads(text.splitlines()[-1])
        if "error" not in told:
            raise ValueError("there is no such device or event in this file")
        error = told["error"]
    except (json.JSONDecodeError, IndexError, TypeError):
        # Usage is told in words: "gpustrata: ...".
        message = text.strip().partition("gpustrata: ")[2] or text.strip()
        raise ValueError(message.splitlines()[0] if message else f"the command ended with exit code {code}") from None
    raise_error(path or str(told.get("file") or ""), error)


def in_background(work: Callable[[], Any]) -> Any:
    """work(), on a thread of its own: a KeyboardInterrupt comes at once, and the work is left to itself then."""
    result: list[Any] = []

    def run() -> None:
        try:
            result.append((True, work()))
        except BaseException as error:  # noqa: BLE001: handed over to the caller
            result.append((False, error))

    try:
        thread = threading.Thread(target=run, daemon=True, name="gpustrata")
        thread.start()
    except RuntimeError:  # no more threads to be had; a subinterpreter may have none, or no such ones
        run()
    else:
        thread.join()
    good, value = result[0]
    if good:
        return value
    raise value


class Handle:
    """A file or a table of the library, closed when nobody holds it any more, calls on other threads included."""

    def __init__(self, address: int, close: Callable[[int], None]) -> None:
        self.address, self._close = address, close

    def __del__(self) -> None:
        self._close(self.address)


def ask_text(files: list[Handle], arguments: list[str | bytes]) -> tuple[int, str]:
    """The command's exit code, and what it prints for these arguments."""
    handles = (ctypes.c_void_p * len(files))(*[one.address for one in files])
    words = [_text_of(os.fsencode(word)) for word in arguments]
    array = (ctypes.c_char_p * len(words))(*words)
    _, code, text = in_background(lambda: call("gpustrata_file_ask", handles, len(files), array, len(words)))
    return code, text


def ask(files: list[Handle], arguments: list[str | bytes]) -> Any:
    """The command's --json for these arguments: an object, or a list of them where it prints several."""
    code, text = ask_text(files, arguments)
    broken, undecided = 3, 4  # of `check`: answers, too
    if code not in (0, broken, undecided):
        _raise("", code, text)
    values = [json.loads(line) for line in text.splitlines()]
    return values[0] if len(values) == 1 else values
