"""What a program asks of the allocator, in order, each with the stack of who asks: a script for `gpustrata simulate`."""
from __future__ import annotations

import os
import sys
from types import CodeType, FrameType
from typing import Any

__all__ = ["Requests", "Frame"]

Frame = dict[str, Any]  # filename, line, name: as in a snapshot

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
_BEGIN = os.path.join(_OWN, "command.py")  # outside of it there is nothing of the program
# What stands between a call of the program and the hook, in any version.
_MACHINERY = ("torch/_subclasses/", "torch/utils/_python_dispatch.py", "torch/utils/_stats.py", "torch/_ops.py",
              "torch/_compile.py", "torch/_dynamo/", "torch/_library/", "torch/library.py")
_MOST_FRAMES = 128  # beyond it the outermost are left out


class Requests:
    """`lines` is the script; `stacks[i]` is the row in `known` of who asked for line i."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.stacks: list[int] = []
        self.known: list[tuple[tuple[CodeType, int], ...]] = []
        self._rows: dict[tuple[tuple[CodeType, int], ...], int] = {}
        self._kinds: dict[CodeType, int] = {}  # 0: of the program; 1: machinery; 2: our own; 3: who began the program;
        # 4: torch's hand-over to a mode

    def add(self, line: str) -> None:
        self.lines.append(line)
        self.stacks.append(self._row(sys._getframe(1)))

    def frames(self, row: int) -> list[Frame]:
        """Innermost first."""
        return [{"filename": code.co_filename, "line": line, "name": code.co_name} for code, line in self.known[row]]

    def place(self, row: int) -> str:
        """The program's own line, as "train.py:88"; "" if there is none."""
        import torch

        library = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
        for code, line in self.known[row]:
            if not code.co_filename.startswith((library, "<")):
                return f"{os.path.basename(code.co_filename)}:{line}"
        return ""

    def place_now(self) -> str:
        return self.place(self._row(sys._getframe(1)))

    def _row(self, frame: FrameType) -> int:
        stack = self._stack_now(frame)
        row = self._rows.setdefault(stack, len(self.known))
        if row == len(self.known):
            self.known.append(stack)
        return row

    def _stack_now(self, frame: FrameType | None) -> tuple[tuple[CodeType, int], ...]:
        stack: list[tuple[CodeType, int]] = []
        while frame is not None and len(stack) < _MOST_FRAMES:
            code = frame.f_code
            kind = self._kinds.get(code)
            if kind is None:
                kind = self._kinds[code] = self._kind(code.co_filename)
            if kind == 3:
                break
            if kind == 4:  # a function of torch.nn.functional, on its way into a mode: it comes again inside
                frame = frame.f_back
            elif kind == 0 or (kind == 1 and stack):
                stack.append((code, frame.f_lineno or 0))
            frame = frame.f_back if frame is not None else None
        while stack and frame is not None and stack[-1][0].co_filename == "<frozen runpy>":
            stack.pop()
        return tuple(stack)

    @staticmethod
    def _kind(path: str) -> int:
        if path.startswith(_OWN):
            return 3 if path == _BEGIN else 2
        path = path.replace(os.sep, "/")
        if path.endswith("torch/overrides.py"):
            return 4
        return 1 if any(part in path for part in _MACHINERY) else 0
