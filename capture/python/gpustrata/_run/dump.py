"""gpustrata dump PID: a snapshot of a process that is being recorded, while it runs.

A recorded process listens at a socket in a folder that only its user may enter, on a thread that sleeps until somebody
calls. The thread needs the interpreter's lock, not the main thread: a process that waits inside of a collective answers, too.
What is not answered within a minute is said by the caller. Requests and answers are one line of JSON.
"""
from __future__ import annotations

import argparse
import json
import os
import socket
import stat
import struct
import sys
import tempfile
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from gpustrata._run.recording import Recording

__all__ = ["listen", "main"]

_LONGEST = 1 << 16  # bytes of a line
_SECONDS = 600      # that PyTorch may take for its snapshot
_WRONG_USAGE, _FAILED = 1, 2


def folder() -> str:
    """It exists and is this user's alone. Failure: OSError."""
    path = os.path.join(tempfile.gettempdir(), f"gpustrata-{os.getuid()}")
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(f"{path} is not a folder of this user alone")
    return path


def _line(connection: socket.socket) -> bytes:
    """Up to the end of the line, or of what comes. Failure: OSError."""
    data = b""
    while b"\n" not in data:
        piece = connection.recv(4096)
        data += piece
        if not piece or len(data) > _LONGEST:
            break
    return data


# --- In the process that is recorded


def listen(recording: Recording) -> None:
    """From now on, until the process ends. Failure: OSError."""
    import _thread

    path = os.path.join(folder(), f"{os.getpid()}.socket")
    if os.path.exists(path):  # of a process that had this id before
        os.unlink(path)
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(4)
    # Not one of threading's: programs count those.
    _thread.start_new_thread(_serve, (server, recording))


def _serve(server: socket.socket, recording: Recording) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            try:
                connection.settimeout(10)
                asked = json.loads(_line(connection))
                output = asked["output"]
                if output is not None and not isinstance(output, str):
                    raise ValueError("the name of the file is no text")
                answer: dict[str, Any] = {"path": recording.dump(output)}
            except Exception as error:  # the program goes on, and the caller hears of it
                answer = {"error": f"{type(error).__name__}: {error}"}
            try:
                connection.sendall(json.dumps(answer).encode() + b"\n")
            except OSError:
                pass


def forget() -> None:
    """The process ends."""
    try:
        os.unlink(os.path.join(folder(), f"{os.getpid()}.socket"))
    except OSError:
        pass


# --- The command


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"gpustrata dump: {message}", file=sys.stderr)
        sys.exit(_WRONG_USAGE)


def _recorded() -> list[int]:
    """Processes that listen; what ended ones left behind is removed."""
    place, found = folder(), []
    for name in os.listdir(place):
        number = name.partition(".")[0]
        if not number.isdecimal() or not name.endswith(".socket"):
            continue
        if os.path.exists(f"/proc/{number}"):
            found.append(int(number))
        else:
            os.unlink(os.path.join(place, name))
    return sorted(found)


def _words_of(process: int) -> str:
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return " ".join(file.read(1000).decode("utf-8", "replace").split("\0")).strip()
    except OSError:
        return "?"


def _ask(process: int, output: str | None) -> str:
    """The path of the file. Failure: OSError, ValueError, in words."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_SECONDS)
        try:
            connection.connect(os.path.join(folder(), f"{process}.socket"))
        except (FileNotFoundError, ConnectionRefusedError):
            raise ValueError("it is not recorded by gpustrata, uses no device yet, or has another TMPDIR") from None
        # Who listens is who the folder belongs to: nobody else may enter it.
        connection.sendall(json.dumps({"output": output}).encode() + b"\n")
        data = _line(connection)
    if not data:
        raise ValueError("it ended meanwhile")
    answer = json.loads(data)
    if "error" in answer:
        raise ValueError(answer["error"])
    return str(answer["path"])


def main(words: list[str]) -> int:
    it = _Parser(prog="gpustrata dump", allow_abbrev=False,
                 description="Writes a snapshot of a process that runs under `gpustrata run`. Without PID: lists those.")
    it.add_argument("pid", metavar="PID", type=int, nargs="*", help="process ids")
    it.add_argument("-o", "--output", metavar="FILE", help="name of the file, with the fields of gpustrata run")
    given = it.parse_args(words)
    try:
        processes = given.pid or _recorded()
    except OSError as error:
        print(f"gpustrata dump: {error}", file=sys.stderr)
        return _FAILED
    failed = 0
    for process in processes:
        if not given.pid:
            print(f"{process}  {_words_of(process)}")
            continue
        try:
            print(_ask(process, os.path.abspath(given.output) if given.output else None))
        except (OSError, ValueError) as error:
            print(f"gpustrata dump: process {process}: {error}", file=sys.stderr)
            failed = _FAILED
    if not processes:
        print("gpustrata dump: no process of this user is recorded here", file=sys.stderr)
    return failed
