"""Does `memstrata state --json` agree with reference_state.py on all real files?

  python3 tests/golden/state.py PROGRAM FOLDER [FILE...]     FOLDER: ../shared/data/snapshots

Every event of traces up to EVERY events, SAMPLED events of longer ones. Where the reference finds events that
contradict the final state, the engine must have noticed it, too, and its last state must be the dump's.
"""
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import reference
import reference_state

EVERY, SAMPLED, AT_ONCE = 1000, 40, 200


def asked(program, path, index, device, events):
    lines = []
    for i in range(0, len(events), AT_ONCE):
        some = ",".join(map(str, events[i:i + AT_ONCE]))
        run = subprocess.run([program, "state", path, "--snapshot", str(index), "--device", str(device), "--json",
                              f"--event={some}"], capture_output=True, text=True, timeout=300)
        if run.returncode != 0:
            raise SystemExit(f"{path}: exit code {run.returncode}: {run.stdout} {run.stderr}")
        lines += run.stdout.splitlines()
    return [json.loads(line) for line in lines]


def noticed(program, path, index, device):
    """Whether the state says more than reading did: its own findings stand among the others."""
    def findings(*question):
        run = subprocess.run([program, *question], capture_output=True, text=True, timeout=300)
        _, _, after = run.stdout.partition("\n  Noticed")
        return {line for line in after.splitlines()[1:] if line.startswith("    ")}
    state = findings("state", path, "--snapshot", str(index), "--device", str(device), "--event=-1")
    return bool(state - findings("summary", path))


def dump_totals(snapshot, device):
    blocks = [b for s in reference.usable_segments(snapshot) if s.get("device", 0) == device
              for b in reference.blocks_of(s)]
    live = sorted((a, s, r) for a, s, state, r in blocks if state != "inactive")
    return live


def check(program, path, index, snapshot, device):
    traces = snapshot.get("device_traces") or []
    count = len(reference.usable_events(traces[device])) if 0 <= device < len(traces) else 0
    events = list(range(-1, count))
    if count > EVERY:
        events = sorted({-1, 0, count - 1, *random.Random(count).sample(range(count), SAMPLED)})
    name = f"{os.path.basename(path)} device {device}"
    try:
        expected = reference_state.states(snapshot, device, events)
    except reference_state.Irregular as why:
        if not noticed(program, path, index, device):
            return f"{name}: the events contradict the dump ({why}), but nothing was noticed"
        last = asked(program, path, index, device, [count - 1])[0]
        blocks = [b for s in last["segments"] for b in s["blocks"]] + last.get("blocks_without_segment", [])
        live = sorted((int(b["address"], 16), b["size"], b["requested_size"]) for b in blocks
                      if b["state"] != "inactive")
        if live != dump_totals(snapshot, device):
            return f"{name}: the last state is not the dump's"
        print(f"{name}: contradictions noticed ({why}); the last state is the dump's")
        return None
    for want, got in zip(expected, asked(program, path, index, device, events), strict=True):
        if want != got:
            for key in want:
                if want[key] != got.get(key):
                    pairs = list(zip(want[key], got[key])) if key == "segments" else [(want[key], got.get(key))]
                    first = next(((w, g) for w, g in pairs if w != g), pairs[0])
                    return f"{name}, event {want['event']}: {key}\n  expected {first[0]}\n  got      {first[1]}"
    print(f"{name}: {len(events)} states agree")
    return None


def main():
    program, folder, *only = sys.argv[1:]
    if not os.path.isdir(folder):
        print(f"skipped: no real files at {folder}")
        return 77
    failures = []
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".pickle") or (only and file not in only):
            continue
        path = os.path.join(folder, file)
        try:
            with open(path, "rb") as opened:
                snapshots = reference.snapshots_in(reference.load(opened.read()))
        except Exception:  # not a snapshot
            continue
        for index, (_, snapshot) in enumerate(snapshots):
            for device in [d["device"] for d in reference.snapshot_summary("", snapshot)["devices"]]:
                failure = check(program, path, index, snapshot, device)
                if failure:
                    failures.append(failure)
                    print("FAILED", failure)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
