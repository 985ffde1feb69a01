"""Requests, run by the engine's caching allocator on a simulated device: peaks, the first that fails, a snapshot."""
from __future__ import annotations

import json
import os
import pickle
import tempfile
from dataclasses import dataclass
from typing import Any

from gpustrata import _native
from gpustrata._estimate.requests import Requests

__all__ = ["Run", "check", "run", "write_snapshot"]

ROOMY = 1 << 44  # 16 TiB: more than any device has


@dataclass(frozen=True)
class Run:
    """`stats` are those of torch.cuda.memory_stats(); `failed`: the first request that finds no memory, -1: none."""

    stats: dict[str, int]
    failed: int
    failure: str

    def peak(self, what: str) -> int:
        return self.stats[f"{what}_bytes.all.peak"]


def _ask(lines: list[str], order: str, device_bytes: int, conf: str, dump: str | None = None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="gpustrata-") as folder:
        script = os.path.join(folder, "requests")
        with open(script, "w", encoding="ascii") as file:
            # Since 2026 only captures put frees off, of which there are none here.
            file.write(f"order {order}\n" + "".join(line + "\n" for line in lines))
        more = [f"--conf={conf}"] if conf else []
        more += [] if dump is None else [f"--dump={dump}"]
        told: dict[str, Any] = _native.ask([], ["simulate", script, f"--device={device_bytes}", "--json", *more])
        return told


def check(device_bytes: int, conf: str) -> None:
    """Failure: ValueError, in the words of the command."""
    try:
        _ask([], "address", device_bytes, conf)
    except ValueError as error:
        raise ValueError(str(error).partition(": ")[2] or str(error)) from None  # less the name of the script


def run(requests: Requests, order: str, device_bytes: int, conf: str) -> Run:
    told = _ask(requests.lines, order, device_bytes, conf)
    failed = next((i for i, result in enumerate(told["results"]) if "oom" in result), 0)
    return Run(told["stats"], failed - 1, told["results"][failed].get("oom", "") if failed else "")


def write_snapshot(requests: Requests, until: int, order: str, device_bytes: int, conf: str, facts: dict[str, Any], path: str) -> None:
    """Of the first `until` requests. `facts` are kept in the settings, as "gpustrata_estimate"."""
    with tempfile.TemporaryDirectory(prefix="gpustrata-") as folder:
        raw = os.path.join(folder, "raw.pickle")
        _ask(requests.lines[:until], order, device_bytes, conf, raw)
        with open(raw, "rb") as file:
            snapshot = pickle.load(file)  # noqa: S301: our own, just written
    frames: dict[int, list[dict[str, Any]]] = {}  # by line of the script; equal stacks are one object

    def real(row: dict[str, Any]) -> None:
        step = row.get("frames")
        if step:
            line = step[0]["line"] - 2  # the first is the order
            stack = requests.stacks[line]
            row["frames"] = frames.setdefault(stack, requests.frames(stack)) if stack not in frames else frames[stack]

    for event in (event for trace in snapshot["device_traces"] for event in trace):
        real(event)
    for segment in snapshot["segments"]:
        real(segment)
        for block in segment["blocks"]:
            real(block)
    # What it is: first among the settings, where all that prints them shows it, and a region over all of the timeline.
    snapshot["allocator_settings"] = {"gpustrata_estimate": facts, **snapshot["allocator_settings"]}
    times = [event["time_us"] for trace in snapshot["device_traces"] for event in trace]
    if times:
        name = f"estimate without a GPU, PyTorch {facts['torch']}"
        snapshot["external_annotations"] = [{"name": name, "stage": stage, "time_us": time, "device": 0}
                                            for stage, time in (("START", min(times)), ("END", max(times)))]
    part = f"{path}.part-{os.getpid()}"
    try:
        with open(part, "xb") as file:
            pickle.dump(snapshot, file, protocol=4)
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise
