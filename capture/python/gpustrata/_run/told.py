"""What is said on standard error: one line for each thing, and a short report when memory runs out."""
from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import textwrap
from typing import Any

from gpustrata._command import find, in_words

__all__ = ["report_out_of_memory", "say"]

_SECONDS = 60  # for the report: the program waits
_COLUMNS = 80
_MOST_BYTES = 60_000  # for a command: a pipe of Linux holds 65,536

_notified: list[subprocess.Popen[bytes]] = []  # a Popen that is given up while its process runs is a warning


def say(text: str) -> None:
    try:
        print(f"gpustrata: {text}", file=sys.stderr, flush=True)
    except (OSError, ValueError, AttributeError):  # closed, or none
        pass


def _report(path: str) -> list[dict[str, Any]]:
    """The devices of `gpustrata report --json`. Failure: OSError, ValueError, subprocess.SubprocessError."""
    command = find()
    if command is None:
        raise OSError("the command gpustrata is not here")
    # What is preloaded into the program is not meant for the command.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run([command, "report", path, "--json"], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=_SECONDS, env=environment)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    if not lines:
        raise ValueError((done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no answer"])[-1])
    answer = json.loads(lines[0])
    if "error" in answer:
        raise ValueError(answer["error"].get("message", "no answer"))
    devices: list[dict[str, Any]] = answer["devices"]
    return devices


def _paragraph(text: str) -> str:
    return textwrap.fill(text, _COLUMNS, initial_indent="  ", subsequent_indent="  ", break_long_words=False,
                         break_on_hyphens=False)


def report_out_of_memory(path: str, device: int, notify: list[str]) -> None:
    """Why, what to change where, who holds most, and how to see all of it; the same to commands of the shell."""
    lines = [f"out of memory on cuda:{device}"]
    try:
        told = [one for one in _report(path) if one.get("device") == device]
        findings = {finding["kind"]: finding for one in told for finding in one["findings"]}
        lines += [_paragraph(said["text"]) for said in findings["oom"]["says"]]
        parts = findings.get("peak", {}).get("parts", [])[:3]
        if parts:
            lines.append(_paragraph("Most at the peak: " + ", ".join(
                f"{part['who']} ({part['share']:.0%})" for part in parts) + "."))
    except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError) as error:
        lines.append(f"  No report: {type(error).__name__}: {error}")
    lines.append(f"  {in_words()} report {shlex.quote(path)}")
    text = "\n".join(lines)
    say(text)
    for command in notify:
        _notify(command, path, f"gpustrata: {text}\n")


def _notify(command: str, path: str, text: str) -> None:
    """Begins it: it outlives the program if need be, and is not recorded itself."""
    environment = {**{name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
                   "GPUSTRATA_RUN": "0", "GPUSTRATA_SNAPSHOT": path}
    try:
        process = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.PIPE, stdout=2, env=environment, start_new_session=True)
    except OSError as error:
        say(f"not notified: {error}")
        return
    _notified.append(process)
    assert process.stdin is not None
    try:
        with process.stdin:  # a pipe takes that much at once, whether or not it is read
            process.stdin.write(text.encode("utf-8", "replace")[:_MOST_BYTES])
    except OSError:  # it ended without reading
        pass
