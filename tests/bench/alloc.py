#!/usr/bin/env python3
"""The allocator, the recorder, dumps and states, natively: what the programs of this folder print, against the goals.
Prints JSON lines (README.md). The programs check their answers before they print a time."""

import json
import re
import subprocess
import sys

import inputs

BIN = inputs.ROOT / "build/native-release/tests/bench"


def lines_of(program, *arguments):
    done = subprocess.run([BIN / program, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def number(line):
    """The first figure behind the line's words."""
    return float(re.search(r"\s(\d[\d.]*) (?:ns|ms)\b", line).group(1))


def first(lines, begin):
    return number(next(line for line in lines if line.startswith(begin)))


def tell(work, measured, unit, goal, reference=None, reference_value=None):
    line = {"work": work, "measured": measured, "unit": unit, "goal": f"{goal} {unit}", "met": measured <= goal}
    if reference is not None:
        line |= {"reference": reference, "reference_value": reference_value, "ratio": f"{reference_value / measured:.1f} x"}
    print(json.dumps(line), flush=True)


def main():
    small = "--small" in sys.argv
    lines = lines_of("alloc_bench", "20" if small else "400")
    tell("malloc + free, 10,000 live blocks, another size each time, median", first(lines, "allocator, no recording"), "ns", 100,
         "pool of `std::set`", first(lines, "pool of std::set"))

    lines = lines_of("recorder_bench", "2" if small else "100")
    plain = first(lines, "reference: malloc + free, not recorded")
    tell("malloc + free, 10,000 live blocks, the same size again, median", plain, "ns", 100)
    tell("the same, recorded with a cached stack (3 events), median", first(lines, "malloc + free, 10,000 live blocks, recorded"), "ns",
         250, "not recorded", plain)
    for title, work in (("dump, 2,000 stacks", "2,000 stacks"), ("dump, every event", "every stack its own")):
        at = next(i for i, line in enumerate(lines) if line.startswith(title))
        tell(f"dump of {2 if small else 100},000 events, 40 frames, {work}, median", first(lines[at:], "  dump"), "ms", 15,
             "a copy of its bytes", first(lines[at:], "  reference: a copy"))

    lines = lines_of("journal_bench", "20" if small else "10000")
    least = first(lines, "reference: a lock")
    tell("an event told to a journal whose writer keeps up, median", first(lines, "an event, while"), "ns", 100, "a lock and a copy", least)
    tell(f"{20 if small else 10_000},000 events to a journal as fast as they come, of the caller", first(lines, "an event, as fast"), "ns", 150,
         "a lock and a copy", least)

    lines = lines_of("state_bench", "0.01" if small else "1")
    undo = first(lines, "reference: undo all each time")
    tell(f"state after any event, {'10,000' if small else '1 M'} events, median", first(lines, "state after any event"), "ms", 1, "undo all each time", undo)


main()
