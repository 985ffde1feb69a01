"""The answer in words."""
from __future__ import annotations

import os
import subprocess
import textwrap
from typing import Any

from gpustrata._command import find
from gpustrata._sizes import in_words

__all__ = ["answer"]

_COLUMNS = 80
_MOST = 5  # lines of one kind


def _paragraph(text: str) -> str:
    return textwrap.fill(text, _COLUMNS, initial_indent="  ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _lines(rows: list[dict[str, Any]]) -> str:
    shown = ", ".join(f"{row['operator']} at {row['at'] or 'an unknown line'}" + (f" ({row['times']:,} times)" if row["times"] > 1 else "")
                      for row in rows[:_MOST])
    return shown + (f" and {len(rows) - _MOST} more" if len(rows) > _MOST else "")


def summary(told: dict[str, Any]) -> str:
    margin = f" less {in_words(told['margin_bytes'])} for what is not seen" if told["margin_bytes"] else ""
    device = f"{in_words(told['device_bytes'])}{margin}"
    lines = [f"Estimated without a GPU: {in_words(told['requested_peak_bytes'])} requested at the peak, "
             f"{in_words(told['reserved_peak_bytes'])} reserved"]
    if told["fits"]:
        it = "What is known of it" if told["memory_inside_unknown"] or told["values_taken_as_0"] else "It"
        lines.append(_paragraph(f"{it} fits a device of {device}."))
    else:
        lines.append(_paragraph(f"It does not fit a device of {device}: {told['fails_at'] or 'a request'} finds no memory. The program ran on as if "
                                "there were room; the peaks are those of the whole program."))
    lines.append(_paragraph("Not in it: CUDA's context, other processes, and what kernels take inside (workspaces of cuBLAS and cuDNN)."))
    if told["memory_inside_unknown"]:
        lines.append(_paragraph(f"Kernels that may take more inside: {_lines(told['memory_inside_unknown'])}."))
    if told["values_taken_as_0"]:
        lines.append(_paragraph(f"Values that nobody knows were taken as 0: {_lines(told['values_taken_as_0'])}. If what the program allocates depends on "
                                "them, the estimate is of another program."))
    return "\n".join(lines)


def answer(told: dict[str, Any], path: str) -> str:
    """With the report of the snapshot, if the command is there."""
    text = summary(told)
    command = find()
    if command is None:
        return text
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run([command, "report", path], stdin=subprocess.DEVNULL, capture_output=True, check=False, env=environment)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("Device")), 0)  # before it: the name of the file
    return text + "\n\n" + "\n".join(lines[first:])
