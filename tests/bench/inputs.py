#!/usr/bin/env python3
"""Makes the snapshots that the benchmarks read, once: inputs.py NAME... prints their paths.

NAME is EVENTS[-real][-cpp|-protocolN]: 1000000, 300000-real, 1000000-cpp, 1000000-protocol2. They lie in
$GPUSTRATA_BENCH_INPUTS (build/bench/inputs) and come from ../shared/tools, which knows nothing of this project.
EVENTS-tiny is made here: 200,000 blocks of at most 64 KiB live at any time, freed in random order.
EVENTS-chunks too: 20,000 events, repeated with shifted times at the same addresses, as steps of a training do, 311 bytes
an event (48 frames).
"""

import os
import pathlib
import pickle
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT.parent / "shared" / "tools"
FOLDER = pathlib.Path(os.environ.get("GPUSTRATA_BENCH_INPUTS", ROOT / "build/bench/inputs"))


def write_tiny(events, path):
    chance = random.Random(20261101)
    frames = [{"filename": "train.py", "line": 1, "name": "step"}]
    live, reusable, trace = [], [], []
    address, time_us = 0x7F0000000000, 1_700_000_000_000_000

    def add(action, where, size):
        nonlocal time_us
        time_us += chance.randint(1, 20)
        trace.append({"action": action, "addr": where, "size": size, "stream": 0, "time_us": time_us, "frames": frames})

    while len(trace) < events:
        if len(live) < 200_000:
            size = chance.randint(512, 64 << 10)
            if not reusable:
                address += 64 << 10
                reusable.append(address)
            live.append((reusable.pop(), size))
            add("alloc", *live[-1])
        else:
            i = chance.randrange(len(live))
            live[i], live[-1] = live[-1], live[i]
            block = live.pop()
            add("free_completed", *block)
            reusable.append(block[0])
    with open(path, "wb") as out:
        pickle.dump({"segments": [], "device_traces": [trace]}, out)


def write_chunks(events, path):
    """Pickle without a dictionary in memory: a chunk of events is a number, and so is what one chunk is shifted against the
    one before; their sum is the next chunk. Times are integers of eight bytes, which never overflow."""
    chance = random.Random(20261102)
    chunk = 20_000
    memo, head = {}, bytearray(b"\x80\x04}(")

    def text(value):
        raw = value.encode()
        return b"X" + len(raw).to_bytes(4, "little") + raw

    def kept(value, encoded):
        """Writes what is used again, a value on the stack that is taken off."""
        memo[value] = len(memo)
        head.extend(encoded + b"r" + memo[value].to_bytes(4, "little") + b"0")

    def again(value):
        return b"j" + memo[value].to_bytes(4, "little")

    for word in ("action", "addr", "size", "stream", "time_us", "frames", "alloc", "free_completed"):
        kept(word, text(word))
    for i in range(3_000):
        kept(i, b"}(" + text("filename") + text(f"/home/dev/model/part_{i % 90}.py") + text("line") + b"K\x07" +
             text("name") + text(f"forward_{i}") + b"u")
    stacks = [b"".join(map(again, chance.sample(range(3_000), 48))) for _ in range(2_000)]
    head += text("segments") + b"]" + text("device_traces") + b"](]("  # the list of devices, and of its events

    base, step, live, address, time_us = bytearray(), bytearray(), [], 0x7F0000000000, 1_700_000_000_000_000

    def number(value, shift):
        base.extend(b"\x8a\x08" + value.to_bytes(8, "little"))
        step.extend(b"\0\0" + shift.to_bytes(8, "little"))

    def plain(data):
        base.extend(data)
        step.extend(bytes(len(data)))

    def add(action, where, size, stack):
        nonlocal time_us
        time_us += 7
        plain(b"}(" + again("action") + again(action) + again("addr"))
        number(where, 0)
        plain(again("size") + b"J" + size.to_bytes(4, "little") + again("stream") + b"K\0" + again("time_us"))
        number(time_us, chunk * 7)
        plain(again("frames") + b"](" + stack + b"eu")

    for done in range(chunk):
        if len(live) < min(1_000, (chunk - done) // 2 + 1) and done < chunk - len(live):
            live.append((address, chance.randrange(512, 2 << 20), chance.choice(stacks)))
            address += 2 << 20
            add("alloc", *live[-1])
        else:
            add("free_completed", *live.pop(chance.randrange(len(live))))
    assert not live and len(base) == len(step)
    size, base, step = len(base), int.from_bytes(base, "little"), int.from_bytes(step, "little")
    with open(path, "wb") as out:
        out.write(head)
        for _ in range(events // chunk):
            out.write(base.to_bytes(size, "little"))
            base += step
        out.write(b"eeu.")


def path_of(name):
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.pickle"
    if path.exists():
        return path
    events, *how = name.split("-")
    unfinished = path.with_suffix(".part")
    if how == ["tiny"]:
        print("making", path, file=sys.stderr)
        write_tiny(int(events), unfinished)
        unfinished.rename(path)
        return path
    if how == ["chunks"]:
        print("making", path, file=sys.stderr)
        write_chunks(int(events), unfinished)
        unfinished.rename(path)
        return path
    encoding = [word for word in how if word != "real"]
    if encoding:
        source = path_of("-".join(word for word in [events, *how] if word not in encoding))
        word = encoding[0].removeprefix("protocol")
        command = [TOOLS / "reencode.py", source, unfinished, word]
    else:
        command = [TOOLS / "gen_snapshot.py", events, unfinished, *(["--real"] if "real" in how else [])]
    print("making", path, file=sys.stderr)
    subprocess.run([sys.executable, *map(str, command)], check=True, stdout=sys.stderr)
    unfinished.rename(path)
    return path


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        print(path_of(wanted))
