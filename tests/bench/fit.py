#!/usr/bin/env python3
"""What fits, told from three recordings of 100,000 events each, against reading them with Python's pickle. Prints JSON lines
(README.md). The peak that is foretold is compared with that of a run of that size before a time is printed."""

import json
import os
import pickle
import subprocess
import sys
import time

import inputs

BIN = os.environ.get("GPUSTRATA_TOOL") or inputs.ROOT / "build/native-release/bin/gpustrata"
KIB = 1 << 10
LAYERS = 24


def tell(work, measured, goal=None, **more):
    print(json.dumps({"work": work, "measured": measured, "unit": "s", "goal": f"{goal} s" if goal else "",
                      "met": goal is None or measured <= goal} | more), flush=True)


def program(batch, steps):
    """Steps of a script and the line of code of each: layers forward, then backward, gradients into an optimizer's state."""
    script, lines, made = [], [], 0

    def new(line, size):
        nonlocal made
        made += 1
        script.append(f"m b{made} {size}")
        lines.append(line)
        return f"b{made}"

    def free(*blocks):
        script.extend(f"f {block}" for block in blocks)
        lines.extend(0 for _ in blocks)

    for layer in range(LAYERS):
        new(100 + layer, 768 * KIB)
    for _ in range(steps):
        kept = []
        for layer in range(LAYERS):
            kept.append(new(200 + layer, 96 * KIB * batch))
            free(new(300 + layer, 12 * KIB * batch * batch))
        for layer in reversed(range(LAYERS)):
            of_input, of_weights = new(400 + layer, 96 * KIB * batch), new(500 + layer, 768 * KIB)
            free(of_weights, kept.pop(), of_input)
    return script, lines


def recorded(batch, steps):
    path = inputs.FOLDER / f"fit-{steps}-{batch}.pickle"
    script, lines = program(batch, steps)
    text = inputs.FOLDER / "fit.script"
    text.write_text("\n".join(script) + "\n")
    subprocess.run([BIN, "simulate", text, "--device", str(1 << 40), "--dump", path], check=True, capture_output=True)
    dump = pickle.loads(path.read_bytes())
    for event in dump["device_traces"][0]:
        event["frames"] = [{"name": "step", "filename": "train.py", "line": lines[frame["line"] - 1]}
                           for frame in event.get("frames", ())]
    path.write_bytes(pickle.dumps(dump))
    return path, len(dump["device_traces"][0])


def best_of(count, work):
    times = []
    for _ in range(count):
        start = time.perf_counter()
        answer = work()
        times.append(time.perf_counter() - start)
    return min(times), answer


def main():
    steps = 10 if "--small" in sys.argv else 350
    inputs.FOLDER.mkdir(parents=True, exist_ok=True)
    made = {batch: recorded(batch, steps) for batch in (2, 4, 8)}
    files = [f"{path}:batch={batch}" for batch, (path, _) in made.items()]
    _, events = made[8]
    true = json.loads(subprocess.run([BIN, "simulate", "-", "--device", str(1 << 40), "--json"], check=True, capture_output=True, text=True,
                                     input="\n".join(program(32, steps)[0]) + "\n").stdout)["stats"]

    def fit(*more):
        done = subprocess.run([BIN, "fit", *files, "--json", *more], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    seconds, told = best_of(3, lambda: fit("--at", "batch=32"))
    (one,) = told["at"]
    assert (one["requested_peak_bytes"], one["reserved_peak_bytes"]) == (
        true["requested_bytes.all.peak"], true["reserved_bytes.all.peak"]), one
    read, _ = best_of(3, lambda: [pickle.loads(path.read_bytes()) for path, _ in made.values()])
    what = f"fit, 3 recordings of {events:,} events"
    reference = {"reference": "pickle.load of the three", "reference_value": read}
    tell(f"{what}: a larger batch foretold", seconds, 1, **reference, ratio=f"{read / seconds:.2f} x")
    seconds, told = best_of(1, lambda: fit("--capacity", "8GiB"))
    assert told["largest_that_fits"]["value"] > 8
    tell(f"{what}: the largest batch, with two settings", seconds)


main()
