#!/usr/bin/env python3
"""Reduced fleets by the contract ("The reduced file, version 1" in engine/fleet/README.md), without the program that
writes them: for tests of its reader and of the page.

  make.py small       five rows whose every number can be worked out by hand; kept as small.json
  make.py N           N ranks of one run; rank 613 runs out of memory, 127 is an outlier, 42 leaks (of fewer: N*613//1000, ...)
  make.py N --runs 2  the same twice, as two runs
  make.py N --facts   the facts of those ranks instead, a line each, for `gpustrata fleet`
"""
import argparse
import base64
import json

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
BUCKETS = 128
SCALE = 80 * GIB
START_US = 1_760_000_000_000_000

TITLES = {
    "run": ("Run", "text"), "rank": ("Rank", "count"), "host": ("Host", "text"), "device": ("Device", "count"),
    "file": ("File", "text"), "peak_requested": ("Peak", "bytes"), "peak_reserved": ("Peak reserved", "bytes"),
    "end_requested": ("At the end", "bytes"), "start_requested": ("At the start", "bytes"), "held_back": ("Held back", "bytes"),
    "fragmentation": ("Fragmentation", "share"), "ooms": ("Out of memory", "count"), "leaks": ("Leaks", "count"),
    "leak_bytes": ("Leaked", "bytes"), "events": ("Events", "count"), "first_us": ("First event", "us"),
    "last_us": ("Last event", "us"), "format": ("Form", "text"), "damaged": ("Damaged", "count"),
}


def columns(rows):
    return [{"name": name, "title": title, "unit": unit, "values": [row.get(name) for row in rows]}
            for name, (title, unit) in TITLES.items()]


def curve_bytes(curves, scale):
    """A byte is rounded up: 255 = scale, 0 = nothing."""
    return base64.b64encode(bytes(-(-value * 255 // scale) for curve in curves for value in curve)).decode()


def small():
    """Rows 0 to 4. Rank 3 took 12 MiB instead of 4; rank 1 has no times; the last line has no rank."""
    peaks = [None, 4 * MIB, 4 * MIB, 4 * MIB, 12 * MIB]
    ranks = [None, 0, 1, 2, 3]
    rows = [{"run": "a", "rank": rank, "host": "", "device": 0, "file": f"rank{rank}.pickle" if rank is not None else "odd.pickle",
             "peak_requested": peak, "fragmentation": 0.25 if rank == 2 else 0, "damaged": 1 if rank is None else 0,
             "first_us": None if rank == 1 else START_US, "last_us": None if rank == 1 else START_US + 128}
            for rank, peak in zip(ranks, peaks)]
    level = [0, 4 * MIB, 4 * MIB, 4 * MIB, 12 * MIB]
    allocated = [[each * bucket // 127 for bucket in range(BUCKETS)] for each in level]
    return {
        "gpustrata_fleet": 1, "title": "run a",
        "coverage": [{"run": "a", "rows": 5, "ranks": 4, "lowest_rank": 0, "highest_rank": 3, "world_size": 6, "duplicates": 1,
                      "without_rank": 1, "damaged": 1, "without_times": 1, "first_us": START_US, "last_us": START_US + 128,
                      "missing": "4 to 5"}],
        "says": ["Ranks 4 to 5 of run a are missing."],
        "unreadable": [{"file": "empty.facts.json", "message": "The file is empty."}], "unreadable_count": 1,
        "columns": columns(rows),
        "groups": [{"run": "a", "kind": "tp", "name": "0", "rows": 2, "median_peak": 4 * MIB, "least_peak": 4 * MIB,
                    "most_peak": 4 * MIB, "most_row": 1, "ooms": 0, "rows_of": [1, 2]},
                   {"run": "a", "kind": "tp", "name": "1", "rows": 2, "median_peak": 8 * MIB, "least_peak": 4 * MIB,
                    "most_peak": 12 * MIB, "most_row": 4, "ooms": 0, "rows_of": [3, 4]}],
        "curves": {"clock": "each", "from_us": 0, "to_us": 128, "buckets": BUCKETS, "scale": 12 * MIB,
                   "allocated": curve_bytes(allocated, 12 * MIB), "reserved": curve_bytes([[each] * BUCKETS for each in level], 12 * MIB)},
        "findings": [{"kind": "outlier", "title": "Rank 3 peaks at 12.0 MiB, its peers at 4.0 MiB",
                      "text": "Its peak is 8 MiB above the median of 4 rows.", "rows": [4],
                      "stacks": [{"stack": "0123456789abcdef0123456789abcdef", "who": "model.py:7 forward", "value": 9 * MIB, "median": 0.5 * MIB}],
                      "bad": True},
                     {"kind": "coverage", "title": "2 ranks of 6 are missing", "text": "Ranks 4 to 5 left no facts.", "rows": [],
                      "stacks": [], "bad": False}],
        "stacks": [{"run": "a", "stack": "0123456789abcdef0123456789abcdef", "who": "model.py:7 forward", "rows": 4, "total": 9 * MIB,
                    "share": 0.375, "median": 0.5 * MIB, "most": 9 * MIB, "most_row": 4}],
    }


def noise(rank, what, of):
    """The same every time, no two ranks alike."""
    return (rank * 2654435761 + what * 40503) % 4294967296 % of


def planted(count):
    return {name: at if count >= 1000 else count * at // 1000 for name, at in (("oom", 613), ("outlier", 127), ("leak", 42))}


def row_of(run, rank, count, plants):
    steps = 8
    base = 18 * GIB + noise(rank, 1, 64) * MIB
    peak = 60 * GIB + noise(rank, 2, 256) * MIB
    row = {"run": run, "rank": rank, "host": f"node{rank // 8:04}", "device": rank % 8, "file": f"rank{rank}.pickle",
           "start_requested": 0, "end_requested": base, "held_back": noise(rank, 3, 900) * MIB,
           "fragmentation": noise(rank, 4, 30) / 1000, "ooms": 0, "leaks": 0, "leak_bytes": 0, "events": 90_000 + noise(rank, 5, 20_000),
           "first_us": START_US + noise(rank, 6, 40_000), "format": "pickle", "damaged": 0}
    row["last_us"] = START_US + 60_000_000 - noise(rank, 7, 40_000)
    leak = 0
    if rank == plants["outlier"]:
        peak = 72 * GIB
    if rank == plants["leak"]:
        leak = GIB
        row |= {"leaks": 1, "leak_bytes": steps * leak, "end_requested": base + steps * leak}
        peak += steps * leak
    if rank == plants["oom"]:
        peak = 79 * GIB
        row |= {"ooms": 1, "fragmentation": 0.21, "held_back": 9 * GIB, "last_us": START_US + 40_000_000}
    row |= {"peak_requested": peak, "peak_reserved": peak + row["held_back"]}
    per_step = BUCKETS // steps
    ends = BUCKETS * 2 // 3 if rank == plants["oom"] else BUCKETS
    curve = []
    for bucket in range(BUCKETS):
        within = bucket % per_step
        triangle = min(within, per_step - within) * 2 / per_step
        low = base + leak * (bucket // per_step)
        top = peak - leak * (steps - 1 - bucket // per_step)
        level = low + int((top - low) * triangle)
        curve.append(min(level, SCALE) if bucket < ends else 0)
    reserved = [min(SCALE, row["peak_reserved"]) if bucket < ends else 0 for bucket in range(BUCKETS)]
    return row, curve, reserved


def large(count, runs):
    names = [""] if runs == 1 else [f"run{number}" for number in range(runs)]
    plants = planted(count)
    facts = [row_of(run, rank, count, plants) for run in names for rank in range(count)]
    rows = [row for row, _, _ in facts]
    last = (runs - 1) * count
    who = {"oom": "attention.py:118 forward", "leak": "metrics.py:31 log_loss", "outlier": "embedding.py:52 forward"}
    stack = {name: f"{number:032x}" for number, name in enumerate(who, 1)}
    rank = plants
    findings = [
        {"kind": "oom", "title": f"Rank {rank['oom']} ran out of memory first, at 40.0 s",
         "text": "It asked for 2.0 GiB when 512.0 MiB were left on the device. Its peak, 79.0 GiB, is 18.9 GiB above the median of the others.",
         "rows": [last + rank["oom"]], "stacks": [{"stack": stack["oom"], "who": who["oom"], "value": 31 * GIB, "median": 12 * GIB}], "bad": True},
        {"kind": "outlier", "title": f"Rank {rank['outlier']} peaks at 72.0 GiB, its peers at 60.1 GiB",
         "text": f"Of {count} rows it is far from the median (score 19.7).", "rows": [last + rank["outlier"]],
         "stacks": [{"stack": stack["outlier"], "who": who["outlier"], "value": 14 * GIB, "median": 2 * GIB}], "bad": True},
        {"kind": "leak", "title": f"Rank {rank['leak']} keeps 1.0 GiB more in every step",
         "text": f"Only 1 of {count} ranks leaks there: what it keeps is 8.0 GiB at the end.", "rows": [last + rank["leak"]],
         "stacks": [{"stack": stack["leak"], "who": who["leak"], "value": 8 * GIB, "median": 0}], "bad": True},
        {"kind": "coverage", "title": "All ranks are there", "text": f"Ranks 0 to {count - 1} of {count}.", "rows": [], "stacks": [], "bad": False},
    ]
    groups = []
    for run_number, run in enumerate(names):
        for kind, of in (("pp", lambda r: r * 4 // count), ("tp", lambda r: r % 8)):
            for name in range(4 if kind == "pp" else 8):
                members = [run_number * count + r for r in range(count) if of(r) == name]
                if not members:
                    continue
                peaks = sorted(rows[m]["peak_requested"] for m in members)
                middle = len(peaks) // 2
                median = peaks[middle] if len(peaks) % 2 else (peaks[middle - 1] + peaks[middle]) / 2
                groups.append({"run": run, "kind": kind, "name": str(name), "rows": len(members), "median_peak": median,
                               "least_peak": peaks[0], "most_peak": peaks[-1],
                               "most_row": max(members, key=lambda m: rows[m]["peak_requested"]),
                               "ooms": sum(rows[m]["ooms"] for m in members), "rows_of": members})
    total = sum(row["peak_requested"] for row in rows)
    shares = [{"run": names[-1], "stack": f"{number + 16:032x}", "who": f"layer_{number}.py:{10 + number} forward", "rows": count,
               "total": total // (3 + number), "share": 1 / (3 + number), "median": 20 * GIB // (1 + number), "most": 24 * GIB // (1 + number),
               "most_row": last + number * 7 % count} for number in range(30)]
    return {
        "gpustrata_fleet": 1, "title": f"{count} ranks",
        "coverage": [{"run": run, "rows": count, "ranks": count, "lowest_rank": 0, "highest_rank": count - 1, "world_size": count, "duplicates": 0,
                      "without_rank": 0, "damaged": 0, "without_times": 0, "first_us": START_US, "last_us": START_US + 60_000_000,
                      "missing": ""} for run in names],
        "says": [], "unreadable": [], "unreadable_count": 0, "columns": columns(rows), "groups": groups,
        "curves": {"clock": "common", "from_us": START_US, "to_us": START_US + 60_000_000, "buckets": BUCKETS, "scale": SCALE,
                   "allocated": curve_bytes([curve for _, curve, _ in facts], SCALE),
                   "reserved": curve_bytes([reserved for _, _, reserved in facts], SCALE)},
        "findings": findings, "stacks": shares,
    }


def facts_of(run, rank, count, plants):
    """The line of a rank ("Facts, version 1")."""
    row, curve, reserved = row_of(run, rank, count, plants)
    stacks = {name: f"{number:032x}" for number, name in enumerate(("model", "oom", "outlier", "leak"), 1)}
    who = {"model": "model.py:10 forward", "oom": "attention.py:118 forward", "outlier": "embedding.py:52 forward",
           "leak": "metrics.py:31 log_loss"}
    special = {name: at for name, at in plants.items() if at == rank}
    more = {name: row["peak_requested"] - 60 * GIB for name in special}
    peaks = {"model": row["peak_requested"] - sum(more.values())} | more
    times = {"from_us": START_US, "to_us": START_US + 60_000_000}
    if "oom" in special:
        row |= {"oom_event": 50_000, "oom_us": START_US + 40_000_000, "oom_requested": 2 * GIB, "oom_device_free": 512 * MIB,
                "oom_stack": stacks["oom"]}
    leaks = [{"stack": stacks["leak"], "bytes_per_step": GIB, "live_bytes": row["leak_bytes"], "steps": 8}] if "leak" in special else []
    return {"gpustrata_facts": 1} | row | {
        "world_size": count, "snapshot": "", "input_bytes": 10 * MIB, "diagnostics": 0, "damaged": False,
        "peak_event": 40_000, "peak_us": START_US + 30_000_000, "end_reserved": row["peak_reserved"],
        "end_allocated": row["end_requested"], "cached": row["held_back"], "step_count": 8,
        "peak_stacks": [{"stack": stacks[name], "requested": value, "blocks": 10} for name, value in peaks.items()],
        "leak_stacks": leaks,
        "steps": [{"step": step, "first_us": START_US + step * 7_500_000,
                   "peak_requested": row["peak_requested"] - (GIB * (7 - step) if leaks else 0),
                   "end_requested": row["start_requested"]} for step in range(8)],
        "curve": times | {"allocated": [value for value in curve for _ in range(2)], "reserved": [value for value in reserved for _ in range(2)]},
        "stacks": [{"stack": stacks[name], "who": who[name], "category": None,
                    "frames": [{"filename": who[name].split(":")[0], "line": 1, "name": "forward"}]} for name in peaks],
    }


def whole(value):
    """Numbers that are whole are written without a point."""
    if isinstance(value, dict):
        return {key: whole(each) for key, each in value.items()}
    if isinstance(value, list):
        return [whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--facts", action="store_true")
    arguments = parser.parse_args()
    if arguments.facts:
        for rank in range(int(arguments.what)):
            print(json.dumps(facts_of("", rank, int(arguments.what), planted(int(arguments.what))), separators=(",", ":")))
        raise SystemExit
    fleet = small() if arguments.what == "small" else large(int(arguments.what), arguments.runs)
    print(json.dumps(whole(fleet), separators=(",", ":")))
